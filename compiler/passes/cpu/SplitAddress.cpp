// See SplitAddress.h.
#include "compiler/passes/cpu/SplitAddress.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

namespace {

// Integers of a kernel as they would be in some launch: its first program, with made-up arguments.
class Example {
public:
  // Of a hundred neighbours along the axis, how many are neighbours in memory; 0 where that cannot be computed.
  int64_t neighbours(const AccessForm &form, int axis, int64_t extent) {
    int64_t found = 0;
    std::optional<int64_t> last;
    for (int64_t place = 0; place < extent; ++place) {
      std::optional<int64_t> address = 0;
      for (const AccessTerm *term : form.along(axis))
        address = sum(address, valueOf(*term, place));
      if (!address)
        return 0;
      found += last && *address == *last + 1;
      last = address;
    }
    return extent > 1 ? 100 * found / (extent - 1) : 0;
  }

private:
  static constexpr int64_t madeUp = 1000;
  int64_t stepsLeft = 100000; // long chains that read each other twice are given up

  static std::optional<int64_t> sum(std::optional<int64_t> a, std::optional<int64_t> b) {
    int64_t result;
    return a && b && !__builtin_add_overflow(*a, *b, &result) ? std::optional(result) : std::nullopt;
  }
  static std::optional<int64_t> product(std::optional<int64_t> a, std::optional<int64_t> b) {
    int64_t result;
    return a && b && !__builtin_mul_overflow(*a, *b, &result) ? std::optional(result) : std::nullopt;
  }

  std::optional<int64_t> valueOf(const AccessTerm &term, int64_t place) {
    std::optional<int64_t> value = term.constant;
    for (Value scalar : term.scalars)
      value = product(value, evaluate(scalar, 0, -1));
    return product(value, term.isAffine() ? std::optional(place) : evaluate(term.tile, place, term.tileAxis));
  }

  // The value's element at `place` along `axis`, and at the start of its other axes.
  std::optional<int64_t> evaluate(Value value, int64_t place, int axis) {
    Operation *op = value.getDefiningOp();
    if (--stepsLeft < 0 || !getElementTypeOrSelf(value.getType()).isIntOrIndex())
      return std::nullopt;
    if (!op)
      return isa<func::FuncOp>(value.getParentBlock()->getParentOp()) ? madeUp : lowestOf(value);
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      if (auto number = dyn_cast<IntegerAttr>(constant.getValue()))
        return number.getInt();
      auto elements = dyn_cast<SplatElementsAttr>(constant.getValue());
      return elements ? std::optional(elements.getSplatValue<APInt>().getSExtValue()) : std::nullopt;
    }
    if (isa<tile::ProgramIdOp>(op))
      return 0;
    if (isa<tile::NumProgramsOp>(op))
      return madeUp;
    if (auto arange = dyn_cast<tile::ArangeOp>(op))
      return static_cast<int64_t>(arange.getStart()) + (axis == 0 ? place : 0);
    if (isa<tile::SplatOp>(op))
      return evaluate(op->getOperand(0), 0, -1);
    if (isa<tile::BroadcastOp, tile::HintOp>(op))
      return evaluate(op->getOperand(0), place, axis);
    if (auto expand = dyn_cast<tile::ExpandDimsOp>(op)) {
      int inserted = static_cast<int>(expand.getAxis());
      return evaluate(expand.getSource(), place, axis == inserted ? -1 : axis > inserted ? axis - 1 : axis);
    }
    if (!isElementwise(op) || op->getNumOperands() == 0 || op->getNumOperands() > 2)
      return std::nullopt;
    std::optional<int64_t> a = evaluate(op->getOperand(0), place, axis);
    if (isa<arith::ExtSIOp, arith::TruncIOp, arith::ExtUIOp>(op))
      return a;
    std::optional<int64_t> b = a && op->getNumOperands() == 2 ? evaluate(op->getOperand(1), place, axis) : std::nullopt;
    if (!a || !b)
      return std::nullopt;
    if (isa<arith::AddIOp>(op))
      return sum(a, b);
    if (isa<arith::SubIOp>(op))
      return sum(a, product(b, -1));
    if (isa<arith::MulIOp>(op))
      return product(a, b);
    if (isa<arith::DivSIOp, arith::RemSIOp>(op) && *b > 0)
      return isa<arith::DivSIOp>(op) ? *a / *b : *a % *b;
    return std::nullopt;
  }

  // A loop starts at its lower bound.
  std::optional<int64_t> lowestOf(Value argument) {
    auto loop = dyn_cast<scf::ForOp>(argument.getParentBlock()->getParentOp());
    return loop && argument == loop.getInductionVar() ? evaluate(loop.getLowerBound(), 0, -1) : std::nullopt;
  }
};

// The only load that the value is made of, element by element.
tile::LoadOp loadBehind(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto load = dyn_cast<tile::LoadOp>(op))
      return load;
    SmallVector<Value> tiles;
    for (Value operand : op->getOperands())
      if (isTile(operand))
        tiles.push_back(operand);
    if (!isElementwise(op) || tiles.size() != 1)
      return {};
    value = tiles.front();
  }
  return {};
}

} // namespace

SplitLoad nacre::cpu::findSplitLoad(Lowering &lowering, Value source, int axis, int other) {
  constexpr int64_t likely = 75; // of a hundred
  tile::LoadOp load = loadBehind(source);
  if (!load || load.getIsVolatile() || lowering.plan.place(load) != Place::Deferred)
    return {};
  const AccessForm *form = lowering.accessForm(load.getPointer());
  if (!form || !form->base || isTile(form->base))
    return {};
  ArrayRef<int64_t> shape = tile::shapeOf(load.getType());
  Example example;
  int64_t along = example.neighbours(*form, axis, shape[axis]);
  if (along < likely || example.neighbours(*form, other, shape[other]) >= along)
    return {};
  return {load, form};
}
