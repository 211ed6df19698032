// From text to syntax tree. Both functions accept the whole grammar of Python 3.12 and throw CompileError of kind
// Syntax for anything else, with the place, what was found and what was expected. They never crash, hang or exhaust the
// stack, whatever the text; too deep a nesting is an error of its own.
#pragma once

#include "compiler/frontend/AST.h"

namespace nacre {

// A whole .py file.
ast::Module parseModule(std::shared_ptr<const SourceText> source);

// The text of one function, with its decorators; the text may be indented as it was in its file. The module's body
// is that one definition, and anything else in the text is an error.
ast::Module parseFunction(std::shared_ptr<const SourceText> source);

} // namespace nacre
