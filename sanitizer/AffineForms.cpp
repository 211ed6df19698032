// See AffineForms.h.
#include "sanitizer/AffineForms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include <stdexcept>

using namespace mlir;

namespace nacre::sanitizer {

static void addProduct(int64_t &into, int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product) || __builtin_add_overflow(into, product, &into))
    throw std::overflow_error("its numbers are too large");
}

Form sum(const Form &a, const Form &b, int64_t factor) {
  Form result = a;
  result.factors.resize(std::max(a.factors.size(), b.factors.size()), 0);
  for (size_t i = 0; i < b.factors.size(); ++i)
    addProduct(result.factors[i], factor, b.factors[i]);
  addProduct(result.constant, factor, b.constant);
  return result;
}

Form scaled(const Form &form, int64_t factor) { return sum({}, form, factor); }

static Form number(int64_t value) { return {{}, value}; }

bool AccessSpace::isConstant(const Form &form) const {
  return llvm::all_of(form.factors, [](int64_t factor) { return factor == 0; });
}

void AccessSpace::leaveOut(const std::string &why) {
  isExact = false;
  if (whyNot.empty())
    whyNot = why;
}

Form AccessSpace::variable(std::string name, int64_t low, int64_t high, bool isUnknown) {
  variables.push_back({std::move(name), low, high, isUnknown});
  Form form;
  form.factors.assign(variables.size(), 0);
  form.factors.back() = 1;
  return form;
}

static std::pair<int64_t, int64_t> rangeOf(Type type) {
  unsigned bits = type.isIndex() ? 64 : type.isInteger() ? type.getIntOrFloatBitWidth() : 64;
  if (bits == 1)
    return {0, 1};
  if (bits >= 62) // far beyond any address, and small enough to be added up
    return {-(int64_t(1) << 60), int64_t(1) << 60};
  return {-(int64_t(1) << (bits - 1)), (int64_t(1) << (bits - 1)) - 1};
}

Form AccessSpace::unknown(Type type, const std::string &why) {
  leaveOut(why);
  auto [low, high] = rangeOf(getElementTypeOrSelf(type));
  return variable("", low, high, /*isUnknown=*/true);
}

std::pair<__int128, __int128> AccessSpace::range(const Form &form) const {
  __int128 low = form.constant, high = form.constant;
  for (size_t i = 0; i < form.factors.size(); ++i) {
    __int128 a = static_cast<__int128>(form.factors[i]) * variables[i].low,
             b = static_cast<__int128>(form.factors[i]) * variables[i].high;
    low += std::min(a, b);
    high += std::max(a, b);
  }
  return {low, high};
}

std::optional<Form> AccessSpace::fitting(std::optional<Form> form, Type type) {
  if (!form)
    return std::nullopt;
  auto [least, most] = rangeOf(getElementTypeOrSelf(type));
  auto [low, high] = range(*form);
  return low >= least && high <= most ? form : std::nullopt;
}

// dividend = divisor * q + r with 0 <= r < divisor, of dividends that are not negative.
std::optional<Form> AccessSpace::quotient(const Form &dividend, int64_t divisor, bool remainder) {
  auto [low, high] = range(dividend);
  if (divisor <= 0 || low < 0)
    return std::nullopt;
  Form q = variable("", 0, static_cast<int64_t>(high / divisor));
  Form rest = sum(dividend, q, -divisor);
  atLeastZero.push_back(rest);
  atLeastZero.push_back(sum(number(divisor - 1), rest, -1));
  return remainder ? rest : q;
}

Form AccessSpace::evaluate(Value value, const Indices &indices) {
  // The same element is the same number, wherever it is asked for.
  auto key = std::make_pair(value.getAsOpaquePointer(), std::vector<int64_t>());
  for (const Form &index : indices) {
    key.second.insert(key.second.end(), index.factors.begin(), index.factors.end());
    key.second.push_back(INT64_MIN); // the end of one
    key.second.push_back(index.constant);
  }
  if (auto known = forms.find(key); known != forms.end())
    return known->second;
  Form form;
  if (std::optional<Form> known = evaluateKnown(value, indices)) {
    form = *known;
  } else {
    Operation *op = value.getDefiningOp();
    form = unknown(value.getType(), "it depends on " + (op ? op->getName().getStringRef().str() : "a loop's value"));
  }
  forms.emplace(std::move(key), form);
  return form;
}

std::optional<Form> AccessSpace::evaluateKnown(Value value, const Indices &indices) {
  Type type = value.getType();
  if (!getElementTypeOrSelf(type).isIntOrIndex())
    return std::nullopt;
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSignificantBits() <= 62 ? std::optional(number(constant.getSExtValue())) : std::nullopt;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (isa<func::FuncOp>(argument.getOwner()->getParentOp())) {
      const StaticLaunch::Slot &slot = launch.slots[argument.getArgNumber()];
      auto narrow =
          APInt(64, static_cast<uint64_t>(slot.value)).trunc(type.isIndex() ? 64 : type.getIntOrFloatBitWidth());
      return narrow.getSignificantBits() <= 62 ? std::optional(number(narrow.getSExtValue())) : std::nullopt;
    }
    return loopValue(argument, indices);
  }
  Operation *op = value.getDefiningOp();
  auto operand = [&](unsigned i) { return evaluate(op->getOperand(i), indices); };
  if (auto id = dyn_cast<tile::ProgramIdOp>(op)) {
    Form form;
    form.factors.assign(3, 0);
    form.factors[programs[id.getAxis()]] = 1;
    return form;
  }
  if (auto count = dyn_cast<tile::NumProgramsOp>(op))
    return number(launch.facts.grid[count.getAxis()]);
  if (auto arange = dyn_cast<tile::ArangeOp>(op))
    return sum(indices[0], number(arange.getStart()));
  if (auto splat = dyn_cast<tile::SplatOp>(op))
    return evaluate(splat.getSource(), {});
  if (auto expand = dyn_cast<tile::ExpandDimsOp>(op)) {
    Indices inner = indices;
    inner.erase(inner.begin() + expand.getAxis());
    return evaluate(expand.getSource(), inner);
  }
  if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
    Indices inner = indices;
    for (auto [axis, extent] : llvm::enumerate(broadcast.getSource().getType().getShape()))
      if (extent == 1)
        inner[axis] = number(0);
    return evaluate(broadcast.getSource(), inner);
  }
  if (auto permute = dyn_cast<tile::PermuteOp>(op)) {
    Indices inner(indices.size());
    for (auto [axis, from] : llvm::enumerate(permute.getOrder()))
      inner[static_cast<size_t>(from)] = indices[axis];
    return evaluate(permute.getSource(), inner);
  }
  if (auto hint = dyn_cast<tile::HintOp>(op))
    return evaluate(hint.getSource(), indices);
  if (isa<arith::AddIOp>(op))
    return fitting(sum(operand(0), operand(1)), type);
  if (isa<arith::SubIOp>(op))
    return fitting(sum(operand(0), operand(1), -1), type);
  if (isa<arith::MulIOp>(op)) {
    Form a = operand(0), b = operand(1);
    if (!isConstant(a))
      std::swap(a, b);
    auto [low, high] = range(b);
    constexpr __int128 limit = static_cast<__int128>(1) << 61;
    if (!isConstant(a) || low * a.constant > limit || low * a.constant < -limit || high * a.constant > limit ||
        high * a.constant < -limit)
      return std::nullopt;
    return fitting(scaled(b, a.constant), type);
  }
  if (isa<arith::ShLIOp>(op)) {
    Form a = operand(0), b = operand(1);
    if (!isConstant(b) || b.constant < 0 || b.constant > 30)
      return std::nullopt;
    return fitting(scaled(a, int64_t(1) << b.constant), type);
  }
  if (isa<arith::DivSIOp, arith::FloorDivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op)) {
    Form a = operand(0), b = operand(1);
    return isConstant(b) ? quotient(a, b.constant, isa<arith::RemSIOp, arith::RemUIOp>(op)) : std::nullopt;
  }
  if (isa<arith::ExtSIOp, arith::IndexCastOp>(op) &&
      getElementTypeOrSelf(op->getOperand(0).getType()) != IntegerType::get(op->getContext(), 1))
    return operand(0);
  if (isa<arith::ExtUIOp>(op)) {
    Form form = operand(0);
    return range(form).first >= 0 ? std::optional(form) : std::nullopt;
  }
  if (isa<arith::TruncIOp>(op))
    return fitting(operand(0), type);
  if (isa<arith::MinSIOp, arith::MaxSIOp>(op)) { // some number that is on the right side of both
    Form a = operand(0), b = operand(1);
    bool isMin = isa<arith::MinSIOp>(op);
    if (isConstant(a) && isConstant(b))
      return number(isMin ? std::min(a.constant, b.constant) : std::max(a.constant, b.constant));
    Form result = unknown(type, "it is a minimum or maximum");
    for (const Form &side : {a, b})
      atLeastZero.push_back(isMin ? sum(side, result, -1) : sum(result, side, -1));
    return result;
  }
  return std::nullopt;
}

Form AccessSpace::iteration(scf::ForOp loop) {
  auto known = iterations.find(loop);
  return known == iterations.end() ? number(0) : known->second;
}

// The loop's own counter, and values that grow by the same in every iteration.
std::optional<Form> AccessSpace::loopValue(BlockArgument argument, const Indices &indices) {
  auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
  if (!loop || !iterations.contains(loop))
    return std::nullopt;
  Form step = evaluate(loop.getStep(), {});
  if (argument == loop.getInductionVar())
    return isConstant(step) ? std::optional(sum(evaluate(loop.getLowerBound(), {}), iteration(loop), step.constant))
                            : std::nullopt;
  unsigned position = argument.getArgNumber() - 1;
  Value next = loop.getBody()->getTerminator()->getOperand(position);
  auto grow = next.getDefiningOp<arith::AddIOp>();
  if (!grow || (grow.getLhs() != argument && grow.getRhs() != argument))
    return std::nullopt;
  Value by = grow.getLhs() == argument ? grow.getRhs() : grow.getLhs();
  APInt constant;
  bool isNumber = matchPattern(by, m_ConstantInt(&constant));
  Form each = isNumber ? number(constant.getSExtValue()) : Form{};
  if (!isNumber) { // an invariant one
    if (by.getParentRegion() == &loop.getRegion())
      return std::nullopt;
    each = evaluate(by, indices);
  }
  if (!isConstant(each))
    return std::nullopt;
  Form first = evaluate(loop.getInitArgs()[position], indices);
  return fitting(sum(first, iteration(loop), each.constant), argument.getType());
}

bool AccessSpace::readPointer(Value pointer, const Indices &indices) {
  if (auto argument = dyn_cast<BlockArgument>(pointer)) {
    if (!isa<func::FuncOp>(argument.getOwner()->getParentOp()))
      return readLoopPointer(argument, indices);
    this->argument = static_cast<int32_t>(argument.getArgNumber());
    address = number(0);
    return true;
  }
  Operation *op = pointer.getDefiningOp();
  if (auto add = dyn_cast<tile::AddPtrOp>(op)) {
    if (!readPointer(add.getPointer(), indices))
      return false;
    auto pointee = cast<tile::PointerType>(getElementTypeOrSelf(pointer.getType())).getPointee();
    int64_t bytes = std::max<int64_t>(1, pointee.getIntOrFloatBitWidth() / 8);
    address = sum(address, evaluate(add.getOffset(), indices), bytes);
    return true;
  }
  if (auto splat = dyn_cast<tile::SplatOp>(op))
    return readPointer(splat.getSource(), {});
  if (auto expand = dyn_cast<tile::ExpandDimsOp>(op)) {
    Indices inner = indices;
    inner.erase(inner.begin() + expand.getAxis());
    return readPointer(expand.getSource(), inner);
  }
  if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
    Indices inner = indices;
    for (auto [axis, extent] : llvm::enumerate(broadcast.getSource().getType().getShape()))
      if (extent == 1)
        inner[axis] = number(0);
    return readPointer(broadcast.getSource(), inner);
  }
  if (auto hint = dyn_cast<tile::HintOp>(op))
    return readPointer(hint.getSource(), indices);
  leaveOut("its pointer comes from " + op->getName().getStringRef().str());
  return false;
}

// A pointer that moves by the same in every iteration.
bool AccessSpace::readLoopPointer(BlockArgument argument, const Indices &indices) {
  auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
  leaveOut("its pointer is carried by a loop");
  if (!loop || !iterations.contains(loop))
    return false;
  unsigned position = argument.getArgNumber() - 1;
  auto grow = loop.getBody()->getTerminator()->getOperand(position).getDefiningOp<tile::AddPtrOp>();
  if (!grow || grow.getPointer() != argument || !readPointer(loop.getInitArgs()[position], indices))
    return false;
  Form by = evaluate(grow.getOffset(), indices);
  if (!isConstant(by))
    return false;
  auto pointee = cast<tile::PointerType>(getElementTypeOrSelf(argument.getType())).getPointee();
  int64_t bytes = std::max<int64_t>(1, pointee.getIntOrFloatBitWidth() / 8);
  address = sum(address, iteration(loop), by.constant * bytes);
  if (whyNot == "its pointer is carried by a loop") { // it was understood after all
    whyNot.clear();
    isExact = llvm::none_of(variables, [](const Variable &variable) { return variable.isUnknown; });
  }
  return true;
}

void AccessSpace::require(Value condition, const Indices &indices, bool holds) {
  APInt constant;
  if (matchPattern(condition, m_ConstantInt(&constant))) {
    if (constant.isZero() == holds) // never
      atLeastZero.push_back(number(-1));
    return;
  }
  Operation *op = condition.getDefiningOp();
  if (auto both = dyn_cast_or_null<arith::AndIOp>(op); both && holds) {
    require(both.getLhs(), indices, true);
    return require(both.getRhs(), indices, true);
  }
  if (auto either = dyn_cast_or_null<arith::OrIOp>(op); either && !holds) {
    require(either.getLhs(), indices, false);
    return require(either.getRhs(), indices, false);
  }
  if (auto comparison = dyn_cast_or_null<arith::CmpIOp>(op))
    return requireComparison(comparison, indices, holds);
  Indices inner = indices;
  if (auto splat = dyn_cast_or_null<tile::SplatOp>(op))
    return require(splat.getSource(), {}, holds);
  if (auto expand = dyn_cast_or_null<tile::ExpandDimsOp>(op)) {
    inner.erase(inner.begin() + expand.getAxis());
    return require(expand.getSource(), inner, holds);
  }
  if (auto broadcast = dyn_cast_or_null<tile::BroadcastOp>(op)) {
    for (auto [axis, extent] : llvm::enumerate(broadcast.getSource().getType().getShape()))
      if (extent == 1)
        inner[axis] = number(0);
    return require(broadcast.getSource(), inner, holds);
  }
  leaveOut("its mask or a condition around it is not linear");
}

void AccessSpace::requireComparison(arith::CmpIOp comparison, const Indices &indices, bool holds) {
  Form a = evaluate(comparison.getLhs(), indices), b = evaluate(comparison.getRhs(), indices);
  arith::CmpIPredicate predicate = comparison.getPredicate();
  bool isUnsigned = predicate >= arith::CmpIPredicate::ult;
  if (isUnsigned && (range(a).first < 0 || range(b).first < 0))
    return leaveOut("its mask compares unsigned numbers that may be negative");
  if (!holds)
    predicate = arith::invertPredicate(predicate);
  auto atLeast = [&](const Form &x, const Form &y, int64_t by) {
    atLeastZero.push_back(sum(sum(x, y, -1), number(-by)));
  };
  switch (predicate) {
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::ult:
    return atLeast(b, a, 1);
  case arith::CmpIPredicate::sle:
  case arith::CmpIPredicate::ule:
    return atLeast(b, a, 0);
  case arith::CmpIPredicate::sgt:
  case arith::CmpIPredicate::ugt:
    return atLeast(a, b, 1);
  case arith::CmpIPredicate::sge:
  case arith::CmpIPredicate::uge:
    return atLeast(a, b, 0);
  case arith::CmpIPredicate::eq:
    atLeast(a, b, 0);
    return atLeast(b, a, 0);
  case arith::CmpIPredicate::ne:
    return leaveOut("its mask asks for numbers that differ");
  }
}

// What an operation around the access says of when it happens.
void AccessSpace::enter(Operation *op) {
  Operation *parent = op->getParentOp();
  if (isa<func::FuncOp>(parent))
    return;
  enter(parent);
  if (auto loop = dyn_cast<scf::ForOp>(parent)) {
    Form low = evaluate(loop.getLowerBound(), {}), high = evaluate(loop.getUpperBound(), {}),
         step = evaluate(loop.getStep(), {});
    if (!isConstant(step) || step.constant <= 0)
      return leaveOut("a loop's step is not known");
    auto [least, most] = range(sum(high, low, -1));
    auto count = std::max<__int128>(0, (most + step.constant - 1) / step.constant);
    constexpr __int128 limit = static_cast<__int128>(1) << 60;
    Form turn = variable("iteration", 0, static_cast<int64_t>(std::min(limit, std::max<__int128>(0, count - 1))));
    iterations[loop] = turn;
    // low + step * turn < high
    atLeastZero.push_back(sum(sum(sum(high, low, -1), turn, -step.constant), number(-1)));
    return;
  }
  if (auto branch = dyn_cast<scf::IfOp>(parent))
    return require(branch.getCondition(), {}, op->getParentRegion() == &branch.getThenRegion());
  leaveOut("it stands inside of " + parent->getName().getStringRef().str());
}

bool AccessSpace::read(tile::CheckAccessOp check) {
  for (int axis = 0; axis < 3; ++axis)
    variable("program " + std::to_string(axis), 0, std::max<int64_t>(0, int64_t(launch.facts.grid[axis]) - 1));
  Indices lanes;
  for (auto [axis, extent] : llvm::enumerate(tile::shapeOf(check.getPointer().getType())))
    lanes.push_back(variable("lane " + std::to_string(axis), 0, extent - 1));
  enter(check);
  auto pointee = cast<tile::PointerType>(getElementTypeOrSelf(check.getPointer().getType())).getPointee();
  size = std::max<int64_t>(1, pointee.isIntOrFloat() ? pointee.getIntOrFloatBitWidth() / 8 : 8);
  if (!readPointer(check.getPointer(), lanes))
    return false;
  if (check.getMask())
    require(check.getMask(), lanes, true);
  return true;
}

} // namespace nacre::sanitizer
