// See ProgramOrder.h.
#include "compiler/passes/cpu/ProgramOrder.h"
#include "compiler/ir/cpu/Cpu.h"
#include "compiler/passes/cpu/Emit.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

namespace {

// The axes of the grid that a scalar depends on, as a bit set; all of them where that is not known.
uint32_t gridAxes(Value value, DenseMap<Value, uint32_t> &known) {
  constexpr uint32_t all = 7;
  if (isa<BlockArgument>(value))
    return isa<func::FuncOp>(value.getParentBlock()->getParentOp()) ? 0 : all;
  if (auto found = known.find(value); found != known.end())
    return found->second;
  Operation *op = value.getDefiningOp();
  uint32_t result = all;
  if (auto id = dyn_cast<tile::ProgramIdOp>(op)) {
    result = 1u << id.getAxis();
  } else if (isa<arith::ConstantOp, tile::NumProgramsOp>(op)) {
    result = 0;
  } else if (isElementwise(op)) {
    result = 0;
    for (Value operand : op->getOperands())
      result |= gridAxes(operand, known);
  }
  return known[value] = result;
}

// Whether no program can tell in which order they run.
bool isUnordered(func::FuncOp kernel) {
  WalkResult result = kernel.walk([](Operation *op) {
    bool isOrdered =
        isa<tile::AtomicRmwOp, tile::AtomicCasOp, tile::BarrierOp, tile::PrintOp, tile::TellOp, tile::AssertOp,
            tile::CheckAccessOp, tile::ClockOp, tile::ProcessorOp, tile::InlineAsmOp, tile::ExternalCallOp, MultiplyOp>(
            op);
    if (auto load = dyn_cast<tile::LoadOp>(op))
      isOrdered = load.getIsVolatile();
    return isOrdered ? WalkResult::interrupt() : WalkResult::advance();
  });
  return !result.wasInterrupted();
}

// Of one axis of the grid: elements of the tiles that it moves along memory, and across.
struct Moves {
  int64_t along = 0, across = 0;
  bool isNear = false; // it moves some tile along memory, whatever else it does
};

// The axes of the grid that a scalar part of an address moves along memory and across it, as bit sets.
struct Directions {
  uint32_t along = 0, across = 0;

  // Adds `constant` times the scalar. Steps of a row of the tile, `near` elements at most, go along memory; those of
  // rows whose length only the launch knows, or of many elements, across.
  void add(Value scalar, int64_t constant, int64_t near, DenseMap<Value, uint32_t> &known) {
    uint32_t axes = gridAxes(scalar, known);
    if (axes == 0)
      return;
    Operation *op = scalar.getDefiningOp();
    if (op && isa<arith::ExtSIOp, arith::ExtUIOp>(op))
      return add(op->getOperand(0), constant, near, known);
    if (op && isa<arith::AddIOp, arith::SubIOp>(op)) {
      add(op->getOperand(0), constant, near, known);
      return add(op->getOperand(1), constant, near, known);
    }
    if (auto product = dyn_cast_or_null<arith::MulIOp>(op)) {
      for (auto [factor, other] : {std::pair{product.getLhs(), product.getRhs()}, {product.getRhs(), product.getLhs()}})
        if (std::optional<int64_t> value = getConstantIntValue(factor);
            value && !__builtin_mul_overflow(constant, *value, &constant))
          return add(other, constant, near, known);
      across |= axes;
      return;
    }
    (std::abs(constant) <= near ? along : across) |= axes;
  }
};

// Counts an access whose elements are neighbours along an axis of its tile.
void count(const AccessForm &form, ArrayRef<int64_t> shape, DenseMap<Value, uint32_t> &known,
           MutableArrayRef<Moves> moves) {
  auto isNeighbour = [](const AccessTerm &term) {
    return term.axis >= 0 && term.isAffine() && term.constant == 1 && term.scalars.empty();
  };
  auto neighbour = llvm::find_if(form.terms, isNeighbour);
  if (neighbour == form.terms.end())
    return;
  int64_t elements = 1, near = shape[neighbour->axis];
  for (int64_t extent : shape)
    elements *= extent;
  Directions directions;
  for (const AccessTerm &term : form.terms) {
    if (term.axis >= 0)
      continue;
    if (term.scalars.size() == 1)
      directions.add(term.scalars.front(), term.constant, near, known);
    else
      for (Value scalar : term.scalars)
        directions.across |= gridAxes(scalar, known);
  }
  Value base = form.base;
  while (auto moved = base ? base.getDefiningOp<tile::AddPtrOp>() : tile::AddPtrOp()) {
    if (isTile(moved.getResult()))
      break;
    directions.add(moved.getOffset(), 1, near, known);
    base = moved.getPointer();
  }
  for (int axis = 0; axis < 3; ++axis) {
    moves[axis].isNear |= (directions.along >> axis) & 1;
    if (directions.across & (1u << axis))
      moves[axis].across += elements;
    else if (directions.along & (1u << axis))
      moves[axis].along += elements;
  }
}

// Whether neighbours in memory lie along another axis than the last: such tiles are turned, in loops of their own.
bool liesTheOtherWay(const AxisInfo &pointers) {
  int64_t along = pointers.axes().back().contiguity;
  return llvm::any_of(pointers.axes().drop_back(), [&](const AxisFacts &axis) { return axis.contiguity > along; });
}

// Rows of so many bytes are as good as any: what fetches ahead works within a page.
constexpr int64_t longRow = 4096;

// The bytes of a row of the tiles that the program works on, where it is one nest of loops over tiles of one shape,
// each loaded before the first is stored. None where it is more than that.
std::optional<int64_t> rowBytes(func::FuncOp kernel, const Plan &plan) {
  ArrayRef<int64_t> shape;
  int64_t bytes = 0;
  bool hasStored = false;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    Place place = plan.place(&op);
    if (op.getNumRegions() != 0 || place == Place::Standalone || place == Place::Deferred || place == Place::Control)
      return std::nullopt;
    if (place != Place::Pinned) {
      if (!isMemoryEffectFree(&op))
        return std::nullopt;
      continue;
    }
    auto store = dyn_cast<tile::StoreOp>(op);
    Type type = store ? store.getValue().getType() : op.getResult(0).getType();
    if (!shape.empty() && tile::shapeOf(type) != shape)
      return std::nullopt;
    shape = tile::shapeOf(type);
    if (isa<tile::LoadOp>(op) && hasStored)
      return std::nullopt;
    hasStored |= store != nullptr;
    if (store || isa<tile::LoadOp>(op))
      bytes = std::max(bytes, shape.back() * byteSize(getElementTypeOrSelf(type)));
  }
  bool hasRows = shape.size() >= 2 && shape.back() > 1 &&
                 llvm::any_of(shape.drop_back(), [](int64_t extent) { return extent > 1; });
  return hasRows && bytes > 0 ? std::optional(bytes) : std::nullopt;
}

} // namespace

ProgramOrder nacre::cpu::programOrder(func::FuncOp kernel, const Plan &plan,
                                      llvm::function_ref<AxisAnalysis &()> axes) {
  ProgramOrder order;
  uint32_t used = 0;
  kernel.walk([&](tile::ProgramIdOp id) { used |= 1u << id.getAxis(); });
  if (used == 0)
    return order;
  std::optional<int64_t> row = rowBytes(kernel, plan);
  if (((used & (used - 1)) == 0 && !row) || !isUnordered(kernel))
    return order;
  AccessForms forms(axes());
  DenseMap<Value, uint32_t> known;
  Moves moves[3];
  bool isAnyTurned = false;
  kernel.walk([&](Operation *op) {
    if (!isa<tile::LoadOp, tile::StoreOp>(op) || !isTile(op->getOperand(0)))
      return;
    isAnyTurned |= liesTheOtherWay(axes().info(op->getOperand(0)));
    if (const AccessForm *form = forms.form(op->getOperand(0)))
      count(*form, tile::shapeOf(op->getOperand(0).getType()), known, moves);
  });
  // The axis that x gives way to only ever moves along memory, where x only ever moves across.
  for (int axis : {1, 2})
    if (moves[0].across > 0 && moves[0].along == 0 && moves[axis].along > 0 && moves[axis].across == 0) {
      std::swap(order.axes[0], order.axes[axis]);
      break;
    }
  if (row && *row < longRow && moves[order.axes[0]].isNear && !isAnyTurned)
    order.mostTurns = 4 * longRow / *row;
  return order;
}
