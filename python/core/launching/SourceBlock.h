// Finds the text of one function in the text of its file, without Python's tokenizer.
#pragma once

#include <string>
#include <string_view>

namespace nacre::python {

struct SourceBlock {
  std::string text;    // from `def` on, dedented, decorators left out, with a newline at the end
  int firstLine = 0;   // 1-based, of the line with `def`
  int firstColumn = 0; // columns taken away from each line
};

// `line` is where the function begins for Python: the line of its first decorator, or of `def`. Throws
// std::invalid_argument when there is no definition.
SourceBlock findFunctionBlock(std::string_view file, int line);

} // namespace nacre::python
