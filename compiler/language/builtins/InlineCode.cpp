// Functions applied element by element: the language's own (map_elementwise) and those of a user's library.
#include "compiler/language/builtins/Definitions.h"
#include "compiler/language/meaning/LibraryMachine.h"
#include "llvm/ADT/StringExtras.h"

namespace nacre {

// ---- map_elementwise

void checkPackedResults(Evaluation &evaluation, size_t values, int pack) {
  if (values == 0)
    evaluation.fail(Diagnostic::Kind::Type, "the function returns nothing");
  if (values % static_cast<size_t>(pack) != 0)
    evaluation.fail(Diagnostic::Kind::Type,
                    "the function takes " + std::to_string(pack) + " elements at once and returns " +
                        std::to_string(values) + (values == 1 ? " value" : " values"),
                    "it must return " + std::to_string(pack) + " values for each result, in one tuple");
}

// A scalar among functions that take several elements at once is a tile of one.
static Object mapElementwise(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  int64_t pack = integerArgument(evaluation, arguments[2], "pack");
  if (pack < 1 || pack > 64)
    evaluation.fail(Diagnostic::Kind::Value, "`pack` must be from 1 to 64, not " + std::to_string(pack));
  Values operands;
  for (const Object &item : arguments[1].tuple().items)
    operands.push_back(valueArgument(evaluation, item, "args"));
  if (operands.empty())
    evaluation.fail(Diagnostic::Kind::Argument, "at least one tensor is needed");
  operands = broadcastTogether(evaluation, operands);
  llvm::SmallVector<int64_t> shape(operands[0].type().shape());
  bool isScalar = shape.empty() && pack > 1;
  Builder &builder = evaluation.builder();
  if (isScalar)
    for (Value &operand : operands)
      operand = builder.splat(operand, {1});
  Object result = evaluation.callElementwise(arguments[0], std::vector<Object>(operands.begin(), operands.end()),
                                             static_cast<int>(pack));
  auto spread = [&](const Object &item) -> Object {
    Value value = valueArgument(evaluation, item, "the result");
    return isScalar ? builder.extract(value, {0}) : broadcastTo(evaluation, value, shape);
  };
  if (!result.isTuple())
    return spread(result);
  std::vector<Object> results;
  for (const Object &item : result.tuple().items)
    results.push_back(spread(item));
  return Object::makeTuple(std::move(results));
}

// ---- extern_elementwise

namespace {

// One way to call the function: the types it takes, its name in the library, what it gives.
struct Overload {
  llvm::SmallVector<Type> arguments;
  std::string symbol;
  Type result;
};

std::string shown(llvm::ArrayRef<Type> types) {
  return "(" + llvm::join(llvm::map_range(types, [](Type type) { return type.str(); }), ", ") + ")";
}

std::vector<Overload> overloadsArgument(Evaluation &evaluation, const Object &table) {
  auto reject = [&] {
    evaluation.fail(Diagnostic::Kind::Type,
                    "`arg_type_symbol_dict` must be a dict from tuples of dtypes to (symbol, dtype), not " +
                        describe(table),
                    "for instance {(tl.float32, tl.float32): (\"hypotf\", tl.float32)}");
  };
  if (!table.isRecord("dict"))
    reject();
  std::vector<Overload> overloads;
  for (const Object &entry : table.tuple().items) {
    const Object &key = entry.tuple().items[0], &value = entry.tuple().items[1];
    bool isPair = value.isTuple() && value.tuple().items.size() == 2 && value.tuple().items[0].isString() &&
                  value.tuple().items[1].isType();
    if (!key.isTuple() || !isPair)
      reject();
    Overload overload;
    overload.symbol = value.tuple().items[0].as<std::string>();
    overload.result = elementTypeArgument(evaluation, value.tuple().items[1], "arg_type_symbol_dict");
    for (const Object &type : key.tuple().items) {
      if (!type.isType())
        reject();
      overload.arguments.push_back(type.as<Type>());
    }
    overloads.push_back(std::move(overload));
  }
  if (overloads.empty())
    evaluation.fail(Diagnostic::Kind::Value, "`arg_type_symbol_dict` is empty");
  return overloads;
}

// Whether a function that takes `wanted` can be given `found`: pointers may differ in what their text says of
// constness.
bool accepts(Type wanted, Type found) {
  if (wanted.isPointer() && found.isPointer())
    return wanted.element() == found.element();
  return wanted == found;
}

// Without a library a name of NVIDIA's libdevice means the function of tl.extra.libdevice.
const Builtin *libdeviceFunction(llvm::StringRef symbol) {
  if (!symbol.consume_front("__nv_"))
    return nullptr;
  if (const Builtin *builtin = findBuiltin(libdeviceModule, symbol))
    return builtin;
  return symbol.consume_back("f") ? findBuiltin(libdeviceModule, symbol) : nullptr;
}

} // namespace

static Object externElementwise(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  std::string path = stringArgument(evaluation, arguments[1], "lib_path");
  std::vector<Overload> overloads = overloadsArgument(evaluation, arguments[3]);
  bool isPure = boolArgument(evaluation, arguments[4], "is_pure");
  Values operands;
  llvm::SmallVector<Type> types;
  for (const Object &item : sequenceArgument(arguments[2])) {
    operands.push_back(valueArgument(evaluation, item, "args"));
    types.push_back(operands.back().type().scalarType());
  }
  auto chosen = llvm::find_if(
      overloads, [&](const Overload &overload) { return llvm::equal(overload.arguments, types, accepts); });
  if (chosen == overloads.end()) {
    std::vector<std::string> known;
    for (const Overload &overload : overloads)
      known.push_back(shown(overload.arguments));
    evaluation.fail(Diagnostic::Kind::Type, "the library has no function for " + shown(types),
                    "arg_type_symbol_dict has " + llvm::join(known, ", ") + "; convert the arguments with .to(...)");
  }
  operands = broadcastTogether(evaluation, operands);
  const Builtin *builtin = path.empty() ? libdeviceFunction(chosen->symbol) : nullptr;
  if (path.empty() && !builtin)
    path = evaluation.libraryNamed(stringArgument(evaluation, arguments[0], "lib_name"));
  if (path.empty()) {
    if (!builtin)
      evaluation.fail(Diagnostic::Kind::Value,
                      "`lib_path` is empty, so there is no library with `" + chosen->symbol + "`",
                      "pass the path of the library's file, here or with the launch option extern_libs={name: path}");
    return castTo(evaluation,
                  toValue(evaluation,
                          callBuiltin(evaluation, *builtin, std::vector<Object>(operands.begin(), operands.end()), {})),
                  chosen->result);
  }
  llvm::Expected<std::shared_ptr<const ExternalLibrary>> library = evaluation.library(path);
  if (!library)
    evaluation.fail(Diagnostic::Kind::Value, llvm::toString(library.takeError()));
  if (std::string problem = problemWithMachine(**library, evaluation.target()); !problem.empty())
    evaluation.fail(Diagnostic::Kind::Value, problem);
  if (std::string problem = (*library)->problemWith(chosen->symbol, types, chosen->result); !problem.empty())
    evaluation.fail(Diagnostic::Kind::Value, problem);
  Shape shape = operands.empty() ? Shape() : operands[0].type().shape();
  return evaluation.builder().externalCall({(*library)->path, (*library)->digest, chosen->symbol}, operands,
                                           chosen->result.withShape(shape), isPure);
}

void addInlineCode(Table &table) {
  table.section(languageModule, "inline code");
  addInlineAssembly(table);
  table.add(
      "map_elementwise(scalar_fn: function, *args: tensor, pack: constexpr int = 1)",
      "Applies a function of the language to each element of the tensors, which are brought to one shape.\n\n"
      "scalar_fn: takes one element of each and returns one value or a tuple; it may branch, loop and return as it "
      "likes for each element, and call other functions.\n"
      "args: the tensors.\n"
      "pack: how many elements one call takes. With more than one, scalar_fn takes so many of the first tensor, then "
      "so many of the second, and returns so many of the first result, then of the second; neighbours along the last "
      "axis go together. Where the number of elements is no multiple of it, the last element fills the last call up.",
      mapElementwise);
  table.add(
      "extern_elementwise(lib_name: constexpr str, lib_path: constexpr str, args: tuple, arg_type_symbol_dict: "
      "dict, is_pure: constexpr bool = True)",
      "Calls a function of a library of your own on each element. Kernels reach it through a function marked with "
      "@tl.core.extern. The function must be safe to call from several threads at once.\n\n"
      "lib_name: what the library is called, by the launch option extern_libs too.\n"
      "lib_path: its file: LLVM bitcode (.bc) or IR (.ll), which becomes part of the kernel and is vectorized with it; "
      "an ELF object (.o), a static (.a) or a shared library (.so), which is called. A library that was built anew "
      "means a new compile. With an empty path, names of NVIDIA's libdevice mean those of tl.extra.libdevice, and "
      "others are looked for in "
      "the library that the launch option extern_libs={name: path} names.\n"
      "args: the arguments, brought to one shape.\n"
      "arg_type_symbol_dict: {(dtypes of the arguments): (name in the library, dtype of the result)}, an entry for "
      "each way to call it; the arguments' dtypes must be one of them.\n"
      "is_pure: whether it may be removed, repeated or moved.",
      externElementwise);
}

} // namespace nacre
