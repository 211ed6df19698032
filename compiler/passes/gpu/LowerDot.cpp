// Products by matrix instructions (simt.dot).
//
// A tile is a grid of instructions. Which of them a warp does follows from its result: those whose first element is in
// its registers. The registers of an instruction's operand are found in the tile's layout by the coordinates that the
// instruction's own layout gives them; coordinates beyond the tile are those of the copies that are held there, and
// zero along k. Instructions of one warp go along k last, so that little of the operands has to be in registers at
// once.
#include "compiler/ir/layout/Constructors.h"
#include "compiler/passes/gpu/Lowering.h"
#include "compiler/support/PlantedBugs.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

namespace {

// An operand in registers: which of the tile's registers are those of an instruction at a place of the grid.
class RegisterOperand {
public:
  RegisterOperand(const LinearLayout &tile, const LinearLayout &instruction)
      : tile(tile), instruction(instruction), registers(tile.outputBits(), tile.basesOf(Place::Register)),
        batchAxes(tile.rank() - 2) {}

  // Where an instruction's element is, the thread's share apart, at (batch, row, column) of the grid.
  SmallVector<uint32_t> coordinates(uint32_t reg, ArrayRef<uint32_t> origin) const {
    SmallVector<uint32_t> result(origin);
    uint32_t packed = instruction.apply(Position{.reg = reg});
    for (unsigned axis = 0; axis < 2; ++axis)
      result[batchAxes + axis] |= instruction.coordinate(packed, axis);
    return result;
  }

  // The tile's register; none: another warp has it.
  std::optional<uint32_t> find(uint32_t reg, ArrayRef<uint32_t> origin) const {
    SmallVector<uint32_t> place = coordinates(reg, origin);
    for (auto [axis, coordinate] : llvm::enumerate(place))
      coordinate &= tile.extent(axis) - 1;
    return registers.solve(tile.pack(place));
  }

  uint32_t count() const { return instruction.count(Place::Register); }

  const LinearLayout &tile, &instruction;

private:
  BitMatrix registers;
  unsigned batchAxes;
};

class MatrixDot {
public:
  MatrixDot(Lowering &lowering, DotOp op, const MatrixInstruction &row)
      : lowering(lowering), b(lowering.b), op(op), row(row), type(cast<RankedTensorType>(op.getType())),
        result(layoutOf(type), row.resultLayout) {
    ArrayRef<int64_t> shape = type.getShape();
    rank = shape.size();
    depth = depthOf(op);
    sums.assign(lowering.registers(op.getAccumulator()).begin(), lowering.registers(op.getAccumulator()).end());
  }

  SmallVector<Value> run() {
    if (!row.isAsync) {
      SmallVector<OwnPlace> places = ownPlaces();
      for (int64_t step = 0; step < steps(); ++step)
        for (const OwnPlace &place : places)
          for (auto [number, value] : llvm::zip_equal(place.numbers, oneByOne(place.origin, step, sumsOf(place))))
            sums[number] = value;
      return sums;
    }
    if (std::optional<int64_t> group = stepsOfGroup(row, op)) {
      addGroups(*group);
    } else if (op.getAsync() && lowering.isReadOnDemand(op.getA())) {
      startInParts();
    } else {
      start(0, steps());
      if (!op.getAsync())
        wait(0, sums);
    }
    return sums;
  }
  // Words of the left operand that instructions still under way read.
  ArrayRef<Value> heldWords() const { return held; }

private:
  // The instructions of the result that are this warp's: where the first element is, and the numbers of the sums.
  struct OwnPlace {
    SmallVector<uint32_t> origin, numbers;
  };
  SmallVector<OwnPlace> ownPlaces() {
    SmallVector<OwnPlace> places;
    forEachPlace([&](ArrayRef<uint32_t> origin) {
      SmallVector<uint32_t> numbers;
      for (uint32_t reg = 0; reg < result.count(); ++reg) {
        std::optional<uint32_t> number = result.find(reg, origin);
        if (!number)
          return; // another warp's
        numbers.push_back(*number);
      }
      places.push_back({SmallVector<uint32_t>(origin), std::move(numbers)});
    });
    return places;
  }
  SmallVector<Value> sumsOf(const OwnPlace &place) const {
    return llvm::map_to_vector(place.numbers, [&](uint32_t number) { return sums[number]; });
  }

  // Starts `count` instructions along k of every place, from step `first` on: one group.
  void start(int64_t first, int64_t count) {
    SmallVector<OwnPlace> places = ownPlaces();
    std::vector<MatrixProduct> products;
    for (const OwnPlace &place : places) {
      MatrixOperand right = inShared(op.getB(), place.origin[1], /*outerAxis=*/1, first, count);
      MatrixOperand left = isa<SharedType>(op.getA().getType())
                               ? inShared(op.getA(), place.origin[0], /*outerAxis=*/0, first, count)
                               : inRegisters(place.origin[0], first, count);
      products.push_back({std::move(left), std::move(right), sumsOf(place)});
    }
    for (const MatrixProduct &product : products)
      llvm::append_range(held, product.left.words);
    SmallVector<Value> started = lowering.machine.asyncProducts()->startProducts(b, row, products, count);
    ArrayRef<Value> rest = started;
    for (const OwnPlace &place : places) {
      for (auto [number, value] : llvm::zip(place.numbers, rest))
        sums[number] = value;
      rest = rest.drop_front(place.numbers.size());
    }
    lowering.machine.asyncProducts()->commitProducts(b, row);
  }

  void wait(unsigned pending, llvm::MutableArrayRef<Value> waited) {
    lowering.machine.asyncProducts()->waitForProducts(b, pending, waited, held);
    if (pending == 0)
      held.clear();
  }

  void addGroups(int64_t group) {
    SmallVector<Value> whole = sums;
    Value zero = lowering.zero(whole.front().getType());
    for (int64_t first = 0; first < steps(); first += group) {
      sums.assign(whole.size(), zero);
      start(first, std::min(group, steps() - first));
      wait(0, sums);
      for (auto [into, part] : llvm::zip_equal(whole, sums))
        into = LLVM::FAddOp::create(b, into, part);
    }
    sums = whole;
  }

  // An operand that is read for this dot alone, in two parts along k: one is read while the instructions that take the
  // other are under way. Its registers are free when all but the last group have been waited for. (Parts are groups:
  // the last one is under way at the end.)
  void startInParts() {
    int64_t count = llvm::divideCeil(steps(), 2);
    for (int64_t first = 0; first < steps(); first += count) {
      wait(count < steps() ? 1 : 0, {});
      start(first, std::min(count, steps() - first));
    }
  }

  // Every instruction of the result, as the place of its first element.
  void forEachPlace(llvm::function_ref<void(ArrayRef<uint32_t>)> visit) {
    const LinearLayout &tile = result.tile;
    uint32_t batches = rank == 3 ? type.getShape()[0] : 1;
    SmallVector<uint32_t> origin(rank);
    for (uint32_t batch = 0; batch < batches; ++batch)
      for (uint32_t i = 0; i < tile.extent(rank - 2); i += row.m)
        for (uint32_t j = 0; j < tile.extent(rank - 1); j += row.n) {
          if (rank == 3)
            origin[0] = batch;
          origin[rank - 2] = i, origin[rank - 1] = j;
          visit(origin);
        }
  }

  int64_t steps() const { return llvm::divideCeil(std::max<int64_t>(depth, 1), row.k); }

  // Words of an operand in registers: neighbours along k share one.
  SmallVector<Value> words(const RegisterOperand &operand, Value tile, ArrayRef<uint32_t> origin, unsigned kAxis) {
    Type element = getElementTypeOrSelf(tile.getType());
    SmallVector<Value> elements;
    for (uint32_t reg = 0; reg < operand.count(); ++reg) {
      Value value = lowering.registerOf(tile, *operand.find(reg, origin));
      if (depth % row.k != 0 && !planted(PlantedBug::DotDepthPad))
        value = zeroBeyond(operand, reg, origin, kAxis, value);
      elements.push_back(value);
    }
    return lowering.packWords(elements, element);
  }

  // The value, or zero where the thread's element of an instruction lies beyond the depth of the product.
  Value zeroBeyond(const RegisterOperand &operand, uint32_t reg, ArrayRef<uint32_t> origin, unsigned kAxis,
                   Value value) {
    unsigned axis = kAxis - (rank - 2);
    uint32_t least = operand.coordinates(reg, origin)[kAxis];
    uint32_t most = least;
    for (uint32_t basis : operand.instruction.basesOf(Place::Lane))
      most |= operand.instruction.coordinate(basis, axis);
    if (most < depth)
      return value;
    Value zero = lowering.zero(value.getType());
    if (least >= depth)
      return zero;
    Value place = lowering.coordinate(operand.instruction, reg, axis);
    if (origin[kAxis])
      place = LLVM::AddOp::create(b, place, lowering.i32(origin[kAxis]));
    Value isInside = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ult, place, lowering.i32(depth));
    return LLVM::SelectOp::create(b, isInside, value, zero);
  }

  SmallVector<uint32_t> originOf(ArrayRef<uint32_t> origin, unsigned axis, uint32_t outer, unsigned kAxis, uint32_t k) {
    SmallVector<uint32_t> place(origin);
    place[axis] = outer, place[kAxis] = k;
    return place;
  }

  SmallVector<Value> oneByOne(ArrayRef<uint32_t> origin, int64_t step, ArrayRef<Value> own) {
    RegisterOperand left(layoutOf(op.getA()), row.aLayout), right(layoutOf(op.getB()), row.bLayout);
    uint32_t k = step * row.k;
    SmallVector<uint32_t> ofA = originOf(origin, rank - 2, origin[rank - 2], rank - 1, k);
    SmallVector<uint32_t> ofB = originOf(origin, rank - 1, origin[rank - 1], rank - 2, k);
    return lowering.machine.multiply(b, row, words(left, op.getA(), ofA, rank - 1),
                                     words(right, op.getB(), ofB, rank - 2), own);
  }

  MatrixOperand inRegisters(uint32_t outer, int64_t first, int64_t count) {
    MatrixOperand left;
    RegisterOperand operand(layoutOf(op.getA()), row.aLayout);
    for (int64_t step = first; step < first + count; ++step) {
      uint32_t place[] = {outer, static_cast<uint32_t>(step * row.k)};
      llvm::append_range(left.words, words(operand, op.getA(), place, 1));
    }
    return left;
  }

  // The rows of a tile in shared memory from `outer` on, and on by what the warp's share of the result is.
  MatrixOperand inShared(Value tile, uint32_t outer, unsigned outerAxis, int64_t firstStep, int64_t count) {
    auto shared = cast<SharedType>(tile.getType());
    const LinearLayout layout = *shared.getLayout().getValue().ofOneBlock();
    unsigned elementBits = llvm::Log2_64(Lowering::byteSize(shared.getElementType()));
    std::optional<SwizzledRows> rows = matchSwizzledRows(layout, elementBits);
    assert(rows && "verifyDots has looked at it");
    BitMatrix offsetOf = *BitMatrix(layout.outputBits(), layout.basesOf(Place::Offset)).inverse();
    auto bytesAt = [&](uint32_t outerPlace, uint32_t k) {
      uint32_t place[2];
      place[outerAxis] = outerPlace, place[1 - outerAxis] = k;
      return offsetOf.apply(layout.pack(place)) << elementBits;
    };
    LinearLayout ofWarp({20}); // bytes
    for (Place place : {Place::Lane, Place::Warp})
      for (auto [bit, basis] : llvm::enumerate(result.tile.basesOf(place))) {
        bool isOfGroup = place == Place::Lane || bit < llvm::Log2_32(row.warps);
        uint32_t along = isOfGroup ? 0 : result.tile.coordinate(basis, outerAxis);
        ofWarp.add(place, along ? bytesAt(along, 0) : 0);
      }
    MatrixOperand operand;
    operand.start = lowering.byteOffset(lowering.scalar(tile), lowering.coordinate(ofWarp, 0, 0));
    operand.rowBytes = 1u << rows->spanBits;
    operand.isTransposed = rows->fastest == outerAxis;
    operand.panelBytes = operand.rowBytes << layout.axisBits(1 - rows->fastest);
    uint32_t first = bytesAt(outer, 0);
    for (int64_t step = firstStep; step < firstStep + count; ++step)
      operand.offsets.push_back(first + bytesAt(0, step * row.k));
    return operand;
  }

  Lowering &lowering;
  simt::Builder &b;
  DotOp op;
  const MatrixInstruction &row;
  RankedTensorType type;
  RegisterOperand result;
  unsigned rank;
  int64_t depth;
  SmallVector<Value> sums, held;
};

} // namespace

LogicalResult Lowering::lowerMatrixDot(DotOp op) {
  const MatrixInstruction *row = machine.matrixInstruction(op.getInstruction());
  if (!row)
    return fail(op, "the machine has no matrix instruction '" + op.getInstruction() + "'");
  if (op.getAsync() && stepsOfGroup(*row, op))
    return fail(op, "sums in groups, each of which is waited for, and cannot be async");
  MatrixDot dot(*this, op, *row);
  define(op, dot.run());
  heldByDots[op] = SmallVector<Value>(dot.heldWords());
  return success();
}

LogicalResult Lowering::lowerWaitDots(WaitDotsOp op) {
  SmallVector<Value> values, held;
  for (Value operand : op.getOperands()) {
    llvm::append_range(values, registers(operand));
    llvm::append_range(held, heldByDots.lookup(operand.getDefiningOp()));
  }
  machine.asyncProducts()->waitForProducts(b, op.getPending(), values, held);
  ArrayRef<Value> left = values;
  for (Value result : op.getResults()) {
    unsigned count = registerCount(result.getType());
    define(result, left.take_front(count));
    left = left.drop_front(count);
  }
  return success();
}
