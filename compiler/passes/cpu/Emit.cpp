// Building blocks of the emitted loops. See Emit.h.
#include "compiler/passes/cpu/Emit.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

Type nacre::cpu::registerType(Type element) {
  if (isa<tile::PointerType>(element))
    return LLVM::LLVMPointerType::get(element.getContext());
  if (element.isBF16())
    return IntegerType::get(element.getContext(), 16);
  if (isa<tile::Float8E4B15Type>(element) || (isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8))
    return IntegerType::get(element.getContext(), 8);
  return element;
}

Type nacre::cpu::memoryType(Type element) {
  return element.isInteger(1) ? IntegerType::get(element.getContext(), 8) : registerType(element);
}

int64_t nacre::cpu::byteSize(Type element) {
  Type memory = memoryType(element);
  return isa<LLVM::LLVMPointerType>(memory) ? 8 : memory.getIntOrFloatBitWidth() / 8;
}

Value Emit::constant(Type type, int64_t value) {
  Type element = getElementTypeOrSelf(type);
  auto attribute =
      IntegerAttr::get(element, APInt(element.getIntOrFloatBitWidth(), static_cast<uint64_t>(value), true, true));
  if (auto vector = dyn_cast<VectorType>(type))
    return arith::ConstantOp::create(*this, DenseElementsAttr::get(vector, attribute.getValue()));
  return arith::ConstantOp::create(*this, attribute);
}

Value Emit::constantFloat(Type type, double value) {
  Type element = getElementTypeOrSelf(type);
  auto attribute = FloatAttr::get(element, value);
  if (auto vector = dyn_cast<VectorType>(type))
    return arith::ConstantOp::create(*this, DenseElementsAttr::get(vector, attribute.getValue()));
  return arith::ConstantOp::create(*this, attribute);
}

Value Emit::zero(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (isa<FloatType>(element))
    return constantFloat(type, 0.0);
  if (isa<IntegerType>(element))
    return constant(type, 0);
  return LLVM::ZeroOp::create(*this, type);
}

std::optional<int64_t> Emit::known(Value value) {
  APInt constant;
  if (value && matchPattern(value, m_ConstantInt(&constant)) && constant.getBitWidth() <= 64)
    return constant.getSExtValue();
  return std::nullopt;
}

Value Emit::add(Value a, Value b) {
  if (isKnown(a, 0))
    return b;
  if (isKnown(b, 0))
    return a;
  if (known(a) && known(b))
    return constant(a.getType(), *known(a) + *known(b));
  return arith::AddIOp::create(*this, a, b);
}

Value Emit::sub(Value a, Value b) {
  if (isKnown(b, 0))
    return a;
  if (known(a) && known(b))
    return constant(a.getType(), *known(a) - *known(b));
  return arith::SubIOp::create(*this, a, b);
}

Value Emit::mul(Value a, Value b) {
  if (isKnown(a, 1) || isKnown(b, 0))
    return b;
  if (isKnown(b, 1) || isKnown(a, 0))
    return a;
  if (known(a) && known(b))
    return constant(a.getType(),
                    static_cast<int64_t>(static_cast<uint64_t>(*known(a)) * static_cast<uint64_t>(*known(b))));
  return arith::MulIOp::create(*this, a, b);
}

Value Emit::minSigned(Value a, Value b) {
  if (known(a) && known(b))
    return *known(a) <= *known(b) ? a : b;
  return arith::MinSIOp::create(*this, a, b);
}

Value Emit::maxSigned(Value a, Value b) {
  if (known(a) && known(b))
    return *known(a) >= *known(b) ? a : b;
  return arith::MaxSIOp::create(*this, a, b);
}

Value Emit::toI64(Value value, bool isSigned) {
  Type element = getElementTypeOrSelf(value.getType());
  Type wide = getI64Type();
  if (element == wide)
    return value;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    wide = vectorType(wide, vector.getDimSize(0));
  else if (auto constantValue = known(value))
    return index(isSigned ? *constantValue
                          : static_cast<int64_t>(
                                APInt(element.getIntOrFloatBitWidth(), *constantValue, true, true).getZExtValue()));
  if (isSigned)
    return arith::ExtSIOp::create(*this, wide, value);
  return arith::ExtUIOp::create(*this, wide, value);
}

Value Emit::resize(Value value, Type type) {
  unsigned from = value.getType().getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
  if (from == to)
    return value;
  if (auto constantValue = known(value))
    return constant(type, *constantValue);
  if (to > from)
    return arith::ExtSIOp::create(*this, type, value);
  return arith::TruncIOp::create(*this, type, value);
}

Value Emit::select(Value condition, Value a, Value b) {
  if (auto constantCondition = known(condition); constantCondition && !isa<VectorType>(condition.getType()))
    return *constantCondition ? a : b;
  if (a == b)
    return a;
  // arith.select of LLVM pointers is not legal in every lowering; llvm.select is.
  if (isa<LLVM::LLVMPointerType>(getElementTypeOrSelf(a.getType())))
    return LLVM::SelectOp::create(*this, condition, a, b);
  return arith::SelectOp::create(*this, condition, a, b);
}

Value Emit::offsetBytes(Value pointer, Value bytes) {
  if (isKnown(bytes, 0) && !isa<VectorType>(bytes.getType()))
    return pointer;
  Type result = pointer.getType();
  if (auto vector = dyn_cast<VectorType>(bytes.getType()); vector && !isa<VectorType>(result))
    result = VectorType::get(vector.getShape(), result);
  return LLVM::GEPOp::create(*this, result, getI8Type(), pointer, ArrayRef<LLVM::GEPArg>{bytes});
}

void Emit::loop(int64_t count, llvm::function_ref<void(Value)> body) {
  if (count == 0)
    return;
  if (count == 1)
    return body(index(0));
  auto loop = scf::ForOp::create(*this, index(0), index(count), index(1));
  InsertionGuard guard(*this);
  setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

Value Emit::load(Type type, Value pointer, int64_t alignment, bool isVolatile) {
  return LLVM::LoadOp::create(*this, type, pointer, alignment, isVolatile);
}

void Emit::store(Value value, Value pointer, int64_t alignment, bool isVolatile) {
  LLVM::StoreOp::create(*this, value, pointer, alignment, isVolatile);
}

Value Emit::splat(Value scalar, int64_t width) {
  if (auto constantValue = known(scalar))
    return constant(vectorType(scalar.getType(), width), *constantValue);
  return vector::BroadcastOp::create(*this, vectorType(scalar.getType(), width), scalar);
}

Value Emit::iota(Type element, int64_t width) {
  SmallVector<APInt> values;
  for (int64_t i = 0; i < width; ++i)
    values.emplace_back(element.getIntOrFloatBitWidth(), i, true, true);
  return arith::ConstantOp::create(*this, DenseElementsAttr::get(vectorType(element, width), values));
}

Value Emit::lane(Value vector, int64_t index) { return vector::ExtractOp::create(*this, vector, index); }

Value Emit::slice(Value vector, int64_t offset, int64_t width) {
  if (cast<VectorType>(vector.getType()).getDimSize(0) == width)
    return vector;
  return vector::ExtractStridedSliceOp::create(*this, vector, ArrayRef<int64_t>{offset}, ArrayRef<int64_t>{width},
                                               ArrayRef<int64_t>{1});
}

Value Emit::fromMemory(Value value, Type element) {
  if (!element.isInteger(1))
    return value;
  return arith::CmpIOp::create(*this, arith::CmpIPredicate::ne, value, zero(value.getType()));
}

Value Emit::toMemory(Value value, Type element) {
  if (!element.isInteger(1))
    return value;
  Type byte = getI8Type();
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    byte = vectorType(byte, vector.getDimSize(0));
  return arith::ExtUIOp::create(*this, byte, value);
}
