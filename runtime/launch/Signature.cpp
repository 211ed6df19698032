#include "runtime/launch/Signature.h"
#include "runtime/launch/Specialization.h"
#include "llvm/ADT/STLExtras.h"

namespace nacre {

namespace {

// The entries between commas that are in no parentheses, brackets or quotes.
std::vector<llvm::StringRef> split(llvm::StringRef text) {
  std::vector<llvm::StringRef> entries;
  size_t start = 0;
  int depth = 0;
  char quote = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    char c = i < text.size() ? text[i] : ',';
    if (quote && i < text.size()) {
      quote = c == quote ? 0 : quote;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == ',' && (depth == 0 || i == text.size())) {
      if (llvm::StringRef entry = text.slice(start, i).trim(); !entry.empty())
        entries.push_back(entry);
      start = i + 1;
    } else {
      depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
    }
  }
  return entries;
}

std::optional<Object> parseConstant(llvm::StringRef text) {
  if (text == "None")
    return Object();
  if (text == "True" || text == "False")
    return Object(text == "True");
  if (text.size() >= 2 && (text.front() == '\'' || text.front() == '"') && text.front() == text.back())
    return Object(text.drop_front().drop_back().str());
  int64_t integer;
  if (!text.getAsInteger(0, integer))
    return Object(integer);
  double number;
  if (!text.getAsDouble(number))
    return Object(number);
  return std::nullopt;
}

std::string specText(const ArgumentSpec &spec) {
  if (spec.isConstant && spec.type)
    return spec.type.shortName() + ":1";
  if (spec.isConstant)
    return spec.constant.isType() ? spec.constant.as<Type>().shortName() : spec.constant.repr();
  if (spec.isRecord && spec.type) {
    int divisibility = spec.elements[0].divisibility;
    return spec.type.shortName() + (divisibility > 1 ? ":" + std::to_string(divisibility) : "");
  }
  if (spec.isTuple) {
    std::string text;
    for (const ArgumentSpec &element : spec.elements)
      text += (text.empty() ? "" : ", ") + specText(element);
    return "(" + text + ")";
  }
  return spec.type.shortName() + (spec.divisibility > 1 ? ":" + std::to_string(spec.divisibility) : "");
}

} // namespace

void failSignature(const FunctionSource &kernel, const std::string &message) {
  Diagnostic diagnostic;
  diagnostic.kind = Diagnostic::Kind::Argument;
  diagnostic.location.source = kernel.text;
  diagnostic.location.line = kernel.text->firstLine;
  diagnostic.message = "the signature of `" + kernel.name + "`: " + message;
  std::string names;
  for (const ParameterInfo &parameter : functionParameters(kernel))
    names += (names.empty() ? "" : ", ") + parameter.name;
  diagnostic.hint = "one entry for each of (" + names + "): a type such as i32, fp32, *fp16 or *fp32:16, or a constant";
  throw CompileError(std::move(diagnostic));
}

ArgumentSpec parseArgument(const FunctionSource &kernel, llvm::StringRef text, bool isConstexpr) {
  ArgumentSpec spec;
  if (text.starts_with("(") && text.ends_with(")")) {
    spec.isTuple = true;
    for (llvm::StringRef element : split(text.drop_front().drop_back()))
      spec.elements.push_back(parseArgument(kernel, element, isConstexpr));
    return spec;
  }
  auto [typeText, divisor] = text.split(':');
  Type type = Type::parseShortName(typeText.trim());
  if (type && !isConstexpr) {
    spec.type = type;
    bool valid = divisor.empty() || !divisor.trim().getAsInteger(10, spec.divisibility);
    if (!valid || spec.divisibility < 1 || (spec.divisibility & (spec.divisibility - 1)) != 0)
      failSignature(kernel, "`" + divisor.str() + "` in `" + text.str() + "` is not a power of two");
    if (spec.divisibility == 1 && !divisor.empty() && type.isInteger()) { // as the language's own tools mean it
      spec.isConstant = true;
      spec.constant = Object(1);
      return spec;
    }
    return typeArgument(type, spec.divisibility);
  }
  spec.isConstant = true;
  if (std::optional<Object> constant = parseConstant(text))
    spec.constant = *constant;
  else if (type && divisor.empty())
    spec.constant = type;
  else
    failSignature(kernel, "`" + text.str() + "` is neither a type nor a constant");
  return spec;
}

std::vector<ArgumentSpec> parseSignature(const FunctionSource &kernel, llvm::StringRef text) {
  std::vector<ParameterInfo> parameters = functionParameters(kernel);
  std::vector<std::optional<ArgumentSpec>> found(parameters.size());
  size_t next = 0;
  for (llvm::StringRef entry : split(text)) {
    size_t index = next;
    llvm::StringRef value = entry;
    // `name=value`; an equals sign inside quotes is part of a constant.
    if (size_t equals = entry.find('='); equals != llvm::StringRef::npos && entry.find_first_of("'\"(") > equals) {
      llvm::StringRef name = entry.take_front(equals).trim();
      value = entry.drop_front(equals + 1).trim();
      index = llvm::find_if(parameters, [&](const ParameterInfo &parameter) { return parameter.name == name; }) -
              parameters.begin();
      if (index == parameters.size())
        failSignature(kernel, "there is no parameter `" + name.str() + "`");
    } else if (next == parameters.size()) {
      failSignature(kernel,
                    "`" + entry.str() + "` is more than its " + std::to_string(parameters.size()) + " parameters");
    } else {
      ++next;
    }
    if (found[index])
      failSignature(kernel, "`" + parameters[index].name + "` is given twice");
    found[index] = parseArgument(kernel, value, parameters[index].isConstexpr);
  }
  return completeArguments(kernel, std::move(found));
}

std::string signatureText(llvm::ArrayRef<ArgumentSpec> arguments) {
  std::string text;
  for (const ArgumentSpec &argument : arguments)
    text += (text.empty() ? "" : ", ") + argument.name + "=" + specText(argument);
  return text;
}

} // namespace nacre
