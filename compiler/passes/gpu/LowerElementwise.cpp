// Elementwise operations, constants and aranges on registers. Arithmetic on floats under 32 bits is done in f32 and
// rounded once.
#include "compiler/ir/tile/RoundedArithmetic.h"
#include "compiler/passes/gpu/Lowering.h"
#include "compiler/passes/tile/ConvertFloat.h"
#include "compiler/passes/tile/ExpandMath.h"
#include "compiler/passes/tile/FloatRemainder.h"
#include "compiler/passes/tile/LegalizeIntegers.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

static bool isSmallFloat(Type element) {
  return isa<tile::Float8E4B15Type>(element) || (isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32);
}

// The same operation on scalars. Multiplications and additions of the kernel itself may be contracted, where it allows
// that. Operations marked `rounded` and the internals of expanded functions must not be.
static Operation *rebuild(simt::Builder &b, Operation *op, ArrayRef<Value> operands, ArrayRef<Type> results,
                          bool mayFuse) {
  Operation *built = Operation::create(b.getLoc(), op->getName(), results, operands, op->getDiscardableAttrDictionary(),
                                       op->getPropertiesStorage(), BlockRange(), 0);
  bool isRounded = built->removeDiscardableAttr(tile::roundedAttribute) != nullptr;
  if (mayFuse && !isRounded && isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(op)) {
    auto flags = cast<arith::ArithFastMathInterface>(built);
    built->setAttr(flags.getFastMathAttrName(),
                   arith::FastMathFlagsAttr::get(b.getContext(), flags.getFastMathFlagsAttr().getValue() |
                                                                     arith::FastMathFlags::contract));
  }
  b.insert(built);
  return built;
}

// A value as another one and a constant that is added to it.
static std::pair<Value, llvm::APInt> withoutConstant(Value value) {
  auto constantOf = [](Value operand) -> std::optional<llvm::APInt> {
    llvm::APInt number;
    return matchPattern(operand, m_ConstantInt(&number)) ? std::optional(number) : std::nullopt;
  };
  if (auto either = value.getDefiningOp<LLVM::OrOp>(); either && either.getIsDisjoint())
    if (std::optional<llvm::APInt> number = constantOf(either.getRhs()))
      return {either.getLhs(), *number};
  if (auto sum = value.getDefiningOp<LLVM::AddOp>())
    if (std::optional<llvm::APInt> number = constantOf(sum.getRhs()))
      return {sum.getLhs(), *number};
  return {value, llvm::APInt::getZero(value.getType().getIntOrFloatBitWidth())};
}

// Sums wrap, so that they may be made in any order: what tells a tile's registers apart is added last. Their addresses
// are then one for all of them, and a constant.
static Value sumOf(simt::Builder &b, Value left, Value right) {
  auto [leftRest, leftNumber] = withoutConstant(left);
  auto [rightRest, rightNumber] = withoutConstant(right);
  llvm::APInt number = leftNumber + rightNumber;
  Value sum = LLVM::AddOp::create(b, leftRest, rightRest);
  if (number.isZero())
    return sum;
  return LLVM::AddOp::create(b, sum,
                             LLVM::ConstantOp::create(b, sum.getType(), IntegerAttr::get(sum.getType(), number)));
}

Value Lowering::elementwise(Operation *op, unsigned result, ArrayRef<Value> operands) {
  Type element = getElementTypeOrSelf(op->getResult(result).getType());
  Type type = registerType(element);
  Type from = op->getNumOperands() ? getElementTypeOrSelf(op->getOperand(0).getType()) : Type();

  if (isa<tile::HintOp>(op))
    return operands[0];
  if (isa<ub::PoisonOp>(op))
    return LLVM::PoisonOp::create(b, type);
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return convertFloat(operands[0], from, element, tile::Rounding::NearestEven);
  if (auto cast = dyn_cast<tile::FpCastOp>(op))
    return convertFloat(operands[0], from, element, cast.getRounding());
  if (isa<tile::BitcastOp, arith::BitcastOp, tile::PtrToIntOp, tile::IntToPtrOp>(op))
    return bitcast(operands[0], type);
  if (auto addition = dyn_cast<tile::AddPtrOp>(op)) {
    Type pointee = cast<tile::PointerType>(element).getPointee();
    return LLVM::GEPOp::create(b, type, memoryType(pointee), operands[0], ArrayRef<LLVM::GEPArg>{operands[1]});
  }
  if (isa<arith::SelectOp>(op))
    return LLVM::SelectOp::create(b, operands[0], operands[1], operands[2]);
  if (isa<arith::AddIOp>(op))
    return sumOf(b, operands[0], operands[1]);
  if (Value value = machine.compute(b, op, operands))
    return value;
  if (operands.size() == 2) // division and shifts have an answer for every operand
    if (Value value = legalInteger(b, op, operands[0], operands[1]))
      return value;

  Type f32 = b.getF32Type();
  SmallVector<Value> widened(operands);
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    Type narrow = getElementTypeOrSelf(operand.getType());
    if (isSmallFloat(narrow))
      widened[i] = convertFloat(operands[i], narrow, f32, tile::Rounding::NearestEven);
  }
  Value value;
  if (isa_and_nonnull<math::MathDialect>(op->getDialect()))
    value = expandMath(b, op, widened);
  if (isa<arith::RemFOp>(op))
    value = floatRemainder(b, widened[0], widened[1]);
  if (!value) {
    SmallVector<Type> types;
    for (Type resultType : op->getResultTypes()) {
      Type resultElement = getElementTypeOrSelf(resultType);
      types.push_back(isSmallFloat(resultElement) ? f32 : registerType(resultElement));
    }
    value = rebuild(b, op, widened, types, mayFuse)->getResult(result);
  }
  if (isSmallFloat(element) && value.getType() == f32)
    return convertFloat(value, f32, element, tile::Rounding::NearestEven);
  return value;
}

LogicalResult Lowering::lowerElementwise(Operation *op) {
  if (auto assembly = dyn_cast<tile::InlineAsmOp>(op))
    return lowerInlineAsm(assembly);
  if (auto call = dyn_cast<tile::ExternalCallOp>(op))
    return lowerExternalCall(call);
  for (OpResult result : op->getResults()) {
    unsigned count = registerCount(result.getType());
    SmallVector<Value> results;
    for (unsigned reg = 0; reg < count; ++reg) {
      SmallVector<Value> operands;
      for (Value operand : op->getOperands()) {
        ArrayRef<Value> all = registers(operand);
        operands.push_back(all.size() == 1 ? all.front() : all[reg]); // a scalar condition of a select goes for all
      }
      Value value = elementwise(op, result.getResultNumber(), operands);
      if (!value)
        return failure();
      results.push_back(value);
    }
    define(result, results);
  }
  return success();
}

Value Lowering::convertFloat(Value value, Type from, Type to, tile::Rounding rounding) {
  if (from == to)
    return value;
  if (Value converted = machine.convertFloat(b, value, from, to, rounding))
    return converted;
  auto isHalf = [](Type type) { return type.isF16() || type.isBF16(); };
  if (isHalf(from) && (to.isF32() || to.isF64()))
    return LLVM::FPExtOp::create(b, to, value);
  if (from.isF32() && isHalf(to) && rounding == tile::Rounding::NearestEven)
    return LLVM::FPTruncOp::create(b, to, value);
  // By integer arithmetic, where bf16 is its bits.
  if (from.isBF16())
    value = bitcast(value, b.getI16Type());
  return bitcast(nacre::convertFloat(b, value, from, to, rounding), registerType(to));
}

// ---- Constants

static Value constantOf(Lowering &lowering, Attribute value, Type element) {
  Type type = lowering.registerType(element);
  llvm::APInt bits = isa<IntegerAttr>(value) ? cast<IntegerAttr>(value).getValue()
                                             : cast<FloatAttr>(value).getValue().bitcastToAPInt();
  if (isa<IntegerType>(type))
    return LLVM::ConstantOp::create(lowering.b, type, IntegerAttr::get(type, bits));
  return LLVM::ConstantOp::create(lowering.b, type, cast<TypedAttr>(value));
}

LogicalResult Lowering::lowerConstant(arith::ConstantOp op) {
  auto tensor = dyn_cast<RankedTensorType>(op.getType());
  if (!tensor) {
    define(op, constantOf(*this, op.getValue(), op.getType()));
    return success();
  }
  auto dense = cast<DenseElementsAttr>(op.getValue());
  Type element = tensor.getElementType();
  unsigned count = registerCount(tensor);
  if (dense.isSplat()) {
    define(op, SmallVector<Value>(count, constantOf(*this, dense.getSplatValue<Attribute>(), element)));
    return success();
  }
  // Different elements: each thread reads its own from an array in constant memory.
  SmallVector<Attribute> elements;
  for (Attribute value : dense.getValues<Attribute>()) {
    llvm::APInt bits = isa<IntegerAttr>(value) ? cast<IntegerAttr>(value).getValue()
                                               : cast<FloatAttr>(value).getValue().bitcastToAPInt();
    unsigned width = 8 * byteSize(element);
    elements.push_back(IntegerAttr::get(b.getIntegerType(width), bits.zextOrTrunc(width)));
  }
  Type word = b.getIntegerType(8 * byteSize(element));
  auto values = DenseElementsAttr::get(RankedTensorType::get({tensor.getNumElements()}, word), elements);
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  std::string name = "constants." + std::to_string(std::distance(module.getBody()->begin(), module.getBody()->end()));
  auto global =
      LLVM::GlobalOp::create(builder, builder.getUnknownLoc(), LLVM::LLVMArrayType::get(word, tensor.getNumElements()),
                             /*isConstant=*/true, LLVM::Linkage::Internal, name, values, byteSize(element));
  Value address = LLVM::AddressOfOp::create(b, LLVM::LLVMPointerType::get(b.getContext()), global.getSymName());
  SmallVector<Value> results;
  for (unsigned reg = 0; reg < count; ++reg) {
    Value index = elementIndex(tensor, reg);
    if (Value inside = isInside(tensor, reg))
      index = LLVM::SelectOp::create(b, inside, index, i32(0));
    Value place = LLVM::GEPOp::create(b, address.getType(), word, address, ArrayRef<LLVM::GEPArg>{index});
    Value loaded = LLVM::LoadOp::create(b, word, place, byteSize(element));
    results.push_back(element.isInteger(1) ? fromMemory(loaded, element) : bitcast(loaded, registerType(element)));
  }
  define(op, results);
  return success();
}

LogicalResult Lowering::lowerArange(tile::ArangeOp op) {
  Type element = cast<RankedTensorType>(op.getType()).getElementType();
  SmallVector<Value> results;
  for (unsigned reg = 0; reg < registerCount(op.getType()); ++reg) {
    Value index = coordinate(layoutOf(op.getType()), reg, 0);
    if (op.getStart() != 0)
      index = LLVM::AddOp::create(b, index, i32(op.getStart()));
    if (element.getIntOrFloatBitWidth() > 32)
      index = LLVM::SExtOp::create(b, element, index);
    else if (element.getIntOrFloatBitWidth() < 32)
      index = LLVM::TruncOp::create(b, element, index);
    results.push_back(index);
  }
  define(op, results);
  return success();
}
