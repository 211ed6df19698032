// One elementwise operation on register values. Small floats only convert here: widen-small-floats has been, and
// functions of the math dialect are kept for expand-math.
#include "compiler/ir/tile/RoundedArithmetic.h"
#include "compiler/passes/cpu/Lowering.h"
#include "compiler/passes/tile/LegalizeIntegers.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

// `element` in the shape of `like`: a vector of its width, or the scalar.
static Type shaped(Emit &b, Type element, Value like) {
  auto vector = dyn_cast<VectorType>(like.getType());
  return vector ? Type(b.vectorType(element, vector.getDimSize(0))) : element;
}

// The same operation on other operands and result types. Where an approximation is allowed, this target computes the
// exact result all the same: it is as fast, and LLVM's own estimates are not as good.
static Operation *rebuild(Emit &b, Operation *op, ArrayRef<Value> operands, ArrayRef<Type> results) {
  Operation *built = Operation::create(op->getLoc(), op->getName(), results, operands,
                                       op->getDiscardableAttrDictionary(), op->getPropertiesStorage(), BlockRange(), 0);
  if (auto fast = dyn_cast<arith::ArithFastMathInterface>(built); fast && fast.getFastMathFlagsAttr())
    built->setAttr(fast.getFastMathAttrName(),
                   arith::FastMathFlagsAttr::get(b.getContext(), arith::FastMathFlags::none));
  built->removeDiscardableAttr(tile::roundedAttribute); // LLVM's operations have no such attribute
  b.insert(built);
  return built;
}

Value Lowering::elementwise(Operation *op, unsigned result, ArrayRef<Value> operands) {
  Type element = getElementTypeOrSelf(op->getResult(result).getType());
  Type resultType = shaped(b, registerType(element), operands.back());
  Type from = getElementTypeOrSelf(op->getOperand(0).getType());

  if (isa<tile::HintOp>(op))
    return operands[0];
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return convertFloat(b, operands[0], from, element, tile::Rounding::NearestEven);
  if (auto cast = dyn_cast<tile::FpCastOp>(op))
    return convertFloat(b, operands[0], from, element, cast.getRounding());
  if (isa<tile::BitcastOp, arith::BitcastOp>(op)) {
    if (operands[0].getType() == resultType)
      return operands[0];
    return arith::BitcastOp::create(b, resultType, operands[0]);
  }
  if (isa<tile::PtrToIntOp>(op)) {
    Value wide = LLVM::PtrToIntOp::create(b, shaped(b, b.getI64Type(), operands[0]), operands[0]);
    if (element.isInteger(1))
      return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, wide, b.zero(wide.getType()));
    return element.isInteger(64) ? wide : Value(arith::TruncIOp::create(b, resultType, wide));
  }
  if (isa<tile::IntToPtrOp>(op))
    return LLVM::IntToPtrOp::create(b, resultType, operands[0]);
  if (isa<tile::AddPtrOp>(op)) {
    int64_t size = byteSize(cast<tile::PointerType>(element).getPointee());
    Value offset = b.toI64(operands[1]);
    if (size != 1) {
      if (auto vector = dyn_cast<VectorType>(offset.getType()))
        offset = arith::MulIOp::create(b, offset, b.constant(vector, size));
      else
        offset = b.mul(offset, b.index(size));
    }
    return b.offsetBytes(operands[0], offset);
  }
  if (isa<arith::SelectOp>(op))
    return b.select(operands[0], operands[1], operands[2]);
  if (operands.size() == 2)
    if (Value value = legalInteger(b, op, operands[0], operands[1]))
      return value;

  SmallVector<Type> results;
  for (Type type : op->getResultTypes())
    results.push_back(shaped(b, registerType(getElementTypeOrSelf(type)), operands.back()));
  return rebuild(b, op, operands, results)->getResult(result);
}

// A region that branches or loops runs for one lane after the other.
SmallVector<Value> Lowering::combineLanes(Block &block, ArrayRef<Value> arguments) {
  auto vector = dyn_cast<VectorType>(arguments.front().getType());
  int64_t lanes = vector ? vector.getDimSize(0) : 1;
  SmallVector<Value> results;
  for (int64_t lane = 0; lane < lanes && !failed; ++lane) {
    for (auto [argument, value] : llvm::zip(block.getArguments(), arguments))
      scalars[argument] = vector ? b.lane(value, lane) : value;
    lowerBlock(block);
    if (failed)
      break;
    for (auto [i, yielded] : llvm::enumerate(block.getTerminator()->getOperands())) {
      Value value = scalar(yielded);
      if (lane == 0)
        results.push_back(vector ? b.zero(arguments[i].getType()) : value);
      if (vector)
        results[i] = vector::InsertOp::create(b, value, results[i], lane);
    }
    releaseBlock(&block);
  }
  return failed ? SmallVector<Value>(arguments.take_front(arguments.size() / 2)) : results;
}

SmallVector<Value> Lowering::combine(Region &region, ArrayRef<Value> arguments) {
  Block &block = region.front();
  if (holdsControl(block))
    return combineLanes(block, arguments);
  DenseMap<Value, Value> values;
  for (auto [argument, value] : llvm::zip(block.getArguments(), arguments))
    values[argument] = value;
  auto vector = dyn_cast<VectorType>(arguments.front().getType());
  auto lookup = [&](Value value) {
    auto found = values.find(value);
    if (found != values.end())
      return found->second;
    Value outside = scalar(value);
    return vector ? b.splat(outside, vector.getDimSize(0)) : outside;
  };
  for (Operation &op : block.without_terminator()) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      Value value = constantScalar(constant.getValue(), constant.getType());
      values[constant] = vector ? b.splat(value, vector.getDimSize(0)) : value;
      continue;
    }
    if (auto assertion = dyn_cast<tile::AssertOp>(op)) {
      reportUnless(&op, lookup(assertion.getCondition()));
      continue;
    }
    if (!isElementwise(&op)) {
      (void)fail(&op, "a combine function may hold only elementwise operations");
      return SmallVector<Value>(arguments.take_front(arguments.size() / 2));
    }
    SmallVector<Value> operands;
    for (Value operand : op.getOperands())
      operands.push_back(lookup(operand));
    for (OpResult result : op.getResults())
      values[result] = elementwise(&op, result.getResultNumber(), operands);
  }
  SmallVector<Value> results;
  for (Value value : block.getTerminator()->getOperands())
    results.push_back(lookup(value));
  return results;
}

Value Lowering::constantScalar(Attribute value, Type element) {
  Type type = registerType(element);
  if (auto number = dyn_cast<IntegerAttr>(value))
    return arith::ConstantOp::create(b, IntegerAttr::get(type, number.getValue()));
  APFloat number = cast<FloatAttr>(value).getValue();
  if (isa<IntegerType>(type))
    return arith::ConstantOp::create(b, IntegerAttr::get(type, number.bitcastToAPInt()));
  return arith::ConstantOp::create(b, FloatAttr::get(type, number));
}
