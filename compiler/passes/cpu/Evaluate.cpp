// What a tile value is, lane by lane, inside a nest: index and pointer arithmetic in closed form, the rest on vectors.
#include "compiler/analysis/AccessForm.h"
#include "compiler/passes/cpu/Nest.h"
#include "compiler/passes/tile/LegalizeIntegers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

// Where code that depends on these levels goes: inside the innermost of their loops.
size_t Nest::positionOf(uint32_t levels) const {
  size_t position = 0;
  for (size_t i = 0; i < order.size(); ++i)
    if (levels & (1u << order[i]) && !(segment.beforeLanes && order[i] == lane))
      position = i + 1;
  return position;
}

Lanes Nest::evaluate(Value value, const Coordinates &coordinates) {
  if (!isTile(value))
    return Lanes::uniform(lowering.scalar(value));
  Key key{value, encode(coordinates)};
  uint32_t bits = dependencies(value, coordinates);
  size_t position = positionOf(bits);
  bool onLane = bits & (1u << lane);
  // Emitting may grow the list of positions; a map is looked up anew.
  auto known = [&]() -> DenseMap<Key, Lanes> & {
    return segment.beforeLanes && onLane ? *segment.beforeLanes : positions[position].known;
  };
  if (auto found = known().find(key); found != known().end())
    return found->second;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(positions[position].anchor);
  const Assumable *entry = nullptr;
  if (segment.assumption != Segment::Assumption::None && onLane)
    entry = llvm::find_if(assumable, [&](const Assumable &candidate) {
      return candidate.value == value && encode(candidate.coordinates) == key.second &&
             (segment.assumption != Segment::Assumption::Wrapped || candidate.kind == Assumable::Kind::Remainder);
    });
  Lanes lanes = entry && entry != assumable.end() ? assumed(*entry) : compute(value, coordinates);
  assert(areAsClassified(lanes, value, coordinates) && "evaluation emits what classification promised");
  known()[key] = lanes;
  return lanes;
}

Lanes Nest::compute(Value value, const Coordinates &coordinates) {
  if (const Buffer *buffer = bufferOf(value, coordinates))
    return readBuffer(*buffer, coordinates);
  Operation *op = value.getDefiningOp();
  assert(op && "a carried tile has a buffer");
  b.setLoc(op->getLoc());
  Type element = getElementTypeOrSelf(value.getType());

  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
    if (!splat) {
      (void)lowering.fail(op, "a constant tile of different elements is not supported");
      return Lanes::uniform(b.zero(registerType(element)));
    }
    return Lanes::uniform(lowering.constantScalar(splat.getSplatValue<Attribute>(), element));
  }
  if (auto splat = dyn_cast<tile::SplatOp>(op))
    return Lanes::uniform(lowering.scalar(splat.getSource()));
  if (isa<ub::PoisonOp>(op))
    return Lanes::uniform(b.zero(registerType(element)));
  if (auto arange = dyn_cast<tile::ArangeOp>(op)) {
    Value start = b.constant(element, arange.getStart());
    if (coordinates[0] < 0)
      return Lanes::uniform(start);
    Value index = indices[coordinates[0]];
    if (auto constantIndex = Emit::known(index))
      index = b.constant(element, *constantIndex);
    else if (element != b.getI64Type())
      index = arith::TruncIOp::create(b, element, index);
    Value first = b.add(start, index);
    if (coordinates[0] == lane && width > 1)
      return Lanes::linear(first, b.constant(element, 1));
    return Lanes::uniform(first);
  }
  if (movesElements(op))
    return evaluate(op->getOperand(0), operandCoordinates(op, coordinates));
  if (auto load = dyn_cast<tile::LoadOp>(op)) {
    assert(
        (llvm::is_contained(members, op) || lowering.plan.place(op) == Place::Deferred || lowering.isReadAgain(load)) &&
        "a load runs once");
    if (const AccessForm *form = splitAddresses.lookup(op); form && width > 1 && !segment.beforeLanes)
      return loadSplit(load, *form, coordinates);
    Lanes pointer = evaluate(load.getPointer(), coordinates);
    std::optional<Lanes> mask, other;
    if (load.getMask())
      mask = evaluate(load.getMask(), coordinates);
    if (load.getOther())
      other = evaluate(load.getOther(), coordinates);
    b.setLoc(op->getLoc());
    bool isAhead = llvm::is_contained(members, op) ? hasShortRows(byteSize(element))
                                                   : lowering.isReadAgain(load) && shape.size() == 1;
    if (isAhead && !segment.beforeLanes && segment.assumption != Segment::Assumption::Fails)
      prefetchNext(load.getResult(), load.getPointer(), pointer, coordinates, /*isWrite=*/false);
    return this->load(element, pointer, mask, other, load.getIsVolatile());
  }
  if (isElementwise(op))
    return computeElementwise(op, cast<OpResult>(value).getResultNumber(), coordinates);
  (void)lowering.fail(op, "this operation has no lowering to loops");
  return Lanes::uniform(b.zero(registerType(element)));
}

Lanes Nest::computeElementwise(Operation *op, unsigned result, const Coordinates &coordinates) {
  SmallVector<Lanes> lanes;
  for (Value operand : op->getOperands())
    lanes.push_back(evaluate(operand, coordinates));
  b.setLoc(op->getLoc());
  SmallVector<LaneFacts> facts;
  for (auto [operand, known] : llvm::zip_equal(op->getOperands(), lanes))
    facts.push_back({known.kind, Emit::known(known.stride), classify(operand, coordinates).mostStep,
                     /*isNumberInSteps=*/false, known.isUniform() ? Emit::known(known.value) : std::nullopt});
  LaneRule rule = laneRule(op, facts, shape[lane]);
  if (rule.whole && !staysInRange(op->getOperand(*rule.whole), coordinates))
    rule = {};
  auto strideOf = [&](size_t i, Type type) { return lanes[i].isLinear() ? lanes[i].stride : b.constant(type, 0); };
  Type element = getElementTypeOrSelf(op->getResult(result).getType());

  switch (rule.kind) {
  case LaneRule::Kind::Operand:
    return lanes[rule.operand];
  case LaneRule::Kind::Number: {
    SmallVector<Value> numbers;
    for (const Lanes &known : lanes)
      numbers.push_back(known.value);
    return Lanes::uniform(lowering.elementwise(op, result, numbers));
  }
  case LaneRule::Kind::Resize:
    return Lanes::linear(isa<arith::ExtSIOp>(op) && element.isInteger(64)
                             ? wideStart(op->getOperand(0), coordinates, lanes[0])
                             : lowering.elementwise(op, 0, lanes[0].value),
                         b.resize(lanes[0].stride, element));
  case LaneRule::Kind::Sum: {
    bool subtract = isa<arith::SubIOp>(op);
    Value start = subtract ? b.sub(lanes[0].value, lanes[1].value) : b.add(lanes[0].value, lanes[1].value);
    Value left = strideOf(0, element), right = strideOf(1, element);
    return Lanes::linear(start, subtract ? b.sub(left, right) : b.add(left, right));
  }
  case LaneRule::Kind::Scale: {
    const Lanes &line = lanes[rule.operand], &scale = lanes[1 - rule.operand];
    if (isa<arith::ShLIOp>(op))
      return Lanes::linear(legalInteger(b, op, line.value, scale.value), legalInteger(b, op, line.stride, scale.value));
    // A factor may be known to be a constant, as classification says, that folding does not find.
    std::optional<int64_t> factor = constantFactor(op, op->getOperand(1 - rule.operand));
    Value step = factor && !Emit::known(scale.value) ? b.constant(element, *factor) : scale.value;
    return Lanes::linear(b.mul(line.value, scale.value), b.mul(line.stride, step));
  }
  case LaneRule::Kind::Advance: {
    int64_t size = byteSize(cast<tile::PointerType>(element).getPointee());
    Value offset = wideStart(op->getOperand(1), coordinates, lanes[1]);
    Value start = b.offsetBytes(lanes[0].value, b.mul(offset, b.index(size)));
    Value stride = b.add(strideOf(0, b.getI64Type()),
                         b.mul(b.toI64(strideOf(1, getElementTypeOrSelf(op->getOperand(1).getType()))), b.index(size)));
    return Lanes::linear(start, stride);
  }
  case LaneRule::Kind::Bound: {
    auto bound = asSignedBound(cast<arith::CmpIOp>(op));
    const Lanes &low = lanes[rule.operand], &high = lanes[1 - rule.operand];
    Value count = b.sub(b.toI64(high.value), wideStart(bound->low, coordinates, low));
    return Lanes::prefix(bound->isStrict ? count : b.add(count, b.index(1)));
  }
  case LaneRule::Kind::Conjunction: {
    if (lanes[0].isPrefix() && lanes[1].isPrefix())
      return Lanes::prefix(b.minSigned(lanes[0].value, lanes[1].value));
    const Lanes &prefix = lanes[lanes[0].isPrefix() ? 0 : 1], &condition = lanes[lanes[0].isPrefix() ? 1 : 0];
    return Lanes::prefix(b.select(condition.value, prefix.value, b.index(0)));
  }
  case LaneRule::Kind::Division: // a line only where it is assumed (Nest::assumed)
  case LaneRule::Kind::Vectors:
    break;
  }
  if (isa<arith::DivFOp>(op) && element.isF32() && lanes[1].isUniform())
    return Lanes::varying(divideByUniform(vectorOf(lanes[0], element), lanes[1].value,
                                          positionOf(dependencies(op->getOperand(1), coordinates))));
  SmallVector<Value> operands;
  for (auto [operand, known] : llvm::zip_equal(op->getOperands(), lanes))
    operands.push_back(vectorOf(known, getElementTypeOrSelf(operand.getType())));
  return Lanes::varying(lowering.elementwise(op, result, operands));
}

// Whether the lanes are as classification promised them. What holds by assumption or under guards is so in some
// segments of the loop alone.
bool Nest::areAsClassified(const Lanes &lanes, Value value, const Coordinates &coordinates) {
  Form form = classify(value, coordinates);
  if (!form.isProved())
    return true;
  switch (form.kind) {
  case Lanes::Kind::Uniform:
    return lanes.isUniform();
  case Lanes::Kind::Linear:
    return width == 1 ? lanes.isUniform()
                      : lanes.isLinear() && (!form.stride || Emit::isKnown(lanes.stride, *form.stride));
  case Lanes::Kind::Prefix:
    return lanes.isPrefix() || lanes.isUniform();
  case Lanes::Kind::Varying:
    return true;
  }
  llvm_unreachable("every kind is compared");
}

// The first lane of a step as an i64. Of a line that does not wrap, in a step that stands alone, it is so many steps
// from the row's start: LLVM then sees that the lanes of all steps are near each other.
Value Nest::wideStart(Value line, const Coordinates &coordinates, const Lanes &lanes) {
  std::optional<int64_t> index = Emit::known(indices[lane]);
  if (!lanes.isLinear() || segment.beforeLanes || !index || *index == 0 || !staysInRange(line, coordinates) ||
      dependencies(line, coordinates) & levelsInside())
    return b.toI64(lanes.value);
  Value first = evaluateElement(line, coordinates, 0);
  return b.add(b.toI64(first), b.mul(b.toI64(lanes.stride), b.index(*index)));
}

// Division by one number: multiplied by its reciprocal, then mended by the remainder, which rounds as a division does.
// Divisors below one, by which a quotient may overflow, and huge ones, whose reciprocal is not exact enough, are
// divided by; that costs several times as much.
Value Nest::divideByUniform(Value dividend, Value divisor, size_t position) {
  Type type = dividend.getType(), scalar = divisor.getType();
  Value ordinary, inverse, negated;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(positions[position].anchor);
    Value magnitude = math::AbsFOp::create(b, divisor);
    auto compare = [&](arith::CmpFPredicate predicate, double bound) -> Value {
      return arith::CmpFOp::create(b, predicate, magnitude, b.constantFloat(scalar, bound));
    };
    ordinary =
        arith::AndIOp::create(b, compare(arith::CmpFPredicate::OGE, 1.0), compare(arith::CmpFPredicate::OLT, 0x1p100));
    inverse = arith::DivFOp::create(b, b.constantFloat(scalar, 1.0), divisor);
    negated = arith::NegFOp::create(b, divisor);
  }
  auto branch = scf::IfOp::create(b, TypeRange{type}, ordinary, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Value factor = b.splat(inverse, width);
  Value quotient = arith::MulFOp::create(b, dividend, factor);
  Value remainder = math::FmaOp::create(b, quotient, b.splat(negated, width), dividend);
  Value mended = math::FmaOp::create(b, remainder, factor, quotient);
  // An infinite or undefined quotient has no remainder to speak of; an exact one keeps the sign of its zero.
  Value keep = arith::CmpFOp::create(b, arith::CmpFPredicate::UEQ, remainder, b.zero(remainder.getType()));
  scf::YieldOp::create(b, ValueRange{arith::SelectOp::create(b, keep, quotient, mended)});
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, ValueRange{arith::DivFOp::create(b, dividend, b.splat(divisor, width))});
  return branch.getResult(0);
}

// ---- From closed forms to vectors

Value Nest::maskVector(const Lanes &lanes) {
  if (lanes.isVarying())
    return lanes.value;
  if (lanes.isUniform())
    return width > 1 ? b.splat(lanes.value, width) : lanes.value;
  assert(lanes.isPrefix());
  Value count = b.minSigned(b.maxSigned(lanes.value, b.index(0)), b.index(width));
  if (width == 1)
    return arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, count, b.index(0));
  Value narrow = arith::TruncIOp::create(b, b.getI32Type(), count);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, b.iota(b.getI32Type(), width), b.splat(narrow, width));
}

Value Nest::vectorOf(const Lanes &lanes, Type element) {
  if (lanes.isVarying() || (width == 1 && !lanes.isPrefix()))
    return lanes.value;
  if (lanes.isPrefix())
    return maskVector(lanes);
  if (lanes.isUniform())
    return b.splat(lanes.value, width);
  if (isa<tile::PointerType>(element)) {
    Value steps = b.iota(b.getI64Type(), width);
    if (!Emit::isKnown(lanes.stride, 1))
      steps = arith::MulIOp::create(b, steps, b.splat(lanes.stride, width));
    return b.offsetBytes(lanes.value, steps);
  }
  Value steps = b.iota(lanes.value.getType(), width);
  if (!Emit::isKnown(lanes.stride, 1))
    steps = arith::MulIOp::create(b, steps, b.splat(lanes.stride, width));
  return arith::AddIOp::create(b, b.splat(lanes.value, width), steps);
}
