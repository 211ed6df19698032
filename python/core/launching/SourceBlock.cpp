// A scan by logical lines: strings, comments, brackets and continuations are recognized just enough to tell where a
// line ends and how far it is indented.
#include "python/core/launching/SourceBlock.h"
#include <algorithm>
#include <stdexcept>
#include <vector>

namespace nacre::python {

namespace {

// The end of the string literal whose opening quote is at `at`; an unfinished one ends with the text or the line.
size_t skipString(std::string_view text, size_t at) {
  char quote = text[at];
  bool triple = text.substr(at, 3) == std::string(3, quote);
  at += triple ? 3 : 1;
  while (at < text.size()) {
    if (text[at] == '\\')
      at += 2;
    else if (!triple && text[at] == '\n')
      return at;
    else if (text[at] == quote && (!triple || text.substr(at, 3) == std::string(3, quote)))
      return at + (triple ? 3 : 1);
    else
      ++at;
  }
  return text.size();
}

// The end of the logical line that starts at `at`: just past its newline.
size_t skipLogicalLine(std::string_view text, size_t at) {
  int depth = 0;
  while (at < text.size()) {
    char c = text[at];
    if (c == '\'' || c == '"') {
      at = skipString(text, at);
      continue;
    }
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    if (c == '\\' && at + 1 < text.size()) {
      at += text[at + 1] == '\r' ? 3 : 2;
      continue;
    }
    if (c == '(' || c == '[' || c == '{')
      ++depth;
    if (c == ')' || c == ']' || c == '}')
      depth = std::max(0, depth - 1);
    ++at;
    if (c == '\n' && depth == 0)
      return at;
  }
  return at;
}

size_t startOfLine(std::string_view text, int line) {
  size_t at = 0;
  for (int current = 1; current < line; ++current) {
    at = text.find('\n', at);
    if (at == std::string_view::npos)
      throw std::invalid_argument("the source file is shorter than the function's line");
    ++at;
  }
  return at;
}

size_t indentation(std::string_view line) { return std::min(line.find_first_not_of(" \t\f"), line.size()); }

bool isBlankOrComment(std::string_view line) {
  size_t first = line.find_first_not_of(" \t\f\r");
  return first == std::string_view::npos || line[first] == '\n' || line[first] == '#';
}

} // namespace

SourceBlock findFunctionBlock(std::string_view file, int line) {
  size_t at = startOfLine(file, line);
  SourceBlock block;
  block.firstLine = line;
  // Decorators, blank lines and comments before `def`.
  while (true) {
    if (at >= file.size())
      throw std::invalid_argument("there is no function at this line of the source file");
    size_t end = skipLogicalLine(file, at);
    std::string_view logical = file.substr(at, end - at);
    std::string_view content = logical.substr(indentation(logical));
    if (content.starts_with("def ") || content.starts_with("def\t") || content.starts_with("async "))
      break;
    if (!isBlankOrComment(logical) && !content.starts_with('@'))
      throw std::invalid_argument("there is no function at this line of the source file");
    block.firstLine += static_cast<int>(std::count(logical.begin(), logical.end(), '\n'));
    at = end;
  }
  size_t begin = at;
  size_t indent = indentation(file.substr(at));
  size_t end = skipLogicalLine(file, at); // of the last logical line that belongs to it
  for (size_t next = end; next < file.size();) {
    size_t lineEnd = std::min(file.find('\n', next), file.size() - 1) + 1;
    if (isBlankOrComment(file.substr(next, lineEnd - next))) {
      next = lineEnd;
      continue;
    }
    if (indentation(file.substr(next)) <= indent)
      break;
    next = end = skipLogicalLine(file, next);
  }

  block.firstColumn = static_cast<int>(indent);
  for (size_t from = begin; from < end;) {
    size_t lineEnd = std::min(file.find('\n', from), end - 1) + 1;
    std::string_view physical = file.substr(from, lineEnd - from);
    // Lines inside brackets or strings may be indented less than the function.
    physical.remove_prefix(std::min(indentation(physical), indent));
    block.text += physical;
    from = lineEnd;
  }
  if (block.text.empty() || block.text.back() != '\n')
    block.text += '\n';
  return block;
}

} // namespace nacre::python
