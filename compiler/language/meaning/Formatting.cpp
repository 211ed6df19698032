// Texts made from constexprs: "%d" % x and the format specifications of f-strings, as Python writes them.
#include "compiler/language/meaning/ConstexprOperators.h"
#include "compiler/language/meaning/Scalars.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

namespace nacre {

namespace {

// One conversion's settings, shared by both notations.
struct Conversion {
  char fill = ' ';
  char align = 0; // '<', '>', '^', '='; 0: by kind
  char sign = '-';
  bool alternate = false;
  bool commas = false;
  int width = 0;
  int precision = -1;
  char type = 0;
};

std::string withCommas(std::string digits) {
  for (int position = static_cast<int>(digits.size()) - 3; position > 0; position -= 3)
    digits.insert(static_cast<size_t>(position), ",");
  return digits;
}

// Sign, digits and padding put together.
std::string assemble(const Conversion &conversion, bool isNegative, std::string prefix, std::string body,
                     bool isNumber) {
  std::string sign = isNegative ? "-" : conversion.sign == '+' ? "+" : conversion.sign == ' ' ? " " : "";
  if (!isNumber)
    sign.clear();
  std::string head = sign + prefix;
  size_t length = head.size() + body.size();
  size_t padding = static_cast<size_t>(conversion.width) > length ? static_cast<size_t>(conversion.width) - length : 0;
  switch (conversion.align ? conversion.align : isNumber ? '>' : '<') {
  case '<':
    return head + body + std::string(padding, conversion.fill);
  case '^':
    return std::string(padding / 2, conversion.fill) + head + body +
           std::string(padding - padding / 2, conversion.fill);
  case '=':
    return head + std::string(padding, conversion.fill) + body;
  default:
    return std::string(padding, conversion.fill) + head + body;
  }
}

std::string formatInteger(const Conversion &conversion, const Integer &value) {
  unsigned radix = conversion.type == 'x' || conversion.type == 'X' ? 16
                   : conversion.type == 'o'                         ? 8
                   : conversion.type == 'b'                         ? 2
                                                                    : 10;
  std::string digits = integerText(value < 0 ? -value : value, radix);
  if (conversion.type == 'X')
    digits = llvm::StringRef(digits).upper();
  if (conversion.precision > static_cast<int>(digits.size()))
    digits.insert(0, static_cast<size_t>(conversion.precision) - digits.size(), '0');
  if (conversion.commas && radix == 10)
    digits = withCommas(std::move(digits));
  std::string prefix;
  if (conversion.alternate && radix != 10)
    prefix = {'0', conversion.type};
  return assemble(conversion, value < 0, prefix, digits, /*isNumber=*/true);
}

std::string formatFloat(const Conversion &conversion, double value) {
  bool isNegative = std::signbit(value) && !std::isnan(value);
  double magnitude = std::fabs(value);
  std::string body;
  bool isPercentage = conversion.type == '%';
  if (!conversion.type && conversion.precision < 0) {
    body = floatText(magnitude);
  } else {
    char type = isPercentage ? 'f' : conversion.type ? conversion.type : 'g';
    int precision = conversion.precision < 0 ? 6 : conversion.precision;
    std::string format = std::string("%") + (conversion.alternate ? "#" : "") + ".*" + type;
    double shown = isPercentage ? magnitude * 100 : magnitude;
    int length = snprintf(nullptr, 0, format.c_str(), precision, shown);
    body.resize(static_cast<size_t>(length) + 1);
    snprintf(body.data(), body.size(), format.c_str(), precision, shown);
    body.pop_back(); // the terminating zero
    if (std::isnan(value))
      body = std::isupper(static_cast<unsigned char>(type)) ? "NAN" : "nan";
  }
  if (conversion.commas) {
    size_t point = std::min(body.find_first_of(".e"), body.size());
    body = withCommas(body.substr(0, point)) + body.substr(point);
  }
  if (isPercentage)
    body += "%";
  return assemble(conversion, isNegative, "", body, /*isNumber=*/true);
}

std::string formatText(const Conversion &conversion, std::string text) {
  if (conversion.precision >= 0 && static_cast<size_t>(conversion.precision) < text.size())
    text.resize(static_cast<size_t>(conversion.precision));
  return assemble(conversion, false, "", std::move(text), /*isNumber=*/false);
}

Integer integerOperand(const Object &object) {
  return object.isBool() ? Integer(object.as<bool>()) : object.as<Integer>();
}

std::string formatNumber(Evaluation &evaluation, const Conversion &conversion, const Object &object) {
  bool wantsFloat = conversion.type && llvm::StringRef("eEfFgG%").contains(conversion.type);
  if (!object.isFloat() && !wantsFloat)
    return formatInteger(conversion, integerOperand(object));
  if (object.isFloat())
    return formatFloat(conversion, object.as<double>());
  std::optional<double> value = toDouble(integerOperand(object));
  if (!value)
    evaluation.fail(Diagnostic::Kind::Value, "the integer " + object.repr() + " is too large to be a float");
  return formatFloat(conversion, *value);
}

// A width or a precision; -1 when there is none.
int takeNumber(Evaluation &evaluation, llvm::StringRef &text) {
  llvm::StringRef digits = text.take_while(llvm::isDigit);
  text = text.drop_front(digits.size());
  if (digits.empty())
    return -1;
  uint64_t number = 0;
  if (digits.getAsInteger(10, number))
    number = UINT64_MAX;
  checkLength(evaluation, number);
  return static_cast<int>(number);
}

} // namespace

std::string formatPercent(Evaluation &evaluation, llvm::StringRef format, const Object &arguments) {
  bool isTuple = arguments.isTuple();
  size_t available = isTuple ? arguments.tuple().items.size() : 1, used = 0;
  auto next = [&]() -> const Object & {
    if (used == available)
      evaluation.fail(Diagnostic::Kind::Value, "not enough arguments for the format " + Object(format.str()).repr());
    size_t index = used++;
    return isTuple ? arguments.tuple().items[index] : arguments;
  };
  std::string result;
  llvm::StringRef rest = format;
  while (!rest.empty()) {
    auto [before, after] = rest.split('%');
    result += before;
    if (before.size() == rest.size())
      break;
    rest = after;
    Conversion conversion;
    for (; !rest.empty() && llvm::StringRef("#0- +").contains(rest.front()); rest = rest.drop_front()) {
      switch (rest.front()) {
      case '#':
        conversion.alternate = true;
        break;
      case '-':
        conversion.align = '<';
        break;
      case '0':
        if (!conversion.align) {
          conversion.align = '=';
          conversion.fill = '0';
        }
        break;
      default:
        conversion.sign = rest.front();
      }
    }
    if (conversion.align == '<')
      conversion.fill = ' ';
    if (int width = takeNumber(evaluation, rest); width >= 0)
      conversion.width = width;
    if (rest.consume_front("."))
      conversion.precision = std::max(0, takeNumber(evaluation, rest));
    if (rest.empty())
      evaluation.fail(Diagnostic::Kind::Value,
                      "the format " + Object(format.str()).repr() + " ends within a conversion");
    char type = rest.front();
    rest = rest.drop_front();
    if (type == '%') {
      result += '%';
      continue;
    }
    if (!llvm::StringRef("diuxXofFeEgGsrc").contains(type))
      evaluation.fail(Diagnostic::Kind::Value,
                      std::string("unknown conversion %") + type + " in the format " + Object(format.str()).repr());
    const Object &object = next();
    if (llvm::StringRef("src").contains(type)) {
      if (!conversion.align || conversion.align == '=')
        conversion.align = '>';
      conversion.fill = ' ';
      result += formatText(conversion, type == 'r' ? object.repr() : displayText(object));
      continue;
    }
    if (!object.isNumber())
      evaluation.fail(Diagnostic::Kind::Type, std::string("%") + type + " needs a number, not " + describe(object));
    conversion.type = type == 'i' || type == 'u' ? 'd' : type;
    bool isInteger = llvm::StringRef("dxXo").contains(conversion.type);
    if (isInteger && object.isFloat()) {
      std::optional<Integer> whole = truncateToInteger(object.as<double>());
      if (!whole)
        evaluation.fail(Diagnostic::Kind::Value, "cannot convert " + object.repr() + " to an integer");
      result += formatInteger(conversion, *whole);
    } else {
      result += formatNumber(evaluation, conversion, object);
    }
  }
  if (isTuple && used < available)
    evaluation.fail(Diagnostic::Kind::Value, "too many arguments for the format " + Object(format.str()).repr());
  return result;
}

std::string formatSpecified(Evaluation &evaluation, const Object &object, llvm::StringRef specification) {
  if (specification.empty())
    return displayText(object);
  llvm::StringRef rest = specification;
  auto isAlign = [](char c) { return llvm::StringRef("<>^=").contains(c); };
  Conversion conversion;
  if (rest.size() > 1 && isAlign(rest[1])) {
    conversion.fill = rest[0];
    conversion.align = rest[1];
    rest = rest.drop_front(2);
  } else if (isAlign(rest[0])) {
    conversion.align = rest[0];
    rest = rest.drop_front();
  }
  if (!rest.empty() && llvm::StringRef("+- ").contains(rest.front())) {
    conversion.sign = rest.front();
    rest = rest.drop_front();
  }
  conversion.alternate = rest.consume_front("#");
  if (rest.starts_with("0") && !conversion.align) {
    conversion.align = '=';
    conversion.fill = '0';
  }
  if (int width = takeNumber(evaluation, rest); width >= 0)
    conversion.width = width;
  conversion.commas = rest.consume_front(",");
  if (rest.consume_front("."))
    conversion.precision = takeNumber(evaluation, rest);
  if (!rest.empty()) {
    conversion.type = rest.front();
    rest = rest.drop_front();
  }
  bool isNumber = object.isNumber() && !(object.isBool() && !conversion.type);
  llvm::StringRef allowed = object.isFloat() ? "eEfFgG%" : isNumber ? "bdoxXeEfFgG%n" : "s";
  if (!rest.empty() || (conversion.type && !allowed.contains(conversion.type)))
    evaluation.fail(Diagnostic::Kind::Value, "the format specification " + Object(specification.str()).repr() +
                                                 " does not suit " + describe(object));
  return isNumber ? formatNumber(evaluation, conversion, object) : formatText(conversion, displayText(object));
}

} // namespace nacre
