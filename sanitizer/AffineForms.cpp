// See AffineForms.h.
#include "sanitizer/AffineForms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include <stdexcept>

using namespace mlir;

namespace nacre::sanitizer {

void AccessSpace::leaveOut(const std::string &why) {
  isExact = false;
  if (whyNot.empty())
    whyNot = why;
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

bool AccessSpace::isAtLeast(const Form &form, int64_t least) const {
  if (range(form).first >= least)
    return true;
  return launch.family && isImpossible(sum(number(least - 1), form, -1));
}

bool AccessSpace::isAtMost(const Form &form, int64_t most) const {
  if (range(form).second <= most)
    return true;
  return launch.family && isImpossible(sum(form, number(-most - 1)));
}

std::optional<Form> AccessSpace::fitting(std::optional<Form> form, Type type) {
  if (!form)
    return std::nullopt;
  auto [least, most] = rangeOf(getElementTypeOrSelf(type));
  return isAtLeast(*form, least) && isAtMost(*form, most) ? form : std::nullopt;
}

// As a key: a form without the zeros at its end.
static std::vector<int64_t> numbersOf(const Form &form) {
  std::vector<int64_t> numbers(form.factors.begin(), form.factors.end());
  while (!numbers.empty() && numbers.back() == 0)
    numbers.pop_back();
  numbers.push_back(form.constant);
  return numbers;
}

// dividend = divisor * q + r with 0 <= r < divisor, of dividends that are not negative and divisors that are positive.
std::optional<Form> AccessSpace::quotient(const Form &dividend, const Form &divisor, bool remainder) {
  if (!isAtLeast(divisor, 1) || !isAtLeast(dividend, 0))
    return std::nullopt;
  auto key = std::make_pair(numbersOf(dividend), numbersOf(divisor));
  auto known = quotients.find(key);
  if (known == quotients.end()) {
    auto [low, high] = range(dividend);
    constexpr __int128 limit = static_cast<__int128>(1) << 61;
    int64_t most = static_cast<int64_t>(std::min(limit, std::max<__int128>(high, 0)));
    Form q = variable("", 0, isConstant(divisor) ? most / divisor.constant : most), rest;
    if (isConstant(divisor)) {
      rest = sum(dividend, q, -divisor.constant);
    } else {
      std::optional<Form> multiple = product(q, divisor);
      if (!multiple)
        return std::nullopt;
      rest = sum(dividend, *multiple, -1);
    }
    atLeastZero.push_back(rest);
    atLeastZero.push_back(sum(sum(divisor, number(-1)), rest, -1));
    known = quotients.emplace(std::move(key), std::make_pair(q, rest)).first;
  }
  return remainder ? known->second.second : known->second.first;
}

Form AccessSpace::polynomial(const Polynomial &polynomial) {
  Form result;
  for (const Polynomial::Term &term : polynomial.terms) {
    Form one = number(term.factor);
    for (uint32_t symbol : term.symbols) {
      Form form;
      form.factors.assign(3 + symbol + 1, 0);
      form.factors.back() = 1;
      std::optional<Form> next = product(one, form);
      if (!next)
        throw std::overflow_error("its numbers are too large");
      one = *next;
    }
    result = sum(result, one);
  }
  return result;
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
      if (launch.family)
        return polynomial(launch.family->slots[argument.getArgNumber()]);
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
    return launch.family ? polynomial(launch.family->grid[count.getAxis()])
                         : number(launch.facts.grid[count.getAxis()]);
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
    if (!isConstant(a) && launch.family)
      return fitting(product(a, b), type);
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
    return isConstant(b) || launch.family ? quotient(a, b, isa<arith::RemSIOp, arith::RemUIOp>(op)) : std::nullopt;
  }
  if (isa<arith::ExtSIOp, arith::IndexCastOp>(op) &&
      getElementTypeOrSelf(op->getOperand(0).getType()) != IntegerType::get(op->getContext(), 1))
    return operand(0);
  if (isa<arith::ExtUIOp>(op)) {
    Form form = operand(0);
    return isAtLeast(form, 0) ? std::optional(form) : std::nullopt;
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

// Made of what stands outside of the loop alone.
static bool isInvariant(Value value, scf::ForOp loop) {
  if (loop.isDefinedOutsideOfLoop(value))
    return true;
  Operation *op = value.getDefiningOp();
  return op && op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return isInvariant(operand, loop); });
}

// What has been added after so many iterations, the same in each.
std::optional<Form> AccessSpace::grownBy(const Form &each, scf::ForOp loop) {
  if (isConstant(each))
    return scaled(iteration(loop), each.constant);
  return launch.family ? product(iteration(loop), each) : std::nullopt;
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
  if (!isNumber) {
    if (!isInvariant(by, loop))
      return std::nullopt;
    each = evaluate(by, indices);
  }
  Form first = evaluate(loop.getInitArgs()[position], indices);
  std::optional<Form> grown = grownBy(each, loop);
  return grown ? fitting(sum(first, *grown), argument.getType()) : std::nullopt;
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
  if (!isInvariant(grow.getOffset(), loop))
    return false;
  std::optional<Form> grown = grownBy(evaluate(grow.getOffset(), indices), loop);
  if (!grown)
    return false;
  auto pointee = cast<tile::PointerType>(getElementTypeOrSelf(argument.getType())).getPointee();
  int64_t bytes = std::max<int64_t>(1, pointee.getIntOrFloatBitWidth() / 8);
  address = sum(address, *grown, bytes);
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
  if (isUnsigned && (!isAtLeast(a, 0) || !isAtLeast(b, 0)))
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

void AccessSpace::readFamily(const LaunchFamily &family) {
  for (const LaunchFamily::Symbol &symbol : family.symbols)
    variable(symbol.name, symbol.low, symbol.high);
  for (const Polynomial &condition : family.atLeastZero)
    atLeastZero.push_back(polynomial(condition));
  for (unsigned axis = 0; axis < 3; ++axis) { // the program is one of the grid
    Form place;
    place.factors.assign(axis + 1, 0);
    place.factors.back() = 1;
    atLeastZero.push_back(sum(sum(polynomial(family.grid[axis]), number(-1)), place, -1));
  }
}

bool AccessSpace::read(tile::CheckAccessOp check) {
  for (int axis = 0; axis < 3; ++axis)
    variable("program " + std::to_string(axis), 0,
             launch.family ? INT32_MAX : std::max<int64_t>(0, int64_t(launch.facts.grid[axis]) - 1));
  if (launch.family)
    readFamily(*launch.family);
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
