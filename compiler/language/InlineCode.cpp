// Code of the target's own, and functions applied element by element.
#include "compiler/language/Definitions.h"

namespace nacre {

static Object inlineAssembly(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  std::string text = stringArgument(evaluation, arguments[0], "asm"),
              constraints = stringArgument(evaluation, arguments[1], "constraints");
  Values operands;
  for (const Object &item : sequenceArgument(arguments[2]))
    operands.push_back(valueArgument(evaluation, item, "args"));
  operands = broadcastTogether(evaluation, operands);
  Shape shape = operands.empty() ? Shape() : operands[0].type().shape();
  llvm::SmallVector<Type> results;
  for (const Object &item : sequenceArgument(arguments[3])) {
    Type type = typeArgument(evaluation, item, "dtype").scalarType();
    results.push_back(shape.empty() ? type : Type::block(type, shape));
  }
  if (results.empty())
    evaluation.fail(Diagnostic::Kind::Value, "`dtype` is empty", "inline assembly returns at least one value");
  int64_t pack = integerArgument(evaluation, arguments[5], "pack");
  if (pack < 1)
    evaluation.fail(Diagnostic::Kind::Value, "`pack` must be positive, not " + std::to_string(pack));
  Values values = evaluation.builder().inlineAssembly(
      text, constraints, operands, results, boolArgument(evaluation, arguments[4], "is_pure"), static_cast<int>(pack));
  if (!arguments[3].isTuple())
    return values[0];
  return Object::makeTuple(std::vector<Object>(values.begin(), values.end()));
}

static Object mapElementwise(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  if (integerArgument(evaluation, arguments[2], "pack") != 1)
    evaluation.fail(Diagnostic::Kind::Unsupported, "`pack` other than 1 is not supported yet");
  Values operands;
  for (const Object &item : arguments[1].tuple().items)
    operands.push_back(valueArgument(evaluation, item, "args"));
  if (operands.empty())
    evaluation.fail(Diagnostic::Kind::Argument, "at least one tensor is needed");
  operands = broadcastTogether(evaluation, operands);
  Shape shape = operands[0].type().shape();
  Object result = evaluation.callElementwise(arguments[0], std::vector<Object>(operands.begin(), operands.end()));
  auto spread = [&](const Object &item) -> Object {
    return broadcastTo(evaluation, valueArgument(evaluation, item, "the result"), shape);
  };
  if (!result.isTuple())
    return spread(result);
  std::vector<Object> results;
  for (const Object &item : result.tuple().items)
    results.push_back(spread(item));
  return Object::makeTuple(std::move(results));
}

static Object externElementwise(Evaluation &evaluation, llvm::ArrayRef<Object>) {
  evaluation.fail(Diagnostic::Kind::Unsupported, "functions of external libraries are not supported yet",
                  "the usual ones are in tl.extra.libdevice");
}

void addInlineCode(Table &table) {
  table.section(languageModule, "inline code");
  table.add("inline_asm_elementwise(asm: constexpr str, constraints: constexpr str, args: tuple, dtype: dtype, "
            "is_pure: constexpr bool, pack: constexpr int)",
            "Runs assembly of the target on each element, or on packs of elements.\n\n"
            "asm: the text, with $0, $1, .. for the registers.\n"
            "constraints: the registers, in LLVM's notation: outputs first.\n"
            "args: the operands, brought to one shape.\n"
            "dtype: the result's type, or a tuple of types for several results.\n"
            "is_pure: whether it may be removed, repeated or moved.\n"
            "pack: how many elements one run takes.",
            inlineAssembly);
  table.add("map_elementwise(scalar_fn: function, *args: tensor, pack: constexpr int = 1)",
            "Applies a function of the language to each element of the tensors, which are brought to one shape.\n\n"
            "scalar_fn: takes one element of each and returns one value or a tuple; it may branch, and must not touch memory.\n"
            "args: the tensors.\n"
            "pack: how many elements one call takes; 1.",
            mapElementwise);
  table.add("extern_elementwise(lib_name: constexpr str, lib_path: constexpr str, args: tuple, arg_type_symbol_dict: "
            "dict, is_pure: constexpr bool = True)",
            "Calls a function of an external library on each element. Not supported yet.", externElementwise);
}

} // namespace nacre
