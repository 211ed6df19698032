// Errors are data: where, what was expected, what was found, and a hint. Every stage above MLIR throws CompileError; the
// runtime carries the same fields to Python and C++.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace nacre {

// The text a kernel was written in. Lines are those of the user's file: `firstLine` is the line number, in that file, of
// the first line of `text` (Python hands over one function's source, not the whole file).
struct SourceText {
  std::string fileName;
  std::string text;
  int firstLine = 1;
  int firstColumn = 0; // columns removed from each line when the function was dedented

  // The text of line `line` (as numbered in the user's file), without its newline; empty when out of range.
  std::string line(int line) const;
};

struct SourceLocation {
  std::shared_ptr<const SourceText> source; // null: unknown
  int line = 0;                             // 1-based, in the user's file
  int column = 0;                           // 0-based
  int endLine = 0;
  int endColumn = 0;
};

struct Diagnostic {
  enum class Kind { Syntax, Unsupported, Name, Type, Value, StaticAssert, Argument, Internal };
  Kind kind = Kind::Type;
  SourceLocation location;
  std::string message;               // one sentence: what is wrong, with what was found
  std::string hint;                  // what to do; may be empty
  std::vector<SourceLocation> calls; // call sites, innermost first, when the error is inside a helper

  // "file.py:12:8: error: ..." then the source line, a caret line, the hint, and "called from" lines.
  std::string render() const;
};

// Thrown by the front end, the semantics and the eager evaluator. Never crosses an LLVM or MLIR frame.
class CompileError : public std::exception {
public:
  explicit CompileError(Diagnostic diagnostic) : diagnostic(std::move(diagnostic)), text(this->diagnostic.render()) {}
  const char *what() const noexcept override { return text.c_str(); }
  Diagnostic diagnostic;

private:
  std::string text;
};

} // namespace nacre
