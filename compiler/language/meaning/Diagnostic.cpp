// How an error looks: the place, the message, the user's own line, and a caret under the part that is meant.
#include "compiler/language/meaning/Diagnostic.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Unicode.h"
#include <algorithm>

namespace nacre {

std::string SourceText::line(int line) const {
  llvm::StringRef rest = text;
  for (int current = firstLine;; ++current) {
    if (rest.empty() || current > line)
      return "";
    size_t length = std::min(rest.find_first_of("\r\n"), rest.size());
    if (current == line) {
      llvm::StringRef found = rest.take_front(length);
      return found.empty() ? "" : std::string(firstColumn, ' ') + found.str();
    }
    rest = rest.drop_front(length);
    if (!rest.consume_front("\r\n"))
      rest = rest.drop_front(rest.empty() ? 0 : 1);
  }
}

namespace {

// A line longer than this is cut on both sides of the caret.
constexpr int longestShownLine = 160;

struct Character {
  llvm::StringRef text;
  int width; // columns on a terminal
};

std::vector<Character> splitCharacters(llvm::StringRef line) {
  std::vector<Character> characters;
  while (!line.empty()) {
    size_t length = 1;
    while (length < line.size() && length < 4 && (line[length] & 0xC0) == 0x80)
      ++length;
    llvm::StringRef text = line.take_front(length);
    line = line.drop_front(length);
    int width = llvm::sys::unicode::columnWidthUTF8(text);
    if (width < 0 && text != "\t")
      text = "?"; // a control character, or not UTF-8: it must not reach the terminal
    characters.push_back({text, width < 0 ? 1 : width});
  }
  return characters;
}

// The line of `location`, and a line that underlines the characters from its column to its end.
void renderLine(std::string &out, const SourceLocation &location, bool withCaret) {
  std::string line = location.source->line(location.line);
  std::vector<Character> characters = splitCharacters(llvm::StringRef(line).rtrim());
  if (characters.empty())
    return;
  int size = static_cast<int>(characters.size());
  int start = std::clamp(location.column, 0, size);
  int end = location.endLine > location.line ? size : std::clamp(location.endColumn, start, size);
  int first = 0, last = size;
  if (size > longestShownLine) {
    first = std::clamp(start - longestShownLine / 2, 0, size - longestShownLine);
    last = first + longestShownLine;
  }

  std::string caret;
  if (first > 0) {
    out += "...";
    caret += "   ";
  }
  for (int i = first; i < last; ++i) {
    out += characters[i].text;
    if (i < start)
      caret += characters[i].text == "\t" ? "\t" : std::string(characters[i].width, ' ');
    else if (i > start && i < end)
      caret += std::string(characters[i].width, '~');
    else if (i == start)
      caret += "^" + std::string(i < end ? std::max(characters[i].width - 1, 0) : 0, '~');
  }
  if (start == last)
    caret += "^";
  if (last < size)
    out += "...";
  out += "\n";
  if (withCaret)
    out += caret + "\n";
}

} // namespace

std::string Diagnostic::render() const {
  std::string out;
  if (location.source) {
    out += location.source->fileName + ":";
    if (location.line > 0)
      out += std::to_string(location.line) + ":" + std::to_string(location.column + 1) + ":";
    out += " ";
  }
  out += "error: " + message + "\n";
  if (location.source && location.line > 0)
    renderLine(out, location, /*withCaret=*/true);
  if (!hint.empty())
    out += "hint: " + hint + "\n";
  for (const SourceLocation &call : calls) {
    if (!call.source)
      continue;
    out += "called from " + call.source->fileName + ":" + std::to_string(call.line) + "\n";
    renderLine(out, call, /*withCaret=*/false);
  }
  return out;
}

} // namespace nacre
