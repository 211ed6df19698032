// How objects are shown, keyed and compared.
#include "compiler/language/builtins/Builtins.h"
#include "compiler/language/meaning/Number.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"

namespace nacre {

bool Object::isConstexpr() const {
  if (isValue())
    return false;
  if (isCompound())
    return llvm::all_of(tuple().items, [](const Object &item) { return item.isConstexpr(); });
  if (is<std::shared_ptr<const SliceValue>>()) {
    const SliceValue &slice = *as<std::shared_ptr<const SliceValue>>();
    return slice.start.isConstexpr() && slice.stop.isConstexpr() && slice.step.isConstexpr();
  }
  if (is<BoundMethod>())
    return as<BoundMethod>().receiver->isConstexpr();
  return true;
}

Measure Object::measure() const {
  if (is<BoundMethod>())
    return as<BoundMethod>().receiver->measure();
  if (!isCompound())
    return {1, 0};
  if (Measure known = tuple().known.load(std::memory_order_relaxed); known.depth)
    return known;
  uint64_t leaves = 1;
  uint32_t depth = 0;
  for (const Object &item : tuple().items) {
    Measure inner = item.measure();
    leaves = std::min<uint64_t>(leaves + inner.leaves, UINT32_MAX);
    depth = std::max(depth, inner.depth);
  }
  Measure measure{static_cast<uint32_t>(leaves), depth + 1};
  tuple().known.store(measure, std::memory_order_relaxed);
  return measure;
}

Object Object::makeTuple(std::vector<Object> items) {
  auto tuple = std::make_shared<TupleValue>();
  tuple->items = std::move(items);
  return Object(std::shared_ptr<const TupleValue>(std::move(tuple)));
}

Object Object::makeDictionary(std::vector<std::pair<Object, Object>> entries) {
  auto record = std::make_shared<TupleValue>();
  record->typeName = "dict";
  record->isRecord = true;
  for (auto &[key, value] : entries)
    record->items.push_back(makeTuple({std::move(key), std::move(value)}));
  return std::shared_ptr<const TupleValue>(std::move(record));
}

Object Object::makeSlice(Object start, Object stop, Object step) {
  auto slice = std::make_shared<SliceValue>(SliceValue{std::move(start), std::move(stop), std::move(step)});
  return Object(std::shared_ptr<const SliceValue>(std::move(slice)));
}

// A string as Python's repr quotes it: single quotes unless that needs escaping and double quotes do not.
static std::string quoted(llvm::StringRef text) {
  char quote = text.contains('\'') && !text.contains('"') ? '"' : '\'';
  std::string result(1, quote);
  for (char c : text) {
    if (c == quote || c == '\\')
      result += {'\\', c};
    else if (c == '\n')
      result += "\\n";
    else if (c == '\t')
      result += "\\t";
    else if (c == '\r')
      result += "\\r";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      result += "\\x" + llvm::utohexstr(static_cast<unsigned char>(c), /*LowerCase=*/true, 2);
    else
      result += c;
  }
  return result + quote;
}

static std::string tupleText(const TupleValue &tuple) {
  std::string text;
  // What stands behind the named fields is not shown.
  size_t shown = tuple.names.empty() ? tuple.items.size() : tuple.names.size();
  for (size_t index = 0; index < shown; ++index) {
    if (index)
      text += ", ";
    if (!tuple.names.empty())
      text += tuple.names[index] + "=";
    text += tuple.items[index].repr();
  }
  if (tuple.isList)
    return "[" + text + "]";
  if (tuple.items.size() == 1 && tuple.names.empty())
    text += ",";
  return tuple.typeName + "(" + text + ")";
}

std::string Object::repr() const {
  struct Visitor {
    std::string operator()(const NoneValue &) { return "None"; }
    std::string operator()(const EllipsisValue &) { return "Ellipsis"; }
    std::string operator()(bool value) { return value ? "True" : "False"; }
    std::string operator()(const Integer &value) { return integerText(value); }
    std::string operator()(double value) { return floatText(value); }
    std::string operator()(const std::string &value) { return quoted(value); }
    std::string operator()(const std::shared_ptr<const TupleValue> &value) { return tupleText(*value); }
    std::string operator()(const std::shared_ptr<const SliceValue> &value) {
      return "slice(" + value->start.repr() + ", " + value->stop.repr() + ", " + value->step.repr() + ")";
    }
    std::string operator()(const Type &value) { return value.str(); }
    std::string operator()(const Builtin *value) { return "<builtin " + value->module + "." + value->name + ">"; }
    std::string operator()(const JitReference &value) { return "<jit function " + value.key + ">"; }
    std::string operator()(const ModuleReference &value) { return "<module '" + value.name + "'>"; }
    std::string operator()(const OpaqueReference &value) { return "<object " + value.key + ">"; }
    std::string operator()(const BoundMethod &value) {
      return "<method " + value.name + " of " + value.receiver->typeName() + ">";
    }
    std::string operator()(const Value &value) { return value.type().str(); }
  };
  return std::visit(Visitor(), variant);
}

static std::string valueTypeName(Type type) {
  if (!type.isBlock())
    return type.isScalar() ? type.str() + " scalar" : type.str();
  std::string extents =
      llvm::join(llvm::map_range(type.shape(), [](int64_t extent) { return std::to_string(extent); }), ", ");
  return type.scalarType().str() + " tensor of shape [" + extents + "]";
}

std::string Object::typeName() const {
  struct Visitor {
    std::string operator()(const NoneValue &) { return "None"; }
    std::string operator()(const EllipsisValue &) { return "ellipsis"; }
    std::string operator()(bool) { return "bool"; }
    std::string operator()(const Integer &) { return "int"; }
    std::string operator()(double) { return "float"; }
    std::string operator()(const std::string &) { return "str"; }
    std::string operator()(const std::shared_ptr<const TupleValue> &value) {
      return value->isList ? "list" : value->typeName.empty() ? "tuple" : value->typeName;
    }
    std::string operator()(const std::shared_ptr<const SliceValue> &) { return "slice"; }
    std::string operator()(const Type &) { return "dtype"; }
    std::string operator()(const Builtin *) { return "builtin function"; }
    std::string operator()(const JitReference &) { return "jit function"; }
    std::string operator()(const ModuleReference &) { return "module"; }
    std::string operator()(const OpaqueReference &value) {
      constexpr size_t longest = 100; // a key may show all that the object holds
      return "object " + (value.key.size() > longest ? value.key.substr(0, longest) + "..." : value.key);
    }
    std::string operator()(const BoundMethod &) { return "method"; }
    std::string operator()(const Value &value) { return valueTypeName(value.type()); }
  };
  return std::visit(Visitor(), variant);
}

// Length first, so that no text can imitate the end of another.
static std::string keyText(char tag, const std::string &text) { return tag + std::to_string(text.size()) + ":" + text; }

static std::string typeKey(Type type) {
  std::string text = type.shortName();
  if (type.isPointerLike() && type.scalarType().addressSpace() != 1)
    text += "@" + std::to_string(type.scalarType().addressSpace());
  return text;
}

std::string Object::key() const {
  struct Visitor {
    std::string operator()(const NoneValue &) { return "n"; }
    std::string operator()(const EllipsisValue &) { return "e"; }
    std::string operator()(bool value) { return value ? "b1" : "b0"; }
    std::string operator()(const Integer &value) { return "i" + integerText(value) + ";"; }
    std::string operator()(double value) { return "f" + llvm::utohexstr(llvm::bit_cast<uint64_t>(value)) + ";"; }
    std::string operator()(const std::string &value) { return keyText('s', value); }
    std::string operator()(const std::shared_ptr<const TupleValue> &value) {
      std::string text = (value->isList     ? "l"
                          : value->isRecord ? "R"
                                            : "t") +
                         std::to_string(value->items.size()) + "(";
      if (!value->typeName.empty())
        text += keyText('c', value->typeName);
      for (const std::string &name : value->names)
        text += keyText('a', name);
      for (const Object &item : value->items)
        text += item.key();
      if (value->recordClass)
        text += value->recordClass->key();
      return text + ")";
    }
    std::string operator()(const std::shared_ptr<const SliceValue> &value) {
      return "r(" + value->start.key() + value->stop.key() + value->step.key() + ")";
    }
    std::string operator()(const Type &value) { return keyText('T', typeKey(value)); }
    std::string operator()(const Builtin *value) { return keyText('B', value->module + "." + value->name); }
    std::string operator()(const JitReference &value) { return keyText('J', value.key); }
    std::string operator()(const ModuleReference &value) { return keyText('M', value.name); }
    std::string operator()(const OpaqueReference &value) { return keyText('O', value.key); }
    std::string operator()(const BoundMethod &value) { return keyText('m', value.name) + value.receiver->key(); }
    std::string operator()(const Value &value) { return keyText('V', typeKey(value.type())); }
  };
  return std::visit(Visitor(), variant);
}

static std::optional<Integer> integerOf(const Object &object) {
  if (object.isBool())
    return Integer(object.as<bool>() ? 1 : 0);
  if (object.isInt())
    return object.as<Integer>();
  return std::nullopt;
}

bool Object::equal(const Object &a, const Object &b) {
  if (a.isNumber() && b.isNumber()) {
    std::optional<Integer> left = integerOf(a), right = integerOf(b);
    if (left && right)
      return *left == *right;
    if (left)
      return compareNumbers(*left, b.as<double>()) == 0;
    if (right)
      return compareNumbers(*right, a.as<double>()) == 0;
    return a.as<double>() == b.as<double>();
  }
  if (a.isCompound() && b.isCompound())
    return a.isRecord() == b.isRecord() && llvm::equal(a.tuple().items, b.tuple().items, equal);
  if (a.isValue() || b.isValue())
    return a.isValue() && b.isValue() && a.value().get() == b.value().get();
  return a.variant.index() == b.variant.index() && a.key() == b.key();
}

} // namespace nacre
