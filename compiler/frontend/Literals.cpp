#include "compiler/frontend/Literals.h"
#include "compiler/frontend/Characters.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/Unicode.h"

namespace nacre {

namespace {

std::string withoutUnderscores(llvm::StringRef text) {
  std::string digits = text.str();
  std::erase(digits, '_');
  return digits;
}

} // namespace

llvm::DynamicAPInt integerValue(llvm::StringRef text) {
  unsigned radix = 10;
  if (text.size() > 2 && text[0] == '0' && llvm::isAlpha(text[1])) {
    char base = llvm::toLower(text[1]);
    radix = base == 'x' ? 16 : base == 'o' ? 8 : 2;
    text = text.drop_front(2);
  }
  std::string digits = withoutUnderscores(text);
  // Four bits hold a digit of any of these bases, and one more keeps the number positive.
  llvm::APInt value(static_cast<unsigned>(digits.size() * 4 + 1), digits, radix);
  return llvm::DynamicAPInt(value.trunc(std::max(value.getActiveBits() + 1, 2u)));
}

double floatValue(llvm::StringRef text) {
  llvm::APFloat value(llvm::APFloat::IEEEdouble());
  llvm::Expected<llvm::APFloat::opStatus> status =
      value.convertFromString(withoutUnderscores(text), llvm::APFloat::rmNearestTiesToEven);
  llvm::cantFail(status.takeError()); // the lexer lets no other form through
  return value.convertToDouble();
}

StringForm prefixForm(llvm::StringRef prefixAndQuotes) {
  std::string prefix =
      prefixAndQuotes.take_until([](char character) { return character == '\'' || character == '"'; }).lower();
  StringForm form;
  form.isRaw = llvm::StringRef(prefix).contains('r');
  form.isBytes = llvm::StringRef(prefix).contains('b');
  form.isFormatted = llvm::StringRef(prefix).contains('f');
  return form;
}

StringParts splitString(llvm::StringRef token) {
  StringParts parts;
  parts.form = prefixForm(token);
  llvm::StringRef quoted = token.drop_until([](char character) { return character == '\'' || character == '"'; });
  size_t quotes = quoted.size() >= 6 && quoted[1] == quoted[0] && quoted[2] == quoted[0] ? 3 : 1;
  parts.body = quoted.drop_front(quotes).drop_back(quotes);
  return parts;
}

namespace {

// Decodes one body, left to right.
class StringDecoder {
public:
  StringDecoder(llvm::StringRef body, const StringForm &form,
                llvm::function_ref<void(size_t, size_t, const std::string &)> fail)
      : body(body), form(form), fail(fail) {}

  std::string decode() {
    while (offset < body.size()) {
      char character = body[offset];
      if (character == '\\' && !form.isRaw)
        decodeEscape();
      else if (character == '\r') // every end of line reads as a newline
        decodeNewline();
      else
        decodePlain(character);
    }
    return std::move(out);
  }

private:
  void decodeNewline() {
    out += '\n';
    offset += body.substr(offset).starts_with("\r\n") ? 2 : 1;
  }

  void decodePlain(char character) {
    if (form.isBytes && static_cast<unsigned char>(character) >= 0x80)
      fail(offset, decodeCharacter(body.substr(offset)).length, "a bytes literal can only hold ASCII characters");
    out += character;
    bool isDoubled = form.isFormatted && !form.isFormat && (character == '{' || character == '}');
    offset += isDoubled ? 2 : 1;
  }

  void decodeEscape() {
    size_t start = offset++;
    char kind = offset < body.size() ? body[offset] : '\0';
    switch (kind) {
    case '\n':
      ++offset;
      return;
    case '\r':
      offset += body.substr(offset).starts_with("\r\n") ? 2 : 1;
      return;
    case '\\':
    case '\'':
    case '"':
      return simple(kind);
    case 'a':
      return simple('\a');
    case 'b':
      return simple('\b');
    case 'f':
      return simple('\f');
    case 'n':
      return simple('\n');
    case 'r':
      return simple('\r');
    case 't':
      return simple('\t');
    case 'v':
      return simple('\v');
    case 'x':
      return hexadecimal(start, 2);
    case 'u':
      if (!form.isBytes)
        return hexadecimal(start, 4);
      break;
    case 'U':
      if (!form.isBytes)
        return hexadecimal(start, 8);
      break;
    case 'N':
      if (!form.isBytes)
        return named(start);
      break;
    }
    if (kind >= '0' && kind <= '7')
      return octal();
    out += '\\'; // not an escape: the backslash stands for itself
  }

  void simple(char character) {
    out += character;
    ++offset;
  }

  void octal() {
    unsigned value = 0;
    for (int digits = 0; digits < 3 && offset < body.size() && body[offset] >= '0' && body[offset] <= '7'; ++digits)
      value = value * 8 + (body[offset++] - '0');
    append(value);
  }

  void hexadecimal(size_t start, size_t digits) {
    llvm::StringRef text =
        body.substr(offset + 1, digits).take_while([](char digit) { return llvm::isHexDigit(digit); });
    offset += 1 + text.size();
    if (text.size() < digits)
      fail(start, offset - start,
           "'\\" + std::string(1, body[start + 1]) + "' needs " + std::to_string(digits) + " hexadecimal digits");
    unsigned value = 0;
    text.getAsInteger(16, value);
    if (value > 0x10FFFF)
      fail(start, offset - start, "there is no character with this number: the last is \\U0010ffff");
    append(value);
  }

  void named(size_t start) {
    llvm::StringRef rest = body.substr(offset + 1);
    size_t close = rest.find('}');
    if (!rest.starts_with("{") || close == llvm::StringRef::npos)
      fail(start, 2, "'\\N' needs the name of a character in braces");
    llvm::StringRef name = rest.slice(1, close);
    std::optional<char32_t> character = llvm::sys::unicode::nameToCodepointStrict(name.upper());
    offset += 1 + close + 1;
    if (!character)
      fail(start, offset - start, "there is no character named '" + name.str() + "'");
    append(*character);
  }

  void append(char32_t value) {
    if (form.isBytes)
      out += static_cast<char>(value & 0xFF);
    else
      encodeCharacter(value, out);
  }

  llvm::StringRef body;
  const StringForm &form;
  llvm::function_ref<void(size_t, size_t, const std::string &)> fail;
  size_t offset = 0;
  std::string out;
};

} // namespace

std::string decodeString(llvm::StringRef body, const StringForm &form,
                         llvm::function_ref<void(size_t offset, size_t length, const std::string &message)> fail) {
  return StringDecoder(body, form, fail).decode();
}

} // namespace nacre
