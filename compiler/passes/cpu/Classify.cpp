// What is known of a tile's lanes before its loop is emitted, and the checks that let a part of the loop know more.
#include "compiler/analysis/AccessForm.h"
#include "compiler/passes/cpu/Nest.h"
#include "compiler/passes/tile/LegalizeIntegers.h"
#include "compiler/support/PlantedBugs.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

uint32_t nacre::cpu::encode(const Coordinates &coordinates) {
  uint32_t code = 1;
  for (int8_t level : coordinates)
    code = code * 16 + static_cast<uint32_t>(level + 1);
  return code;
}

// The coordinates of an operand of an operation that moves elements without computing.
Coordinates Nest::operandCoordinates(Operation *op, const Coordinates &coordinates) {
  Coordinates result = coordinates;
  if (auto expand = dyn_cast<tile::ExpandDimsOp>(op)) {
    result.erase(result.begin() + expand.getAxis());
  } else if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
    for (auto [axis, extent] : llvm::enumerate(broadcast.getSource().getType().getShape()))
      if (extent == 1)
        result[axis] = -1;
  } else if (auto permute = dyn_cast<tile::PermuteOp>(op)) {
    for (auto [axis, source] : llvm::enumerate(permute.getOrder()))
      result[source] = coordinates[axis];
  } else if (auto reshape = dyn_cast<tile::ReshapeOp>(op)) {
    result.clear();
    ArrayRef<int64_t> to = reshape.getType().getShape();
    size_t axis = 0;
    for (int64_t extent : reshape.getSource().getType().getShape()) {
      if (extent == 1) {
        result.push_back(-1);
        continue;
      }
      while (to[axis] == 1)
        ++axis;
      result.push_back(coordinates[axis++]);
    }
  }
  return result;
}

// ---- Which levels a value depends on, as a bit set.

uint32_t Nest::dependencies(Value value, const Coordinates &coordinates) {
  if (!isTile(value))
    return 0;
  Key key{value, encode(coordinates)};
  if (auto found = dependencyCache.find(key); found != dependencyCache.end())
    return found->second;
  uint32_t bits = 0;
  Operation *op = value.getDefiningOp();
  if (lowering.buffer(value) || !op || isa<tile::ArangeOp>(op)) {
    for (int8_t level : coordinates)
      if (level >= 0)
        bits |= 1u << level;
  } else if (movesElements(op)) {
    bits = dependencies(op->getOperand(0), operandCoordinates(op, coordinates));
  } else if (isElementwise(op) || isa<tile::LoadOp>(op)) {
    for (Value operand : op->getOperands())
      bits |= dependencies(operand, coordinates);
  }
  dependencyCache[key] = bits;
  return bits;
}

// ---- Analysis without emission

Nest::Form Nest::classify(Value value, const Coordinates &coordinates) {
  if (!isTile(value) || !(dependencies(value, coordinates) & (1u << lane)))
    return {Lanes::Kind::Uniform, {}, 0};
  Key key{value, encode(coordinates)};
  if (auto found = formCache.find(key); found != formCache.end())
    return found->second;
  Form form = classifyOperation(value, coordinates);
  formCache[key] = form;
  return form;
}

static unsigned integerBits(Value value) { return getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth(); }

static std::optional<int64_t> product(std::optional<int64_t> a, std::optional<int64_t> b) {
  int64_t result;
  return a && b && !__builtin_mul_overflow(*a, *b, &result) ? std::optional(result) : std::nullopt;
}

static std::optional<int64_t> sum(std::optional<int64_t> a, std::optional<int64_t> b) {
  int64_t result;
  return a && b && !__builtin_add_overflow(*a, *b, &result) ? std::optional(result) : std::nullopt;
}

// The largest number, its sign apart, that a line's lanes may be multiplied with here.
std::optional<int64_t> Nest::mostFactor(Operation *op, Value factor) {
  IntegerRange range = lowering.facts.range(factor);
  if (isa<arith::ShLIOp>(op))
    return range.low >= 0 && range.high < 62 ? std::optional(int64_t(1) << range.high) : std::nullopt;
  if (range.low == std::numeric_limits<int64_t>::min())
    return std::nullopt;
  return std::max(range.high, -range.low);
}

std::optional<int64_t> Nest::constantFactor(Operation *op, Value factor) {
  IntegerRange range = lowering.facts.range(factor);
  return isa<arith::MulIOp>(op) && range.low == range.high ? std::optional(range.low) : std::nullopt;
}

// Whether remainders by it wrap within a few vectors: no steps are left then in which they are a line, and vectors of
// them are computed.
static bool divisorWrapsOften(Lowering &lowering, Value divisor) {
  return lowering.facts.range(divisor).high < lowering.target.vectorBytes;
}

LaneRule Nest::ruleOf(Operation *op, ArrayRef<Form> operands) const {
  SmallVector<LaneFacts> facts;
  for (const Form &form : operands)
    facts.push_back({form.kind, form.stride, form.mostStep, form.assumes && form.stride == 0, /*number=*/{}});
  return laneRule(op, facts, shape[lane]);
}

LaneRule Nest::ruleOf(Operation *op, const Coordinates &coordinates) {
  SmallVector<Form> forms;
  for (Value operand : op->getOperands())
    forms.push_back(classify(operand, coordinates));
  return ruleOf(op, forms);
}

Nest::Form Nest::classifyOperation(Value value, const Coordinates &coordinates) {
  using Kind = Lanes::Kind;
  const Form varying{Kind::Varying, {}};
  Operation *op = value.getDefiningOp();
  if (!op || (lowering.buffer(value) && !lowering.recompute.mayComputeFrom(op)))
    return varying;
  if (isa<tile::ArangeOp>(op))
    return {Kind::Linear, 1, 1};
  if (movesElements(op))
    return classify(op->getOperand(0), operandCoordinates(op, coordinates));
  if (!isElementwise(op))
    return varying;
  SmallVector<Form> forms;
  Form form{Kind::Linear, {}};
  for (Value operand : op->getOperands()) {
    forms.push_back(classify(operand, coordinates));
    form.assumes |= forms.back().assumes;
    form.guarded |= forms.back().guarded;
  }
  LaneRule rule = ruleOf(op, forms);
  if (rule.whole && forms[*rule.whole].wraps) {
    if (!canGuard(op->getOperand(*rule.whole), coordinates) && !planted(PlantedBug::UnguardedLine))
      return varying;
    form.guarded = true;
  }
  switch (rule.kind) {
  case LaneRule::Kind::Vectors:
    return varying;
  case LaneRule::Kind::Operand:
    return forms[rule.operand];
  case LaneRule::Kind::Number:
    if (!form.assumes) // operands the same in all lanes: it has a copy in memory, which is as good
      return varying;
    form.stride = form.mostStep = 0;
    return form;
  case LaneRule::Kind::Resize:
    form.stride = forms[0].stride;
    form.mostStep = forms[0].mostStep;
    if (form.stride && isa<arith::TruncIOp>(op))
      form.stride = llvm::SignExtend64(static_cast<uint64_t>(*form.stride), integerBits(value));
    form.wraps = isa<arith::TruncIOp>(op) && mayWrap(op, forms, form, coordinates);
    return form;
  case LaneRule::Kind::Sum: {
    auto stepOf = [](const Form &operand) {
      return operand.kind == Kind::Uniform ? std::optional<int64_t>(0) : operand.stride;
    };
    form.mostStep = sum(forms[0].mostStep, forms[1].mostStep);
    form.stride = sum(stepOf(forms[0]), product(stepOf(forms[1]), isa<arith::SubIOp>(op) ? -1 : 1));
    if (form.stride)
      form.stride = llvm::SignExtend64(static_cast<uint64_t>(*form.stride), integerBits(value));
    form.wraps = mayWrap(op, forms, form, coordinates);
    return form;
  }
  case LaneRule::Kind::Scale: {
    Value factor = op->getOperand(1 - rule.operand);
    form.mostStep = product(forms[rule.operand].mostStep, mostFactor(op, factor));
    form.stride = product(forms[rule.operand].stride, constantFactor(op, factor));
    if (form.stride && !llvm::isIntN(integerBits(value), *form.stride))
      form.stride = std::nullopt;
    form.wraps = mayWrap(op, forms, form, coordinates);
    return form;
  }
  case LaneRule::Kind::Advance: { // a pointer's step is in bytes
    std::optional<int64_t> base = forms[0].kind == Kind::Uniform ? std::optional<int64_t>(0) : forms[0].stride;
    std::optional<int64_t> offset = forms[1].kind == Kind::Uniform ? std::optional<int64_t>(0) : forms[1].stride;
    auto pointer = cast<tile::PointerType>(getElementTypeOrSelf(value.getType()));
    form.stride = sum(base, product(offset, byteSize(pointer.getPointee())));
    return form;
  }
  case LaneRule::Kind::Division:
    if (!division(op, coordinates))
      return varying;
    form.stride = form.mostStep = isa<arith::RemSIOp>(op) ? 1 : 0;
    form.assumes = true;
    return form;
  case LaneRule::Kind::Bound:
  case LaneRule::Kind::Conjunction:
    form.kind = Kind::Prefix;
    return form;
  }
  llvm_unreachable("every rule is read");
}

// A step starts at a multiple of its width, so what divides both operands at the start of a row divides the quotient's
// at every step; else a remainder is a line until it wraps, and both are known within runs of the divisor's length.
std::optional<Nest::Assumable::Kind> Nest::division(Operation *op, const Coordinates &coordinates) {
  // What is assumed is checked before the loop, where nothing is assumed yet.
  if (classify(op->getOperand(0), coordinates).assumes || movesInBody(op->getResult(0), coordinates))
    return std::nullopt;
  if (stepDivisor(op, coordinates) >= leastStepDivisor)
    return Assumable::Kind::Stepwise;
  Value divisor = op->getOperand(1);
  if (isa<arith::RemSIOp>(op) && !divisorWrapsOften(lowering, divisor))
    return Assumable::Kind::Remainder;
  if (takesRuns() && hasLongRuns(divisor))
    return Assumable::Kind::Run;
  return std::nullopt;
}

// Whether the lanes of a line, `form`, may pass over the largest number of their type. They do not when neither the
// operands' lanes nor the operation wrap; nor when a row starts at a multiple of some power of two and ends before the
// next one.
bool Nest::mayWrap(Operation *op, ArrayRef<Form> operands, const Form &form, const Coordinates &coordinates) {
  bool wholeOperands = llvm::none_of(operands, [](const Form &operand) { return operand.wraps; });
  if (wholeOperands && lowering.facts.neverWraps(op))
    return false;
  if (!form.stride || *form.stride < 0 || form.assumes)
    return true;
  Value line = op->getResult(0);
  int64_t period = std::min(rowDivisor(line, coordinates), int64_t(1) << (std::min(integerBits(line), 62u) - 1));
  bool leaves = *form.stride > period || *form.stride * (shape[lane] - 1) >= period;
  return leaves && !planted(PlantedBug::LineWraps);
}

// Of a quotient or remainder: a step starts at a multiple of its width from the row's start, so a power of two no
// larger than the width divides the first lane of every step if it divides the row's.
int64_t Nest::stepDivisor(Operation *op, const Coordinates &coordinates) {
  return std::min(rowDivisor(op->getOperand(0), coordinates), rowDivisor(op->getOperand(1), coordinates));
}

int64_t Nest::rowDivisor(Value value, const Coordinates &coordinates) {
  const AxisInfo &info = lowering.axisInfo(value);
  auto axis = llvm::find(coordinates, lane) - coordinates.begin();
  bool varies = isTile(value) && axis < static_cast<int64_t>(coordinates.size());
  return varies ? info.divisibilityAt(axis, info.axis(axis).extent) : info.divisibility();
}

// ---- Guards

// A guard is computed before the lane loop, at the first lanes of the row: not of what changes inside that loop, nor of
// what is a line only by assumption.
bool Nest::canGuard(Value line, const Coordinates &coordinates) {
  Form form = classify(line, coordinates);
  unsigned bits = integerBits(line);
  if (form.assumes || bits < 32 || (bits == 64 && !form.stride))
    return false;
  return !(dependencies(line, coordinates) & levelsInside());
}

uint32_t Nest::levelsInside() const {
  uint32_t inside = movedLevel < 0 ? 0 : 1u << movedLevel;
  for (size_t i = llvm::find(order, lane) - order.begin() + 1; i < order.size(); ++i)
    inside |= 1u << order[i];
  return inside;
}

// What holds at one index of the moved level says nothing of the others that the body moves to.
bool Nest::movesInBody(Value value, const Coordinates &coordinates) {
  return movedLevel >= 0 && (dependencies(value, coordinates) & (1u << movedLevel));
}

void Nest::requireGuards(Value value, const Coordinates &coordinates) {
  if (!isTile(value) || !classify(value, coordinates).guarded)
    return;
  if (!visitedGuards.insert({value, encode(coordinates)}).second)
    return;
  Operation *op = value.getDefiningOp();
  if (movesElements(op))
    return requireGuards(op->getOperand(0), operandCoordinates(op, coordinates));
  for (Value operand : op->getOperands())
    requireGuards(operand, coordinates);
  if (std::optional<unsigned> whole = ruleOf(op, coordinates).whole) {
    Value operand = op->getOperand(*whole);
    if (classify(operand, coordinates).wraps && canGuard(operand, coordinates)) {
      Key key{operand, encode(coordinates)};
      guards.insert(key);
      guardCoordinates[key] = coordinates;
    }
  }
}

void Nest::requireGuardsOfAccess(Value pointer, Value mask, const Coordinates &coordinates) {
  requireGuards(pointer, coordinates);
  if (mask)
    requireGuards(mask, coordinates);
}

bool Nest::staysInRange(Value line, const Coordinates &coordinates) {
  Form form = classify(line, coordinates);
  bool isGuarded = segment.guardsHold && guards.contains({line, encode(coordinates)});
  return form.kind == Lanes::Kind::Linear && (!form.wraps || isGuarded);
}

// An i1, outside the lane loop: no guarded line of this row wraps.
Value Nest::guardsHold() {
  Value holds;
  for (const Key &key : guards) {
    auto [line, code] = key;
    const Coordinates &coordinates = guardCoordinates[key];
    Form form = classify(line, coordinates);
    Value first = evaluateElement(line, coordinates, 0);
    OpBuilder::InsertionGuard guard(b);
    unsigned bits = integerBits(line);
    Value fits;
    if (bits == 64) {
      b.setInsertionPoint(positions[llvm::find(order, lane) - order.begin()].anchor);
      int64_t reach;
      assert(form.stride && "a guard of 64 bits has a constant step");
      if (__builtin_mul_overflow(*form.stride, shape[lane] - 1, &reach))
        return b.constant(b.getI1Type(), 0);
      int64_t most = std::numeric_limits<int64_t>::max(), least = std::numeric_limits<int64_t>::min();
      fits = reach >= 0 ? arith::CmpIOp::create(b, arith::CmpIPredicate::sle, first, b.index(most - reach))
                        : arith::CmpIOp::create(b, arith::CmpIPredicate::sge, first, b.index(least - reach));
    } else {
      Value second = form.stride ? Value() : evaluateElement(line, coordinates, 1);
      b.setInsertionPoint(positions[llvm::find(order, lane) - order.begin()].anchor);
      // The step is the difference modulo 2^bits, read as signed.
      Value step = form.stride ? b.index(*form.stride) : b.toI64(b.sub(second, first));
      Value last = b.add(b.toI64(first), b.mul(step, b.index(shape[lane] - 1)));
      Value narrowed = b.toI64(b.resize(last, first.getType()));
      fits = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, narrowed, last);
    }
    holds = holds ? Value(arith::AndIOp::create(b, holds, fits)) : fits;
  }
  return holds;
}

bool Nest::growsBy(Value value, const Coordinates &coordinates, int64_t step) {
  Form form = classify(value, coordinates);
  return form.kind == Lanes::Kind::Linear && form.stride == step && form.isProved();
}

// ---- What a part of the loop may assume

void Nest::collectAssumable(Value value, const Coordinates &coordinates) {
  if (!isTile(value) || bufferOf(value, coordinates))
    return;
  if (!visitedAssumable.insert({value, encode(coordinates)}).second)
    return;
  Operation *op = value.getDefiningOp();
  if (!op)
    return;
  Form form = classify(value, coordinates);
  Type element = getElementTypeOrSelf(value.getType());
  if (form.kind == Lanes::Kind::Varying && !element.isInteger(1) && !isa<tile::PointerType>(element)) {
    elementBytes = std::max(elementBytes, byteSize(element));
    // Arithmetic on small floats is done in f32.
    if (isa<FloatType>(element) && isElementwise(op))
      elementBytes = std::max<int64_t>(elementBytes, 4);
    cost += isa_and_nonnull<math::MathDialect>(op->getDialect()) && !isa<math::FmaOp, math::AbsFOp>(op) ? 16 : 1;
  }
  bool oneIndex = !movesInBody(value, coordinates);
  if (auto load = dyn_cast<tile::LoadOp>(op))
    requireGuardsOfAccess(load.getPointer(), load.getMask(), coordinates);
  // A check is made before the loop, where nothing is assumed yet: not of what is itself known by assumption.
  if (form.kind == Lanes::Kind::Prefix && oneIndex && !form.assumes) {
    requireGuards(value, coordinates);
    assumable.push_back({value, coordinates, Assumable::Kind::Bound});
    return;
  }
  if (oneIndex && isStart(value, coordinates) &&
      staysInRange(asSignedBound(cast<arith::CmpIOp>(op))->high, coordinates)) {
    assumable.push_back({value, coordinates, Assumable::Kind::Start});
    return;
  }
  if (isa<arith::RemSIOp, arith::DivSIOp>(op))
    if (LaneRule rule = ruleOf(op, coordinates);
        rule.kind == LaneRule::Kind::Division && staysInRange(op->getOperand(*rule.whole), coordinates))
      if (std::optional<Assumable::Kind> kind = division(op, coordinates))
        assumable.push_back({value, coordinates, *kind});
  if (movesElements(op))
    return collectAssumable(op->getOperand(0), operandCoordinates(op, coordinates));
  if (isElementwise(op) || isa<tile::LoadOp>(op))
    for (Value operand : op->getOperands())
      collectAssumable(operand, coordinates);
}

const Buffer *Nest::bufferOf(Value value, const Coordinates &coordinates) {
  const Buffer *buffer = lowering.buffer(value);
  Lanes::Kind kind = buffer ? classify(value, coordinates).kind : Lanes::Kind::Varying;
  if (kind != Lanes::Kind::Linear && kind != Lanes::Kind::Prefix)
    return buffer;
  assert((!buffer || lowering.recompute.isComputedAnew(value.getDefiningOp())) && "what it is made of is kept");
  return nullptr;
}

bool Nest::holdsForPrefix(Value mask, const Coordinates &coordinates) {
  Form form = classify(mask, coordinates);
  return form.kind == Lanes::Kind::Uniform || (form.kind == Lanes::Kind::Prefix && form.isProved());
}

bool Nest::isStart(Value value, const Coordinates &coordinates) {
  auto compare = value.getDefiningOp<arith::CmpIOp>();
  auto bound = compare ? asSignedBound(compare) : std::nullopt;
  if (!bound)
    return false;
  Form low = classify(bound->low, coordinates), high = classify(bound->high, coordinates);
  return low.kind == Lanes::Kind::Uniform && high.kind == Lanes::Kind::Linear && high.stride == 1 && !high.assumes;
}

bool Nest::tellsThroughout(Value mask, const Coordinates &coordinates) {
  if (holdsForPrefix(mask, coordinates))
    return true;
  if (isStart(mask, coordinates)) {
    Form line = classify(asSignedBound(mask.getDefiningOp<arith::CmpIOp>())->high, coordinates);
    return line.isProved() && !line.wraps;
  }
  Operation *op = mask.getDefiningOp();
  if (!op || lowering.buffer(mask))
    return false;
  if (movesElements(op))
    return tellsThroughout(op->getOperand(0), operandCoordinates(op, coordinates));
  return isa<arith::AndIOp>(op) && tellsThroughout(op->getOperand(0), coordinates) &&
         tellsThroughout(op->getOperand(1), coordinates);
}

Value Nest::holdsThroughout(Value mask, const Coordinates &coordinates) {
  if (holdsForPrefix(mask, coordinates)) {
    Lanes lanes = evaluateAlone(mask, coordinates);
    return lanes.isUniform()
               ? lanes.value
               : Value(arith::CmpIOp::create(b, arith::CmpIPredicate::sge, lanes.value, b.index(shape[lane])));
  }
  Operation *op = mask.getDefiningOp();
  if (movesElements(op))
    return holdsThroughout(op->getOperand(0), operandCoordinates(op, coordinates));
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) // its first lane is the last to become true
    return arith::CmpIOp::create(b, compare.getPredicate(), evaluateAlone(compare.getLhs(), coordinates).value,
                                 evaluateAlone(compare.getRhs(), coordinates).value);
  return arith::AndIOp::create(b, holdsThroughout(op->getOperand(0), coordinates),
                               holdsThroughout(op->getOperand(1), coordinates));
}

bool Nest::readsNeighbours(Value value, const Coordinates &coordinates) {
  SmallVector<std::pair<Value, Coordinates>> pending{{value, coordinates}};
  DenseSet<Key> seen;
  while (!pending.empty()) {
    auto [current, place] = pending.pop_back_val();
    if (!isTile(current) || !seen.insert({current, encode(place)}).second)
      continue;
    if (const Buffer *buffer = lowering.buffer(current)) {
      auto axis = llvm::find(place, lane);
      if (axis != place.end() && buffer->strides[axis - place.begin()] == 1)
        return true;
      continue;
    }
    Operation *op = current.getDefiningOp();
    if (!op)
      continue;
    if (auto load = dyn_cast<tile::LoadOp>(op)) {
      Form form = classify(load.getPointer(), place);
      if (form.kind == Lanes::Kind::Linear && form.stride == byteSize(getElementTypeOrSelf(current.getType())))
        return true;
    } else if (movesElements(op)) {
      pending.emplace_back(op->getOperand(0), operandCoordinates(op, place));
    } else if (isElementwise(op)) {
      for (Value operand : op->getOperands())
        pending.emplace_back(operand, place);
    }
  }
  return false;
}

Lanes Nest::evaluateOutside(Value value, const Coordinates &coordinates, int64_t index, int64_t lanes) {
  OpBuilder::InsertionGuard guard(b);
  size_t outside = llvm::find(order, lane) - order.begin();
  b.setInsertionPoint(positions[outside].anchor);
  DenseMap<Key, Lanes> known;
  Segment before;
  before.guardsHold = segment.guardsHold;
  before.beforeLanes = &known;
  llvm::SaveAndRestore within(segment, before);
  llvm::SaveAndRestore first(indices[lane], b.index(index));
  llvm::SaveAndRestore step(width, lanes);
  return evaluate(value, coordinates);
}

Lanes Nest::evaluateRow(Value value, const Coordinates &coordinates) {
  return evaluateOutside(value, coordinates, 0, shape[lane]);
}

Value Nest::evaluateElement(Value value, const Coordinates &coordinates, int64_t index) {
  Lanes lanes = evaluateOutside(value, coordinates, index, 1);
  assert(lanes.isUniform() && "one lane");
  return lanes.value;
}
