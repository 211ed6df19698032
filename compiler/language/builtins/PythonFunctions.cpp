// Python's own functions in kernels: on constexprs they mean what Python means.
#include "compiler/language/builtins/Definitions.h"
#include "compiler/language/meaning/BlockView.h"
#include "compiler/language/meaning/ConstexprOperators.h"
#include "compiler/language/meaning/Elementwise.h"
#include "compiler/language/meaning/Pointers.h"
#include "llvm/ADT/STLExtras.h"

namespace nacre {

namespace {

// slice(stop) or slice(start, stop, step), as Python takes them.
Object sliceOf(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  const std::vector<Object> &items = arguments[0].tuple().items;
  if (items.empty() || items.size() > 3)
    evaluation.fail(Diagnostic::Kind::Argument,
                    "takes one to three arguments, but " + std::to_string(items.size()) + " were given",
                    "its parameters are start, stop, step");
  if (items.size() == 1)
    return Object::makeSlice(Object(), items[0], Object());
  return Object::makeSlice(items[0], items[1], items.size() == 3 ? items[2] : Object());
}

std::vector<Object> iterable(Evaluation &evaluation, const Object &object, const char *name) {
  if (object.isTuple())
    return object.tuple().items;
  if (object.isString()) {
    std::vector<Object> characters;
    for (char c : object.as<std::string>())
      characters.push_back(std::string(1, c));
    return characters;
  }
  evaluation.fail(Diagnostic::Kind::Type,
                  std::string("`") + name + "` must be a tuple or a list, not " + describe(object));
}

Object makeList(std::vector<Object> items) {
  auto list = std::make_shared<TupleValue>();
  list->items = std::move(items);
  list->isList = true;
  return std::shared_ptr<const TupleValue>(std::move(list));
}

Object length(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  const Object &object = arguments[0];
  if (object.isTuple())
    return static_cast<int64_t>(object.tuple().items.size());
  if (object.isString())
    return static_cast<int64_t>(object.as<std::string>().size());
  if (object.isValue() && object.value().type().isBlock())
    return object.value().type().shape().front();
  evaluation.fail(Diagnostic::Kind::Type, describe(object) + " has no length",
                  isPointerScalar(object) ? pointerHint : "");
}

Object listOf(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  return makeList(arguments[0].isNone() ? std::vector<Object>() : iterable(evaluation, arguments[0], "iterable"));
}

Object tupleOf(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  return Object::makeTuple(arguments[0].isNone() ? std::vector<Object>()
                                                 : iterable(evaluation, arguments[0], "iterable"));
}

Object floatOf(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  const Object &object = arguments[0];
  if (object.isValue())
    return castTo(evaluation, object.value(), object.value().type().scalarType() == float64() ? float64() : float32());
  if (object.isFloat())
    return object;
  if (object.isBool())
    return object.as<bool>() ? 1.0 : 0.0;
  if (object.isInt())
    if (std::optional<double> value = toDouble(object.as<Integer>()))
      return *value;
  if (object.isString()) {
    std::string text = llvm::StringRef(object.as<std::string>()).trim().lower();
    char *end = nullptr;
    double value = std::strtod(text.c_str(), &end);
    bool isHexadecimal = llvm::StringRef(text).contains('x');
    if (!text.empty() && *end == 0 && !isHexadecimal)
      return value;
  }
  evaluation.fail(Diagnostic::Kind::Value, "cannot make a float of " + describe(object));
}

Object intOf(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  const Object &object = arguments[0];
  if (object.isValue())
    return object.value().type().isInteger() && !object.value().type().isBool()
               ? object
               : Object(castTo(evaluation, object.value(), int32()));
  if (object.isInt())
    return object;
  if (object.isBool())
    return Integer(object.as<bool>());
  if (object.isFloat())
    if (std::optional<Integer> value = truncateToInteger(object.as<double>()))
      return *value;
  if (object.isString())
    if (std::optional<Integer> value = parseInteger(llvm::StringRef(object.as<std::string>()).trim()))
      return *value;
  evaluation.fail(Diagnostic::Kind::Value, "cannot make an int of " + describe(object));
}

Object boolOf(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  if (arguments[0].isValue())
    return castTo(evaluation, arguments[0].value(), int1());
  return truth(evaluation, arguments[0]);
}

Object stringOf(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) { return displayText(arguments[0]); }

// Whether an object is of a class, which is one of our builtins (tl.tensor, int, ...).
bool isInstance(Evaluation &evaluation, const Object &object, const Object &type) {
  if (type.isTuple())
    return llvm::any_of(type.tuple().items, [&](const Object &item) { return isInstance(evaluation, object, item); });
  if (type.isType())
    return object.isType() && object.as<Type>() == type.as<Type>();
  if (type.is<OpaqueReference>()) // a class of the embedder: an aggregate's or a named tuple's, perhaps
    return object.isCompound() && object.tuple().recordClass && Object::equal(*object.tuple().recordClass, type);
  if (type.is<const Builtin *>()) {
    const Builtin &builtin = *type.as<const Builtin *>();
    llvm::StringRef name = builtin.name;
    if (name == "tensor")
      return object.isValue() || object.isRecord(blockPointerName);
    if (name == "tensor_descriptor" || name == "tensor_descriptor_base")
      return object.isRecord(descriptorName);
    if (name == "constexpr")
      return object.isConstexpr();
    if (name == constexprTypeName)
      return object.isRecord(constexprTypeName);
    if (name == "dtype")
      return object.isType();
    if (name == "pointer_type")
      return object.isType() && object.as<Type>().isPointer();
    if (name == "block_type")
      return object.isType() && object.as<Type>().isBlock();
    if (name == "tuple")
      return object.isTuple() && !(builtin.module == pythonModule && object.tuple().isList);
    if (name == "list")
      return object.isTuple() && object.tuple().isList;
    if (name == "int")
      return object.isInt() || object.isBool();
    if (name == "float")
      return object.isFloat();
    if (name == "bool")
      return object.isBool();
    if (name == "str")
      return object.isString();
  }
  evaluation.fail(Diagnostic::Kind::Type,
                  "the second argument must be a type or a tuple of types, not " + describe(type));
}

Object isInstanceOf(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  return isInstance(evaluation, arguments[0], arguments[1]);
}

std::optional<Object> lookUp(Evaluation &evaluation, const Object &object, const Object &name) {
  std::string text = stringArgument(evaluation, name, "name");
  if (object.is<ModuleReference>())
    return moduleMember(object.as<ModuleReference>().name, text);
  return attribute(evaluation, object, text);
}

Object getAttribute(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  if (std::optional<Object> result = lookUp(evaluation, arguments[0], arguments[1]))
    return *result;
  if (!arguments[2].tuple().items.empty())
    return arguments[2].tuple().items[0];
  evaluation.fail(Diagnostic::Kind::Name, describe(arguments[0]) + " has no attribute " + arguments[1].repr());
}

Object hasAttribute(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  return lookUp(evaluation, arguments[0], arguments[1]).has_value();
}

template <bool isMaximum> Object extremumOf(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  std::vector<Object> items = arguments[0].tuple().items;
  if (items.size() == 1 && items[0].isTuple())
    items = items[0].tuple().items;
  if (items.empty())
    evaluation.fail(Diagnostic::Kind::Argument, "at least one argument is needed");
  if (items.size() == 1 && items[0].isValue())
    evaluation.fail(Diagnostic::Kind::Argument, "at least two arguments are needed",
                    isMaximum ? "a tensor's largest element is tl.max(x)" : "a tensor's smallest element is tl.min(x)");
  Object best = items[0];
  for (const Object &item : llvm::drop_begin(items)) {
    if (best.isValue() || item.isValue()) {
      auto [x, y] = unify(evaluation, best, item);
      best = extremum(evaluation, isMaximum, x, y, /*propagateNan=*/false);
      continue;
    }
    Comparison better = isMaximum ? Comparison::Gt : Comparison::Lt;
    if (constexprComparison(evaluation, better, item, best).as<bool>())
      best = item;
  }
  return best;
}

Object absolute(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  const Object &object = arguments[0];
  if (object.isFloat())
    return std::abs(object.as<double>());
  if (object.isNumber()) {
    Object positive = constexprUnary(evaluation, UnaryOperator::Plus, object);
    return positive.as<Integer>() < 0 ? Object(-positive.as<Integer>()) : positive;
  }
  return findBuiltin(mathModule, "abs")->invoke(evaluation, arguments);
}

Object zip(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  std::vector<std::vector<Object>> columns;
  for (const Object &column : arguments[0].tuple().items)
    columns.push_back(iterable(evaluation, column, "iterables"));
  std::vector<Object> rows;
  for (size_t index = 0; !columns.empty(); ++index) {
    std::vector<Object> row;
    for (const std::vector<Object> &column : columns)
      if (index < column.size())
        row.push_back(column[index]);
    if (row.size() != columns.size())
      break;
    rows.push_back(Object::makeTuple(std::move(row)));
  }
  return Object::makeTuple(std::move(rows));
}

Object enumerate(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  int64_t start = integerArgument(evaluation, arguments[1], "start");
  std::vector<Object> rows;
  for (const Object &item : iterable(evaluation, arguments[0], "iterable"))
    rows.push_back(Object::makeTuple({start + static_cast<int64_t>(rows.size()), item}));
  return Object::makeTuple(std::move(rows));
}

Object reversedOf(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  std::vector<Object> items = iterable(evaluation, arguments[0], "sequence");
  std::reverse(items.begin(), items.end());
  return Object::makeTuple(std::move(items));
}

// As a value, a range of constexprs is the tuple of its numbers; in a loop it is the front end's.
Object rangeOf(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  int64_t first = integerArgument(evaluation, arguments[0], "arg1");
  bool hasStop = !arguments[1].isNone();
  int64_t start = hasStop ? first : 0, stop = hasStop ? integerArgument(evaluation, arguments[1], "arg2") : first;
  int64_t step = arguments[2].isNone() ? 1 : integerArgument(evaluation, arguments[2], "step");
  if (step == 0)
    evaluation.fail(Diagnostic::Kind::Value, "`step` cannot be zero");
  std::vector<Object> items;
  for (int64_t value = start; step > 0 ? value < stop : value > stop; value += step) {
    if (static_cast<int64_t>(items.size()) >= largestTile)
      evaluation.fail(Diagnostic::Kind::Value, "the range is too long for a tuple");
    items.push_back(value);
  }
  return Object::makeTuple(std::move(items));
}

// ---- Methods of texts and integers

// Of one text, or of any of several.
template <bool (llvm::StringRef::*holds)(llvm::StringRef) const>
Object anyHolds(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  std::string text = stringArgument(evaluation, arguments[0], "self");
  std::vector<Object> wanted{arguments[1]};
  if (arguments[1].isTuple())
    wanted = arguments[1].tuple().items;
  return Object(llvm::any_of(wanted, [&](const Object &part) {
    return (llvm::StringRef(text).*holds)(stringArgument(evaluation, part, "part"));
  }));
}

Object upperOf(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  return llvm::StringRef(stringArgument(evaluation, arguments[0], "self")).upper();
}

Object lowerOf(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  return llvm::StringRef(stringArgument(evaluation, arguments[0], "self")).lower();
}

Object replaced(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  std::string text = stringArgument(evaluation, arguments[0], "self"),
              old = stringArgument(evaluation, arguments[1], "old"),
              made = stringArgument(evaluation, arguments[2], "new"), result;
  if (old.empty())
    evaluation.fail(Diagnostic::Kind::Value, "`old` must not be empty");
  size_t from = 0;
  for (size_t at; (at = text.find(old, from)) != std::string::npos; from = at + old.size())
    result += text.substr(from, at - from) + made;
  return result + text.substr(from);
}

Object splitText(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  std::string text = stringArgument(evaluation, arguments[0], "self"),
              separator = stringArgument(evaluation, arguments[1], "sep");
  if (separator.empty())
    evaluation.fail(Diagnostic::Kind::Value, "`sep` must not be empty");
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(text).split(parts, separator);
  std::vector<Object> items;
  for (llvm::StringRef part : parts)
    items.push_back(part.str());
  return makeList(std::move(items));
}

Object bitLength(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Integer value = llvm::abs(arguments[0].as<Integer>());
  int64_t bits = 0;
  for (; value > 0; value /= Integer(2))
    ++bits;
  return bits;
}

} // namespace

void addPython(Table &table) {
  table.section(pythonModule, "Python in kernels");
  table.add("slice(*args: constexpr)", "start:stop:step as a value, for x[slice(start, stop, step)].", sliceOf);
  table.add("len(x: tuple)", "The number of items of a tuple, or of a tensor's first axis.", length);
  table.add("list(iterable: tuple = None)", "A list of the items; lists are immutable in kernels, like tuples.",
            listOf);
  table.add("tuple(iterable: tuple = None)", "A tuple of the items.", tupleOf);
  table.add("float(x: scalar)", "A float: of a number, of a text such as \"inf\", or a run-time scalar as fp32.",
            floatOf);
  table.add("int(x: scalar)", "An int: of a number (truncated), of a text, or a run-time scalar as int32.", intOf);
  table.add("bool(x: scalar)", "Whether x is true, or, of a run-time value, not zero.", boolOf);
  table.add("str(x: constexpr)", "The text of a constexpr.", stringOf);
  table.add("isinstance(x: constexpr, type: constexpr)",
            "Whether x is of a type, such as tl.tensor, tl.constexpr or int.", isInstanceOf);
  table.add("getattr(x: constexpr, name: constexpr str, *default: constexpr)",
            "x.name, or the default when there is none.", getAttribute);
  table.add("hasattr(x: constexpr, name: constexpr str)", "Whether there is x.name.", hasAttribute);
  table.add("min(*args: scalar)",
            "The smallest argument. Constexprs stay constexpr; with run-time values it is tl.minimum.",
            extremumOf<false>);
  table.add("max(*args: scalar)",
            "The largest argument. Constexprs stay constexpr; with run-time values it is tl.maximum.",
            extremumOf<true>);
  table.add("abs(x: scalar)", "The absolute value. Constexprs stay constexpr.", absolute);
  table.add("zip(*iterables: tuple)", "Tuples of the first items, the second items, and so on.", zip);
  table.add("enumerate(iterable: tuple, start: constexpr int = 0)", "Pairs of a count and an item.", enumerate);
  table.add("reversed(sequence: tuple)", "The items from last to first.", reversedOf);
  table.add(
      "range(arg1: int, arg2: int = None, step: int = None)",
      "Counts from 0, or from the first argument, up to the last. In a loop the bounds may be run-time values.\n\n"
      "arg1, arg2, step: stop, or start, stop and step. A negative step must be constexpr.",
      rangeOf);
  table.section("str", "Python in kernels");
  table.add("startswith(self: constexpr str, prefix: constexpr)",
            "Whether a text starts with another, or with one of a tuple.", anyHolds<&llvm::StringRef::starts_with>);
  table.add("endswith(self: constexpr str, suffix: constexpr)",
            "Whether a text ends with another, or with one of a tuple.", anyHolds<&llvm::StringRef::ends_with>);
  table.add("upper(self: constexpr str)", "The text in capital letters.", upperOf);
  table.add("lower(self: constexpr str)", "The text in small letters.", lowerOf);
  table.add("replace(self: constexpr str, old: constexpr str, new: constexpr str)",
            "The text with one part of it exchanged.", replaced);
  table.add("split(self: constexpr str, sep: constexpr str)", "The parts of the text between separators, as a list.",
            splitText);
  table.section("int", "Python in kernels");
  table.add("bit_length(self: constexpr int)", "How many bits a constexpr integer takes, without its sign.", bitLength);
}

void addSlice(Table &table) {
  table.add("slice(*args: constexpr)", "start:stop:step as a value, for x[tl.slice(start, stop, step)].", sliceOf);
}

} // namespace nacre
