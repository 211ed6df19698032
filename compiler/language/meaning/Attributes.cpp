// x.name: what a tensor, a type, a tuple or a number can be asked.
#include "compiler/language/builtins/Definitions.h"
#include "compiler/language/builtins/StandardLibrary.h"
#include "compiler/language/meaning/BlockView.h"
#include "llvm/ADT/STLExtras.h"

namespace nacre {

namespace {

Object shapeTuple(Shape shape) { return Object::makeTuple(std::vector<Object>(shape.begin(), shape.end())); }

Object boundMethod(const Object &receiver, const Builtin *builtin, llvm::StringRef name) {
  return BoundMethod{builtin, name.str(), std::make_shared<const Object>(receiver)};
}

std::optional<Object> tensorMethod(const Object &receiver, llvm::StringRef name) {
  if (const Builtin *builtin = findMethod(name))
    return boundMethod(receiver, builtin, name);
  if (isStandardMethod(name))
    return boundMethod(receiver, nullptr, name);
  return std::nullopt;
}

std::optional<Object> tensorAttribute(Evaluation &evaluation, const Object &object, llvm::StringRef name) {
  Value value = object.value();
  Type type = value.type();
  if (name == "shape")
    return shapeTuple(type.shape());
  if (name == "dtype")
    return type.scalarType();
  if (name == "type")
    return type;
  if (name == "numel")
    return type.elementCount();
  if (name == "T") {
    if (type.rank() != 2)
      evaluation.fail(Diagnostic::Kind::Value, "x.T needs a tensor with two axes, not " + describe(object),
                      "use tl.permute");
    return evaluation.builder().permute(value, {1, 0});
  }
  return tensorMethod(object, name);
}

struct FloatFormat {
  int mantissa, bias;
};

FloatFormat floatFormat(ScalarKind kind) {
  switch (kind) {
  case ScalarKind::Float8E4NV:
    return {3, 7};
  case ScalarKind::Float8E5:
    return {2, 15};
  case ScalarKind::Float8E4B15:
    return {3, 15};
  case ScalarKind::Float8E4B8:
    return {3, 8};
  case ScalarKind::Float8E5B16:
    return {2, 16};
  case ScalarKind::Float16:
    return {10, 15};
  case ScalarKind::BFloat16:
    return {7, 127};
  case ScalarKind::Float32:
    return {23, 127};
  case ScalarKind::Float64:
    return {52, 1023};
  default:
    return {0, 0};
  }
}

Object names(std::initializer_list<const char *> list) {
  return Object::makeTuple(std::vector<Object>(list.begin(), list.end()));
}

std::optional<Object> typeAttribute(const Object &object, llvm::StringRef name) {
  Type type = object.as<Type>();
  if (name == "name")
    return type.str();
  if (name == "scalar")
    return type.scalarType();
  if (name == "element_ty" && !type.isScalar())
    return type.element();
  if (name == "shape" && type.isBlock())
    return shapeTuple(type.shape());
  if (name == "numel" && type.isBlock())
    return type.elementCount();
  if (name == "address_space" && type.isPointer())
    return type.addressSpace();
  if (name == "const" && type.isPointer())
    return type.isConst();
  if (name == "primitive_bitwidth" || (name == "int_bitwidth" && type.isInteger()))
    return type.bitWidth();
  if (name == "itemsize")
    return type.byteSize();
  if (name == "nbytes" && type.isBlock())
    return type.elementCount() * type.byteSize();
  if (type.isFloating() && name == "fp_mantissa_width")
    return floatFormat(type.scalarType().scalarKind()).mantissa;
  if (type.isFloating() && name == "exponent_bias")
    return floatFormat(type.scalarType().scalarKind()).bias;
  if (name == "SINT_TYPES")
    return names({"int8", "int16", "int32", "int64"});
  if (name == "UINT_TYPES")
    return names({"int1", "uint8", "uint16", "uint32", "uint64"});
  if (name == "FP_TYPES")
    return names({"fp8e4b15", "fp8e4nv", "fp8e4b8", "fp8e5", "fp8e5b16", "fp16", "bf16", "fp32", "fp64"});
  if (name == "STANDARD_FP_TYPES")
    return names({"fp16", "bf16", "fp32", "fp64"});
  if (name == "OTHER_TYPES")
    return names({"void"});
  if (const Builtin *builtin = findBuiltin(dtypeModule, name))
    return boundMethod(object, builtin, name);
  return std::nullopt;
}

// A number stands for the scalar it would become, so that an argument specialized to a constexpr still has x.dtype,
// x.to(...).
std::optional<Object> numberAttribute(Evaluation &evaluation, const Object &object, llvm::StringRef name) {
  if (name == "dtype")
    return numberType(evaluation, object);
  if (name == "shape")
    return Object::makeTuple({});
  if (name == "numel")
    return 1;
  return tensorMethod(object, name);
}

// Of a block pointer or a tensor descriptor, beside its fields.
std::optional<Object> viewAttribute(const Object &object, llvm::StringRef name) {
  BlockView view(object);
  bool isDescriptor = object.isRecord(descriptorName);
  if (!isDescriptor && (name == "dtype" || name == "type"))
    return view.base.type(); // kernels ask it for element_ty
  if (name == "dtype")
    return view.element();
  if (name == "type" || name == "block_type")
    return Type::block(view.element(), view.blockShape);
  const Builtin *builtin = isDescriptor                           ? findBuiltin(descriptorModule, name)
                           : name == "advance" || name == "store" ? findMethod(name)
                                                                  : nullptr;
  return builtin ? std::optional(boundMethod(object, builtin, name)) : std::nullopt;
}

} // namespace

std::optional<Object> attribute(Evaluation &evaluation, const Object &object, llvm::StringRef name) {
  if (object.isValue())
    return tensorAttribute(evaluation, object, name);
  if (object.isCompound()) {
    const TupleValue &tuple = object.tuple();
    for (auto [index, field] : llvm::enumerate(tuple.names))
      if (field == name)
        return tuple.items[index];
  }
  if (object.isRecord(descriptorName) || object.isRecord(blockPointerName))
    return viewAttribute(object, name);
  if (object.isRecord(constexprTypeName) && BlockView::field(object, "value").isNumber())
    return typeAttribute(numberType(evaluation, BlockView::field(object, "value")), name);
  if (name == "type" && (object.isNumber() || object.isString() || (object.isTuple() && object.isConstexpr())))
    return makeRecord(constexprTypeName, {"value"}, {object});
  // A constexpr's `.value` is itself: kernels written for Triton unwrap parameters this way.
  if (name == "value" && object.isConstexpr())
    return object;
  if (object.isType())
    return typeAttribute(object, name);
  if (object.isString())
    if (const Builtin *builtin = findBuiltin("str", name))
      return boundMethod(object, builtin, name);
  if (object.isInt())
    if (const Builtin *builtin = findBuiltin("int", name))
      return boundMethod(object, builtin, name);
  if (object.isNumber())
    return numberAttribute(evaluation, object, name);
  return std::nullopt;
}

} // namespace nacre
