#include "runtime/launch/Specialization.h"
#include "runtime/launch/Signature.h"
#include "llvm/ADT/STLExtras.h"

namespace nacre {

Type annotatedType(llvm::StringRef annotation) {
  annotation = annotation.trim().trim("'\"");
  if (annotation.consume_front("*")) {
    bool isConst = annotation.consume_front("k");
    Type element = annotatedType(annotation);
    return element && !element.isPointer() ? Type::pointer(element, isConst) : Type();
  }
  llvm::StringRef name = annotation.substr(annotation.rfind('.') + 1); // npos + 1 is 0
  static constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> names[] = {{"bool", "i1"},
                                                                                  {"int", "i32"},
                                                                                  {"half", "fp16"},
                                                                                  {"float", "fp32"},
                                                                                  {"double", "fp64"},
                                                                                  {"float8_e4m3fn", "fp8e4nv"},
                                                                                  {"float8_e5m2", "fp8e5"},
                                                                                  {"float8_e4m3fnuz", "fp8e4b8"},
                                                                                  {"float8_e5m2fnuz", "fp8e5b16"}};
  for (auto [known, shortName] : names)
    if (name == known)
      return Type::parseShortName(shortName);
  static constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> spellings[] = {
      {"uint", "u"}, {"int", "i"}, {"bfloat", "bf"}, {"float", "fp"}};
  for (auto [longForm, shortForm] : spellings)
    if (llvm::StringRef rest = name; rest.consume_front(longForm))
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

static SpecializationRule ruleOf(const ParameterInfo &parameter) {
  return {.isConst = parameter.isConst, .forced = annotatedType(parameter.annotation)};
}

ArgumentSpec typeArgument(Type type, int divisibility) {
  return type.kind() == Type::Kind::Descriptor ? descriptorArgument(type, divisibility)
                                               : typedArgument(type, divisibility);
}

ArgumentSpec integerArgument(const ParameterInfo &parameter, int64_t value, bool isUnsigned) {
  if (parameter.isConstexpr)
    return constantArgument(isUnsigned ? Object(llvm::DynamicAPInt(llvm::APInt(65, static_cast<uint64_t>(value))))
                                       : Object(value));
  if (Type forced = forcedScalar(parameter)) {
    bool isDivisible = forcedIsDivisible(ruleOf(parameter), static_cast<uint64_t>(value));
    return typedArgument(forced, isDivisible ? specializedDivisor : 1);
  }
  SpecializedInteger known = specializeInteger(ruleOf(parameter), value, isUnsigned);
  return known.isConstant ? constantArgument(Object(value))
                          : typedArgument(known.type, known.isDivisible ? specializedDivisor : 1);
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
  SpecializedPointer known = specializePointer(ruleOf(parameter), element, address);
  return typedArgument(Type::pointer(known.element, known.isConst), known.isDivisible ? specializedDivisor : 1);
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
