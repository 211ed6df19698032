// The types' own names (tl.constexpr, tl.pointer_type, ...) and what a dtype can be asked.
#include "compiler/language/builtins/Definitions.h"
#include "compiler/language/meaning/BlockView.h"
#include "llvm/ADT/bit.h"

namespace nacre {

namespace {

Object constexprOf(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  if (!arguments[0].isConstexpr())
    evaluation.fail(Diagnostic::Kind::Type,
                    "`value` is " + describe(arguments[0]) + ", which is known only at run time");
  return arguments[0];
}

Object tupleOf(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  if (!arguments[0].isTuple())
    evaluation.fail(Diagnostic::Kind::Type, "`args` must be a tuple or a list, not " + describe(arguments[0]));
  return Object::makeTuple(arguments[0].tuple().items);
}

Object dtypeOf(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  std::string name = stringArgument(evaluation, arguments[0], "name");
  if (Type type = typeNamed(name))
    return type;
  for (int kind = 0; kind <= static_cast<int>(ScalarKind::Float64); ++kind)
    if (Type type = Type::scalar(static_cast<ScalarKind>(kind)); type.str() == name)
      return type;
  evaluation.fail(Diagnostic::Kind::Value, "there is no type named " + arguments[0].repr());
}

Object pointerType(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Type element = typeArgument(evaluation, arguments[0], "element_ty");
  if (element.isBlock())
    evaluation.fail(Diagnostic::Kind::Type, "`element_ty` must be a scalar or a pointer, not " + element.str());
  return Type::pointer(element, boolArgument(evaluation, arguments[2], "const"),
                       static_cast<int>(integerArgument(evaluation, arguments[1], "address_space")));
}

Object blockType(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  return typeArgument(evaluation, arguments[0], "element_ty")
      .withShape(shapeArgument(evaluation, arguments[1], "shape"));
}

Object constexprTypeOf(Evaluation &, llvm::ArrayRef<Object> arguments) {
  return makeRecord(constexprTypeName, {"value"}, {arguments[0]});
}

Object onlyAType(Evaluation &evaluation, llvm::ArrayRef<Object>) {
  evaluation.fail(Diagnostic::Kind::Unsupported, "this names a type and cannot be called in a kernel");
}

Object integerType(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  bool isSigned = boolArgument(evaluation, arguments[1], "signed");
  switch (integerArgument(evaluation, arguments[0], "bitwidth")) {
  case 1:
    return int1();
  case 8:
    return isSigned ? int8() : uint8();
  case 16:
    return isSigned ? int16() : uint16();
  case 32:
    return isSigned ? int32() : uint32();
  case 64:
    return isSigned ? int64() : uint64();
  default:
    evaluation.fail(Diagnostic::Kind::Value, "there is no integer type of " + arguments[0].repr() + " bits");
  }
}

// The fields are given by name, which only whoever evaluates the call knows.
Object onlyWithFields(Evaluation &evaluation, llvm::ArrayRef<Object>) {
  evaluation.fail(Diagnostic::Kind::Unsupported, "the fields of an aggregate are the host's to replace");
}

Object floorLog2(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  int64_t value = integerArgument(evaluation, arguments[0], "i");
  if (value <= 0)
    evaluation.fail(Diagnostic::Kind::Value, "`i` must be positive, not " + std::to_string(value));
  return static_cast<int64_t>(llvm::Log2_64(static_cast<uint64_t>(value)));
}

Object isPowerOfTwo(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  int64_t value = integerArgument(evaluation, arguments[0], "i");
  return value > 0 && llvm::has_single_bit(static_cast<uint64_t>(value));
}

// Methods of a dtype
// -----------------------------------------------------------------------------------------------------

Type self(llvm::ArrayRef<Object> arguments) { return arguments[0].as<Type>(); }

template <bool (Type::*predicate)() const> Object ask(Evaluation &, llvm::ArrayRef<Object> arguments) {
  return (self(arguments).*predicate)();
}
template <ScalarKind kind> Object isKind(Evaluation &, llvm::ArrayRef<Object> arguments) {
  Type type = self(arguments).scalarType();
  return type.isScalar() && type.scalarKind() == kind;
}
Object isStandardFloating(Evaluation &, llvm::ArrayRef<Object> arguments) {
  return self(arguments).isFloating() && !self(arguments).isFp8();
}
Object isConstPointer(Evaluation &, llvm::ArrayRef<Object> arguments) {
  return self(arguments).isPointer() && self(arguments).isConst();
}

Object kindOf(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Type type = self(arguments);
  if (!type.isInteger() && !type.isFloating())
    evaluation.fail(Diagnostic::Kind::Type, type.str() + " has no kind");
  return type.isBool() ? 0 : type.isInteger() ? 1 : 2;
}

template <bool isLargest> Object integerLimit(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Type type = self(arguments).scalarType();
  if (!type.isInteger())
    evaluation.fail(Diagnostic::Kind::Type, type.str() + " is not an integer type");
  return isLargest ? largestInteger(type) : smallestInteger(type);
}

Object withElement(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  return self(arguments).withScalar(typeArgument(evaluation, arguments[1], "element_ty"));
}

Object blockShapes(Evaluation &, llvm::ArrayRef<Object> arguments) {
  Shape shape = self(arguments).shape();
  return Object::makeTuple(std::vector<Object>(shape.begin(), shape.end()));
}

} // namespace

void addTypes(Table &table) {
  table.section(languageModule, "types");
  table.add("constexpr(value: constexpr)",
            "A value known at compile time. As an annotation it marks a parameter that must be one.", constexprOf);
  table.add("constexpr_type(value: constexpr)", "The type of a constexpr, which its value tells: (3).type.",
            constexprTypeOf);
  table.add("tensor()", "The type of run-time values, for annotations and isinstance.", onlyAType);
  table.add("tensor_descriptor()", "The type of tensor descriptors, for annotations and isinstance.", onlyAType);
  table.add("const()", "Marks a pointer parameter that the kernel only reads.", onlyAType);
  table.add("tuple(args: tuple)", "A tuple of values, constexpr and run-time ones mixed.", tupleOf);
  addSlice(table);
  table.add("aggregate_replace(instance: aggregate, **fields: tensor)",
            "A copy of an aggregate with other values for the fields that are given by name.", onlyWithFields);
  table.add("dtype(name: constexpr str)", "The type of that name, as types print: \"fp32\", \"int8\".", dtypeOf);
  table.add("pointer_type(element_ty: dtype, address_space: constexpr int = 1, const: constexpr bool = False)",
            "The type of pointers to element_ty.\n\n"
            "address_space: 1 is global memory.\n"
            "const: pointers that are only read through.",
            pointerType);
  table.add("block_type(element_ty: dtype, shape: constexpr tuple)", "The type of tensors of this shape.", blockType);
  table.add("get_int_dtype(bitwidth: constexpr int, signed: constexpr bool)", "The integer type of that width.",
            integerType);
  table.add("_log2(i: constexpr int)", "The logarithm to base 2 of a constexpr, rounded down.", floorLog2);
  table.add("_is_power_of_two(i: constexpr int)", "Whether a constexpr is a power of two.", isPowerOfTwo);

  using enum ScalarKind;
  table.section(dtypeModule, "types");
  table.add("is_floating(self: dtype)", "Whether it is a float, fp8 included.", ask<&Type::isFloating>);
  table.add("is_standard_floating(self: dtype)", "Whether it is fp16, bf16, fp32 or fp64.", isStandardFloating);
  table.add("is_fp8(self: dtype)", "Whether it is one of the fp8 types.", ask<&Type::isFp8>);
  table.add("is_int(self: dtype)", "Whether it is an integer, int1 included.", ask<&Type::isInteger>);
  table.add("is_int_signed(self: dtype)", "Whether it is a signed integer.", ask<&Type::isSigned>);
  table.add("is_int_unsigned(self: dtype)", "Whether it is an unsigned integer, int1 included.",
            ask<&Type::isUnsigned>);
  table.add("is_bool(self: dtype)", "Whether it is int1.", ask<&Type::isBool>);
  table.add("is_ptr(self: dtype)", "Whether it is a pointer.", ask<&Type::isPointer>);
  table.add("is_block(self: dtype)", "Whether it is the type of a tensor.", ask<&Type::isBlock>);
  table.add("is_const(self: dtype)", "Whether it is a pointer that is only read through.", isConstPointer);
  table.add("is_void(self: dtype)", "Whether it is void.", isKind<Void>);
  table.add("is_int1(self: dtype)", "Whether it is int1.", isKind<Int1>);
  table.add("is_int8(self: dtype)", "Whether it is int8.", isKind<Int8>);
  table.add("is_int16(self: dtype)", "Whether it is int16.", isKind<Int16>);
  table.add("is_int32(self: dtype)", "Whether it is int32.", isKind<Int32>);
  table.add("is_int64(self: dtype)", "Whether it is int64.", isKind<Int64>);
  table.add("is_uint8(self: dtype)", "Whether it is uint8.", isKind<UInt8>);
  table.add("is_uint16(self: dtype)", "Whether it is uint16.", isKind<UInt16>);
  table.add("is_uint32(self: dtype)", "Whether it is uint32.", isKind<UInt32>);
  table.add("is_uint64(self: dtype)", "Whether it is uint64.", isKind<UInt64>);
  table.add("is_fp8e4nv(self: dtype)", "Whether it is fp8e4nv.", isKind<Float8E4NV>);
  table.add("is_fp8e5(self: dtype)", "Whether it is fp8e5.", isKind<Float8E5>);
  table.add("is_fp8e4b15(self: dtype)", "Whether it is fp8e4b15.", isKind<Float8E4B15>);
  table.add("is_fp8e4b8(self: dtype)", "Whether it is fp8e4b8.", isKind<Float8E4B8>);
  table.add("is_fp8e5b16(self: dtype)", "Whether it is fp8e5b16.", isKind<Float8E5B16>);
  table.add("is_fp16(self: dtype)", "Whether it is fp16.", isKind<Float16>);
  table.add("is_bf16(self: dtype)", "Whether it is bf16.", isKind<BFloat16>);
  table.add("is_fp32(self: dtype)", "Whether it is fp32.", isKind<Float32>);
  table.add("is_fp64(self: dtype)", "Whether it is fp64.", isKind<Float64>);
  table.add("kind(self: dtype)", "0 for int1, 1 for other integers, 2 for floats: the order of promotion.", kindOf);
  table.add("get_int_max_value(self: dtype)", "The largest number of an integer type.", integerLimit<true>);
  table.add("get_int_min_value(self: dtype)", "The smallest number of an integer type.", integerLimit<false>);
  table.add("with_element_ty(self: dtype, element_ty: dtype)", "The same shape with another element type.",
            withElement);
  table.add("get_block_shapes(self: dtype)", "The shape of a tensor's type.", blockShapes);
}

} // namespace nacre
