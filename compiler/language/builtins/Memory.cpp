// Loads and stores through pointers.
#include "compiler/language/builtins/BlockPointers.h"
#include "compiler/language/meaning/BlockView.h"
#include "compiler/language/builtins/Definitions.h"

namespace nacre {

Value pointerArgument(Evaluation &evaluation, const Object &object) {
  if (object.isRecord(descriptorName))
    evaluation.fail(Diagnostic::Kind::Type, "`pointer` cannot be a tensor descriptor",
                    "use its methods, for instance desc.load(offsets)");
  if (object.isRecord(blockPointerName))
    evaluation.fail(Diagnostic::Kind::Type, "`pointer` cannot be a block pointer here",
                    "block pointers are only loaded from and stored to");
  if (!object.isValue() || !object.value().type().isPointerLike())
    evaluation.fail(Diagnostic::Kind::Type,
                    "`pointer` must be a pointer or a tensor of pointers, not " + describe(object),
                    object.isValue() && object.value().type().isInteger()
                        ? "an address held in an integer becomes a pointer with x.to(tl.pointer_type(tl.float32))"
                        : "");
  return object.value();
}

Value maskArgument(Evaluation &evaluation, const Object &object) {
  if (object.isNone())
    return Value();
  Value mask = object.isNumber() ? toValue(evaluation, object, object.isFloat() ? Type() : int1())
                                 : valueArgument(evaluation, object, "mask");
  if (!mask.type().isBool())
    evaluation.fail(Diagnostic::Kind::Type, "`mask` must be int1, not " + describe(object), "write mask != 0");
  return mask;
}

void requireWritable(Evaluation &evaluation, const Value &pointer) {
  if (pointer.type().scalarType().isConst())
    evaluation.fail(Diagnostic::Kind::Type, "cannot write through a const pointer");
}

Value bytePointer(Evaluation &evaluation, Value pointer) {
  Type type = pointer.type().scalarType();
  return castTo(evaluation, pointer, Type::pointer(int8(), type.isConst(), type.addressSpace()));
}

void rejectBlockForScalarPointer(Evaluation &evaluation, const char *name, const Value &value) {
  evaluation.fail(Diagnostic::Kind::Value,
                  std::string("`") + name + "` has shape " + shapeText(value.type().shape()) +
                      ", but `pointer` is a scalar",
                  "make a tensor of pointers, e.g. pointer + tl.arange(0, N)");
}

Value fitToPointer(Evaluation &evaluation, const Value &pointer, const Value &part, const char *name) {
  if (!pointer.type().isBlock() && part.type().isBlock())
    rejectBlockForScalarPointer(evaluation, name, part);
  Value grown = unifyShapes(evaluation, pointer, part).second;
  if (grown.type().shape() != pointer.type().shape())
    evaluation.fail(Diagnostic::Kind::Value, std::string("`") + name + "` of shape " + shapeText(part.type().shape()) +
                                                 " does not fit pointers of shape " +
                                                 shapeText(pointer.type().shape()));
  return grown;
}

namespace {

void rejectBlockPointers(Evaluation &evaluation, const Object &boundaryCheck, const Object &paddingOption) {
  bool isUsed = (boundaryCheck.isTuple() && !boundaryCheck.tuple().items.empty()) || boundaryCheck.isInt() ||
                (paddingOption.isString() && !paddingOption.as<std::string>().empty());
  if (isUsed)
    evaluation.fail(Diagnostic::Kind::Unsupported, "`boundary_check` and `padding_option` belong to block pointers",
                    "with plain pointers use mask= and other=");
}

EvictionPolicy evictionArgument(Evaluation &evaluation, const Object &object) {
  int choice = choiceArgument(evaluation, object, {"evict_normal", "evict_first", "evict_last"}, 0, "eviction_policy");
  return static_cast<EvictionPolicy>(choice);
}

Object load(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  LoadOptions options = loadOptions(evaluation, arguments[5], arguments[6]);
  options.isVolatile = boolArgument(evaluation, arguments[7], "volatile");
  if (isBlockPointer(arguments[0]))
    return loadBlock(evaluation, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], options);
  Value pointer = pointerArgument(evaluation, arguments[0]);
  Value mask = maskArgument(evaluation, arguments[1]);
  rejectBlockPointers(evaluation, arguments[3], arguments[4]);
  if (!mask && !arguments[2].isNone())
    evaluation.fail(Diagnostic::Kind::Argument, "`other` is given without `mask`",
                    "`other` is what masked-off elements read as");
  return loadTile(evaluation, pointer, mask, arguments[2], options);
}

Object store(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  StoreOptions options = storeOptions(evaluation, arguments[4], arguments[5]);
  if (isBlockPointer(arguments[0])) {
    storeBlock(evaluation, arguments[0], arguments[1], arguments[2], arguments[3], options);
    return Object();
  }
  Value pointer = pointerArgument(evaluation, arguments[0]);
  requireWritable(evaluation, pointer);
  rejectBlockPointers(evaluation, arguments[3], Object());
  storeTile(evaluation, pointer, arguments[1], maskArgument(evaluation, arguments[2]), options);
  return Object();
}

} // namespace

LoadOptions loadOptions(Evaluation &evaluation, const Object &cacheModifier, const Object &evictionPolicy) {
  LoadOptions options;
  static constexpr CacheModifier modifiers[] = {CacheModifier::CA, CacheModifier::CG, CacheModifier::CS,
                                                CacheModifier::CV};
  int modifier = choiceArgument(evaluation, cacheModifier, {".ca", ".cg", ".cs", ".cv"}, -1, "cache_modifier");
  options.cache = modifier < 0 ? CacheModifier::None : modifiers[modifier];
  options.eviction = evictionArgument(evaluation, evictionPolicy);
  return options;
}

StoreOptions storeOptions(Evaluation &evaluation, const Object &cacheModifier, const Object &evictionPolicy) {
  StoreOptions options;
  static constexpr CacheModifier modifiers[] = {CacheModifier::WB, CacheModifier::CG, CacheModifier::CS,
                                                CacheModifier::WT};
  int modifier = choiceArgument(evaluation, cacheModifier, {".wb", ".cg", ".cs", ".wt"}, -1, "cache_modifier");
  options.cache = modifier < 0 ? CacheModifier::None : modifiers[modifier];
  options.eviction = evictionArgument(evaluation, evictionPolicy);
  return options;
}

Object loadTile(Evaluation &evaluation, Value pointer, Value mask, const Object &otherObject,
                const LoadOptions &options) {
  bool isBool = pointer.type().scalarType().element().isBool();
  if (isBool)
    pointer = bytePointer(evaluation, pointer);
  Type element = pointer.type().scalarType().element();
  Value other = otherObject.isNone() ? Value() : convertOperand(evaluation, otherObject, element);
  if (!pointer.type().isBlock()) {
    if (mask && mask.type().isBlock())
      rejectBlockForScalarPointer(evaluation, "mask", mask);
    if (other && other.type().isBlock())
      rejectBlockForScalarPointer(evaluation, "other", other);
  }
  // The pointers grow to the shape of the mask and of `other`.
  Values parts{pointer};
  for (const Value &part : {mask, other})
    if (part)
      parts.push_back(part);
  parts = broadcastTogether(evaluation, parts);
  Value result = evaluation.builder().load(parts[0], mask ? parts[1] : Value(), other ? parts[2] : Value(), options);
  return isBool ? castTo(evaluation, result, int1()) : result;
}

void storeTile(Evaluation &evaluation, Value pointer, const Object &valueObject, Value mask,
               const StoreOptions &options) {
  Value value = convertOperand(evaluation, valueObject, pointer.type().scalarType().element());
  if (value.type().isBool()) {
    pointer = bytePointer(evaluation, pointer);
    value = castTo(evaluation, value, int8());
  }
  value = fitToPointer(evaluation, pointer, value, "value");
  if (mask)
    mask = fitToPointer(evaluation, pointer, mask, "mask");
  evaluation.builder().store(pointer, value, mask, options);
}

void addMemory(Table &table) {
  table.section(languageModule, "memory");
  table.add("load(pointer: tensor, mask: tensor = None, other: tensor = None, boundary_check: constexpr tuple = None, "
            "padding_option: constexpr str = \"\", cache_modifier: constexpr str = \"\", eviction_policy: constexpr "
            "str = \"\", "
            "volatile: constexpr bool = False)",
            "Reads memory: the result has the pointers' shape and their element type.\n\n"
            "pointer: a pointer or a tensor of pointers; it grows to the mask's shape.\n"
            "mask: int1; where it is false nothing is read.\n"
            "other: what masked-off elements read as, 0 when left out; needs mask.\n"
            "boundary_check, padding_option: for block pointers.\n"
            "cache_modifier: a hint: \".ca\", \".cg\", \".cs\" or \".cv\".\n"
            "eviction_policy: a hint: \"evict_first\" or \"evict_last\".\n"
            "volatile: read exactly here, once, in order.",
            load);
  table.add("store(pointer: tensor, value: tensor, mask: tensor = None, boundary_check: constexpr tuple = None, "
            "cache_modifier: constexpr str = \"\", eviction_policy: constexpr str = \"\")",
            "Writes memory. The value is converted to the pointers' element type.\n\n"
            "pointer: a pointer or a tensor of pointers; never broadcast.\n"
            "value: what to write; broadcast to the pointers' shape.\n"
            "mask: int1; where it is false nothing is written.\n"
            "boundary_check: for block pointers.\n"
            "cache_modifier: a hint: \".wb\", \".cg\", \".cs\" or \".wt\".\n"
            "eviction_policy: a hint: \"evict_first\" or \"evict_last\".",
            store, Table::method);
  addBlockPointers(table);
  addTensorDescriptors(table);
}

} // namespace nacre
