// What is known of a tile's lanes before its loop is emitted, and the checks that let a part of the loop know more.
#include "compiler/passes/cpu/Integers.h"
#include "compiler/passes/cpu/Nest.h"
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

bool nacre::cpu::movesElements(Operation *op) {
  return isa<tile::ExpandDimsOp, tile::BroadcastOp, tile::PermuteOp>(op) ||
         (isa<tile::ReshapeOp>(op) && isUnitReshape(cast<tile::ReshapeOp>(op)));
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
    return {};
  Key key{value, encode(coordinates)};
  if (auto found = formCache.find(key); found != formCache.end())
    return found->second;
  Form form = classifyOperation(value, coordinates);
  Operation *op = value.getDefiningOp();
  if (op && movesElements(op))
    form.assumes = classify(op->getOperand(0), operandCoordinates(op, coordinates)).assumes;
  else if (op && isElementwise(op))
    form.assumes = isa<arith::RemSIOp>(op) || llvm::any_of(op->getOperands(), [&](Value operand) {
                     return classify(operand, coordinates).assumes;
                   });
  formCache[key] = form;
  return form;
}

std::optional<std::tuple<Value, Value, bool>> nacre::cpu::asUpperBound(arith::CmpIOp op) {
  switch (op.getPredicate()) {
  case arith::CmpIPredicate::slt:
    return std::make_tuple(op.getLhs(), op.getRhs(), false);
  case arith::CmpIPredicate::sle:
    return std::make_tuple(op.getLhs(), op.getRhs(), true);
  case arith::CmpIPredicate::sgt:
    return std::make_tuple(op.getRhs(), op.getLhs(), false);
  case arith::CmpIPredicate::sge:
    return std::make_tuple(op.getRhs(), op.getLhs(), true);
  default:
    return std::nullopt;
  }
}

Nest::Form Nest::classifyOperation(Value value, const Coordinates &coordinates) {
  using Kind = Lanes::Kind;
  const Form varying{Kind::Varying, {}};
  Operation *op = value.getDefiningOp();
  if (!op)
    return varying;
  if (lowering.buffer(value) && !isElementwise(op))
    return varying;
  if (isa<tile::ArangeOp>(op))
    return {Kind::Linear, 1};
  if (movesElements(op))
    return classify(op->getOperand(0), operandCoordinates(op, coordinates));
  if (!isElementwise(op))
    return varying;
  SmallVector<Form> forms;
  for (Value operand : op->getOperands())
    forms.push_back(classify(operand, coordinates));
  auto uniform = [&](size_t i) { return forms[i].kind == Kind::Uniform; };
  auto linear = [&](size_t i) { return forms[i].kind == Kind::Linear; };
  auto unitOrUniform = [&](size_t i) { return uniform(i) || linear(i); };

  if (isa<arith::ExtSIOp, arith::TruncIOp, tile::HintOp>(op))
    return getElementTypeOrSelf(value.getType()).isInteger(1) ? varying : forms[0];
  if (isa<arith::AddIOp, arith::SubIOp>(op) && unitOrUniform(0) && unitOrUniform(1)) {
    int64_t sign = isa<arith::SubIOp>(op) ? -1 : 1;
    Form form{Kind::Linear, {}};
    if (uniform(1))
      form.stride = forms[0].stride;
    else if (uniform(0) && forms[1].stride)
      form.stride = sign * *forms[1].stride;
    else if (forms[0].stride && forms[1].stride)
      form.stride = *forms[0].stride + sign * *forms[1].stride;
    return form;
  }
  if (isa<arith::MulIOp>(op) && ((linear(0) && uniform(1)) || (uniform(0) && linear(1))))
    return {Kind::Linear, {}};
  if (isa<arith::ShLIOp>(op) && linear(0) && uniform(1))
    return {Kind::Linear, {}};
  if (isa<tile::AddPtrOp>(op) && unitOrUniform(0) && unitOrUniform(1)) { // a pointer's step is in bytes
    Form form{Kind::Linear, {}};
    std::optional<int64_t> base = uniform(0) ? std::optional<int64_t>(0) : forms[0].stride;
    std::optional<int64_t> offset = uniform(1) ? std::optional<int64_t>(0) : forms[1].stride;
    auto pointer = cast<tile::PointerType>(getElementTypeOrSelf(value.getType()));
    if (base && offset)
      form.stride = *base + *offset * byteSize(pointer.getPointee());
    return form;
  }
  if (isa<arith::RemSIOp>(op) && linear(0) && forms[0].stride == 1 && uniform(1))
    return {Kind::Linear, 1};
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    if (auto bound = asUpperBound(compare)) {
      Form low = classify(std::get<0>(*bound), coordinates), high = classify(std::get<1>(*bound), coordinates);
      if (low.kind == Kind::Linear && low.stride == 1 && high.kind == Kind::Uniform)
        return {Kind::Prefix, {}};
    }
    return varying;
  }
  if (isa<arith::AndIOp>(op) && getElementTypeOrSelf(value.getType()).isInteger(1)) {
    auto fits = [&](size_t i) { return uniform(i) || forms[i].kind == Kind::Prefix; };
    if (fits(0) && fits(1))
      return {Kind::Prefix, {}};
  }
  return varying;
}

// The largest power of two, up to a bound, known to divide a scalar of the kernel.
static constexpr int64_t mostDivisor = 4096;
static int64_t powerOfTwoIn(int64_t number) {
  return number == 0 ? mostDivisor : std::min(mostDivisor, number & -number);
}

static int64_t scalarDivisor(Value value) {
  if (auto known = Emit::known(value))
    return powerOfTwoIn(*known);
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto kernel = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    if (!kernel)
      return 1;
    auto divisor = kernel.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), tile::divisibilityAttribute);
    return divisor ? powerOfTwoIn(divisor.getInt()) : 1;
  }
  Operation *op = value.getDefiningOp();
  if (isa<arith::MulIOp>(op))
    return std::min(mostDivisor, scalarDivisor(op->getOperand(0)) * scalarDivisor(op->getOperand(1)));
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    return std::min(scalarDivisor(op->getOperand(0)), scalarDivisor(op->getOperand(1)));
  if (isa<arith::ExtSIOp, arith::TruncIOp>(op))
    return scalarDivisor(op->getOperand(0));
  return 1;
}

// The same for a tile at the first lane of a step, which is a multiple of the width: the lanes' own index is left out.
int64_t Nest::stepDivisor(Value value) {
  if (!isTile(value))
    return scalarDivisor(value);
  Operation *op = value.getDefiningOp();
  DenseElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant)) && constant.isSplat() && isa<IntegerType>(constant.getElementType()))
    return powerOfTwoIn(constant.getSplatValue<APInt>().getSExtValue());
  if (!op)
    return 1;
  if (auto splat = dyn_cast<tile::SplatOp>(op))
    return scalarDivisor(splat.getSource());
  if (auto arange = dyn_cast<tile::ArangeOp>(op))
    return powerOfTwoIn(arange.getStart());
  if (movesElements(op) || isa<arith::ExtSIOp, arith::TruncIOp, tile::HintOp>(op))
    return stepDivisor(op->getOperand(0));
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    return std::min(stepDivisor(op->getOperand(0)), stepDivisor(op->getOperand(1)));
  return 1;
}

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
    cost += isa<math::MathDialect>(op->getDialect()) && !isa<math::FmaOp, math::AbsFOp>(op) ? 16 : 1;
  }
  // What holds at one index of a level says nothing of the others that the body moves to.
  bool oneIndex = movedLevel < 0 || !(dependencies(value, coordinates) & (1u << movedLevel));
  // A check is made before the loop, where nothing is assumed yet: not of what is itself known by assumption.
  if (form.kind == Lanes::Kind::Prefix && oneIndex && !form.assumes) {
    assumable.push_back({value, coordinates, Assumable::Kind::Bound});
    return;
  }
  if (oneIndex && isStart(value, coordinates)) {
    assumable.push_back({value, coordinates, Assumable::Kind::Start});
    return;
  }
  if (isa<arith::RemSIOp, arith::DivSIOp>(op)) {
    Form low = classify(op->getOperand(0), coordinates), high = classify(op->getOperand(1), coordinates);
    bool ofLine =
        low.kind == Lanes::Kind::Linear && low.stride == 1 && !low.assumes && high.kind == Lanes::Kind::Uniform;
    int64_t divisor = std::min(stepDivisor(op->getOperand(0)), stepDivisor(op->getOperand(1)));
    if (ofLine && oneIndex && divisor >= 8) {
      widthLimit = widthLimit ? std::min(widthLimit, divisor) : divisor;
      assumable.push_back({value, coordinates, Assumable::Kind::Stepwise});
    } else if (ofLine && oneIndex && isa<arith::RemSIOp>(op)) {
      assumable.push_back({value, coordinates, Assumable::Kind::Remainder});
    }
  }
  if (movesElements(op))
    return collectAssumable(op->getOperand(0), operandCoordinates(op, coordinates));
  if (isElementwise(op) || isa<tile::LoadOp>(op))
    for (Value operand : op->getOperands())
      collectAssumable(operand, coordinates);
}

const Buffer *Nest::bufferOf(Value value, const Coordinates &coordinates) {
  const Buffer *buffer = lowering.buffer(value);
  if (!buffer)
    return nullptr;
  Lanes::Kind kind = classify(value, coordinates).kind;
  return kind == Lanes::Kind::Linear || kind == Lanes::Kind::Prefix ? nullptr : buffer;
}

bool Nest::holdsForPrefix(Value mask, const Coordinates &coordinates) {
  Form form = classify(mask, coordinates);
  return form.kind == Lanes::Kind::Uniform || form.kind == Lanes::Kind::Prefix;
}

bool Nest::isStart(Value value, const Coordinates &coordinates) {
  auto compare = value.getDefiningOp<arith::CmpIOp>();
  auto bound = compare ? asUpperBound(compare) : std::nullopt;
  if (!bound)
    return false;
  Form low = classify(std::get<0>(*bound), coordinates), high = classify(std::get<1>(*bound), coordinates);
  return low.kind == Lanes::Kind::Uniform && high.kind == Lanes::Kind::Linear && high.stride == 1 && !high.assumes;
}

bool Nest::tellsThroughout(Value mask, const Coordinates &coordinates) {
  if (holdsForPrefix(mask, coordinates) || isStart(mask, coordinates))
    return true;
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
  if (!isTile(value))
    return false;
  if (const Buffer *buffer = lowering.buffer(value)) {
    for (auto [axis, level] : llvm::enumerate(coordinates))
      if (level == lane)
        return buffer->strides[axis] == 1;
    return false;
  }
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (auto load = dyn_cast<tile::LoadOp>(op)) {
    Form form = classify(load.getPointer(), coordinates);
    return form.kind == Lanes::Kind::Linear && form.stride == byteSize(getElementTypeOrSelf(value.getType()));
  }
  if (movesElements(op))
    return readsNeighbours(op->getOperand(0), operandCoordinates(op, coordinates));
  return isElementwise(op) &&
         llvm::any_of(op->getOperands(), [&](Value operand) { return readsNeighbours(operand, coordinates); });
}

// The value at the first lane of the row, its lanes endless; emitted at the position outside the lane loop.
Lanes Nest::evaluateAtRowStart(Value value, const Coordinates &coordinates) {
  OpBuilder::InsertionGuard guard(b);
  size_t outside = llvm::find(order, lane) - order.begin();
  b.setInsertionPoint(positions[outside].anchor);
  Value index = indices[lane];
  int64_t steppedWidth = width;
  Assumption assumed = assumption;
  assumption = Assumption::None;
  probing = true;
  probed.clear();
  indices[lane] = b.index(0);
  width = shape[lane];
  Lanes lanes = evaluate(value, coordinates);
  probing = false;
  probed.clear();
  width = steppedWidth;
  indices[lane] = index;
  assumption = assumed;
  return lanes;
}

Value Nest::probe(Assumable &entry) {
  if (entry.kind == Assumable::Kind::Bound)
    return evaluateAtRowStart(entry.value, entry.coordinates).value;
  Operation *op = entry.value.getDefiningOp();
  Lanes start = evaluateAtRowStart(op->getOperand(0), entry.coordinates);
  Lanes divisor = evaluateAtRowStart(op->getOperand(1), entry.coordinates);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(positions[llvm::find(order, lane) - order.begin()].anchor);
  if (entry.kind == Assumable::Kind::Start) { // once true it stays so
    auto predicate = cast<arith::CmpIOp>(op).getPredicate();
    Value holds = arith::CmpIOp::create(b, predicate, start.value, divisor.value);
    return b.select(holds, b.index(shape[lane]), b.index(0));
  }
  Value positive = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, start.value, b.zero(start.value.getType()));
  if (entry.kind == Assumable::Kind::Stepwise)
    return b.select(positive, b.index(shape[lane]), b.index(0));
  entry.start = remainderSigned(b, start.value, divisor.value);
  entry.divisor = divisor.value;
  return b.select(positive, b.sub(b.toI64(divisor.value), b.toI64(entry.start)), b.index(0));
}

// What the entry is where it holds (or, for a bound, where it fails).
Lanes Nest::assumed(const Assumable &entry) {
  if (entry.kind == Assumable::Kind::Bound || entry.kind == Assumable::Kind::Start)
    return Lanes::uniform(b.constant(b.getI1Type(), assumption == Assumption::Holds));
  Operation *op = entry.value.getDefiningOp();
  if (entry.kind == Assumable::Kind::Stepwise) {
    Value start = evaluate(op->getOperand(0), entry.coordinates).value,
          divisor = evaluate(op->getOperand(1), entry.coordinates).value;
    if (isa<arith::DivSIOp>(op))
      return Lanes::uniform(divideSigned(b, start, divisor));
    Value first = remainderSigned(b, start, divisor);
    return width == 1 ? Lanes::uniform(first) : Lanes::linear(first, b.constant(first.getType(), 1));
  }
  Type type = entry.start.getType();
  Value start = assumption == Assumption::Wrapped ? b.sub(entry.start, entry.divisor) : entry.start;
  Value first = b.add(start, b.resize(indices[lane], type));
  return width == 1 ? Lanes::uniform(first) : Lanes::linear(first, b.constant(type, 1));
}
