#include "runtime/launch/Specialization.h"
#include "runtime/launch/Signature.h"
#include "llvm/ADT/STLExtras.h"

namespace nacre {

Type annotatedType(llvm::StringRef annotation) {
  annotation = annotation.trim().trim("'\"");
  if (annotation.starts_with("*"))
    return Type::parseShortName(annotation);
  llvm::StringRef name = annotation.substr(annotation.rfind('.') + 1); // npos + 1 is 0
  static constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> spellings[] = {
      {"uint", "u"}, {"int", "i"}, {"bfloat", "bf"}, {"float", "fp"}};
  for (auto [longForm, shortForm] : spellings)
    if (llvm::StringRef rest = name; rest.consume_front(longForm) && !rest.empty())
      return Type::parseShortName((shortForm + rest).str());
  return Type::parseShortName(name);
}

// Null where the annotation forces no number.
static Type forcedScalar(const ParameterInfo &parameter) {
  Type type = annotatedType(parameter.annotation);
  return type && type.isScalar() ? type : Type();
}

static ArgumentSpec typedArgument(Type type, int divisibility = 1) {
  ArgumentSpec spec;
  spec.type = type;
  spec.divisibility = divisibility;
  return spec;
}

ArgumentSpec typeArgument(Type type, int divisibility) {
  return type.kind() == Type::Kind::Descriptor ? descriptorArgument(type, divisibility)
                                               : typedArgument(type, divisibility);
}

ArgumentSpec integerArgument(const ParameterInfo &parameter, int64_t value, bool isUnsigned) {
  if (parameter.isConstexpr)
    return constantArgument(isUnsigned ? Object(llvm::DynamicAPInt(llvm::APInt(65, static_cast<uint64_t>(value))))
                                       : Object(value));
  if (Type forced = forcedScalar(parameter))
    return typedArgument(forced);
  if (isConstantOne(value, isUnsigned))
    return constantArgument(Object(value));
  return typedArgument(integerType(value, isUnsigned),
                       isSpeciallyDivisible(static_cast<uint64_t>(value)) ? specializedDivisor : 1);
}

ArgumentSpec floatArgument(const ParameterInfo &parameter, double value) {
  if (parameter.isConstexpr)
    return constantArgument(Object(value));
  Type forced = forcedScalar(parameter);
  return typedArgument(forced ? forced : float32());
}

ArgumentSpec boolArgument(const ParameterInfo &parameter, bool value) {
  if (parameter.isConstexpr)
    return constantArgument(Object(value));
  Type forced = forcedScalar(parameter);
  return typedArgument(forced ? forced : int1());
}

ArgumentSpec pointerArgument(const ParameterInfo &parameter, Type element, uint64_t address) {
  Type forced = annotatedType(parameter.annotation);
  bool isForced = forced && forced.isPointer();
  bool isConst = parameter.isConst || (isForced && forced.isConst());
  return typedArgument(Type::pointer(isForced ? forced.element() : element, isConst),
                       isSpeciallyDivisible(address) ? specializedDivisor : 1);
}

std::vector<ArgumentSpec> completeArguments(const FunctionSource &kernel,
                                            std::vector<std::optional<ArgumentSpec>> given) {
  std::vector<ParameterInfo> parameters = functionParameters(kernel);
  given.resize(parameters.size());
  std::vector<ArgumentSpec> arguments;
  for (auto [parameter, spec] : llvm::zip_equal(parameters, given)) {
    if (!spec && !parameter.defaultValue)
      failSignature(kernel, "`" + parameter.name + "` is missing");
    arguments.push_back(spec ? std::move(*spec) : constantArgument(*parameter.defaultValue));
    arguments.back().name = parameter.name;
  }
  return arguments;
}

} // namespace nacre
