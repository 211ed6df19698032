#include "compiler/passes/gpu/ChooseDots.h"
#include "compiler/ir/layout/Constructors.h"
#include "compiler/ir/simt/ShapeLayouts.h"
#include "compiler/passes/gpu/Clusters.h"
#include "compiler/passes/gpu/DescribeAccesses.h"
#include <bit>

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

namespace {

unsigned logarithm(int64_t number) { return llvm::Log2_64_Ceil(static_cast<uint64_t>(number)); }

// ---- Layouts

// The instruction's operand with the batch axis in front where the tile has one.
LinearLayout withRank(const LinearLayout &fragment, unsigned rank) { return rank == 3 ? fragment.expand(0) : fragment; }

// Only what lies within the tile: a basis beyond it makes copies.
LinearLayout cutTo(const LinearLayout &padded, ArrayRef<unsigned> axisBits) {
  LinearLayout result(axisBits);
  for (Place place : allPlaces)
    for (uint32_t basis : padded.basesOf(place)) {
      SmallVector<uint32_t> coordinates = padded.unpack(basis);
      for (auto [axis, coordinate] : llvm::enumerate(coordinates))
        coordinate &= (uint32_t(1) << axisBits[axis]) - 1;
      uint32_t packed = result.pack(coordinates);
      if (packed || place != Place::Register)
        result.add(place, packed);
    }
  return result;
}

// An operand's tile: the instruction's layout repeated by the warps along `warpAxes`, then by registers.
LinearLayout tileLayout(const LinearLayout &fragment, ArrayRef<int64_t> shape, ArrayRef<unsigned> warpAxes,
                        ArrayRef<unsigned> order) {
  LinearLayout instruction = withRank(fragment, shape.size());
  SmallVector<unsigned> bits = LinearLayout::paddedBits(shape), padded = bits;
  for (unsigned axis = 0; axis < padded.size(); ++axis)
    padded[axis] = std::max(padded[axis], instruction.axisBits(axis));
  return cutTo(tileOver(instruction, padded, warpAxes, order), bits);
}

// ---- What is around a dot

// What a value is made from, element by element; its own shape all the way.
bool comesFromDot(Value value, unsigned depth = 16) {
  Operation *op = value.getDefiningOp();
  if (!op || !depth || !isa<RankedTensorType>(value.getType()))
    return false;
  if (isa<tile::DotOp>(op))
    return true;
  return isElementwise(op) &&
         llvm::any_of(op->getOperands(), [&](Value operand) { return comesFromDot(operand, depth - 1); });
}

// Whether a row of the value is reduced, or becomes a row of the first operand of another product.
bool keepsRowsTogether(Value value, unsigned depth = 16) {
  if (!depth)
    return false;
  for (Operation *user : value.getUsers()) {
    if (auto reduce = dyn_cast<tile::ReduceOp>(user)) {
      if (static_cast<int64_t>(reduce.getAxis()) == cast<RankedTensorType>(value.getType()).getRank() - 1)
        return true;
    } else if (auto dot = dyn_cast<tile::DotOp>(user)) {
      if (dot.getA() == value)
        return true;
    } else if (isElementwise(user)) {
      for (Value result : user->getResults())
        if (isa<RankedTensorType>(result.getType()) && keepsRowsTogether(result, depth - 1))
          return true;
    }
  }
  return false;
}

// Whether a tile comes from memory in rows that are not along k.
bool liesAcross(Value value, unsigned kAxis, AxisAnalysis &analysis, unsigned depth = 16) {
  Operation *op = value.getDefiningOp();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!op || !depth || !type || type.getRank() != 2) // matrices of a batch are read as they lie
    return false;
  if (auto permute = dyn_cast<tile::PermuteOp>(op))
    return liesAcross(permute.getSource(), permute.getOrder()[kAxis], analysis, depth - 1);
  if (std::optional<AccessDescription> access = describeAccess(op, analysis))
    return access->contiguity[1 - kAxis] > access->contiguity[kAxis];
  return isElementwise(op) && llvm::any_of(op->getOperands(), [&](Value operand) {
           return liesAcross(operand, kAxis, analysis, depth - 1);
         });
}

// ---- Operands that change places

Value exchanged(OpBuilder &b, Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  auto result = RankedTensorType::get({type.getShape()[1], type.getShape()[0]}, type.getElementType());
  return tile::PermuteOp::create(b, tile.getLoc(), result, tile, b.getDenseI32ArrayAttr({1, 0}));
}

// The loop that hands the dot's result on to its own next iteration and does nothing else with it there.
scf::ForOp summingLoop(tile::DotOp op) {
  auto argument = dyn_cast<BlockArgument>(op.getAccumulator());
  auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
  if (!loop || op->getBlock() != loop.getBody() || argument == loop.getInductionVar() || !argument.hasOneUse() ||
      !op->hasOneUse() || loop.getYieldedValues()[argument.getArgNumber() - 1] != op.getResult())
    return {};
  return loop;
}

// a b + c as (b' a' + c')'. A sum that a loop carries is carried the other way round.
tile::DotOp changePlaces(tile::DotOp op) {
  scf::ForOp loop = summingLoop(op);
  OpBuilder b(op);
  Value left = exchanged(b, op.getB()), right = exchanged(b, op.getA()), sum = op.getAccumulator();
  if (loop) {
    unsigned number = cast<BlockArgument>(sum).getArgNumber() - 1;
    b.setInsertionPoint(loop);
    Value initial = exchanged(b, loop.getInitArgs()[number]), result = loop.getResult(number);
    loop.getInitArgsMutable()[number].set(initial);
    sum.setType(initial.getType());
    result.setType(initial.getType());
    b.setInsertionPointAfter(loop);
    Value back = exchanged(b, result);
    result.replaceAllUsesExcept(back, back.getDefiningOp());
    b.setInsertionPoint(op);
  } else {
    sum = exchanged(b, sum);
  }
  auto dot = tile::DotOp::create(b, op.getLoc(), sum.getType(), left, right, sum, op.getPrecisionAttr(),
                                 op.getMaxImpreciseAccAttr());
  op.replaceAllUsesWith(loop ? dot.getResult() : exchanged(b, dot.getResult()));
  op.erase();
  return dot;
}

// ---- The choice

class Chooser {
public:
  Chooser(tile::DotOp op, const Machine &machine, const BlockShape &block, AxisAnalysis &analysis)
      : op(op), machine(machine), block(block), analysis(analysis), type(cast<RankedTensorType>(op.getType())) {
    unsigned rank = type.getRank();
    parts = chooseParts();
    shape = ownShape(type.getShape(), parts);
    m = shape[rank - 2], n = shape[rank - 1];
    k = cast<RankedTensorType>(op.getA().getType()).getShape()[rank - 1];
  }

  // Whether a dot with the operands in each other's place is to be planned instead.
  bool changesPlaces() {
    const MatrixInstruction *row = find();
    if (!row || !row->bInShared || row->takesTransposed || !row->aInRegisters || !liesAcross(op.getB(), 0, analysis) ||
        liesAcross(op.getA(), 1, analysis))
      return false;
    std::swap(m, n);
    const MatrixInstruction *other = find();
    std::swap(m, n);
    return other && other->warps == row->warps;
  }

  // Null: plain arithmetic.
  DotPlanAttr choose() {
    const MatrixInstruction *row = find();
    bool hasOther = row && !row->across.empty();
    if (hasOther && !comesFromDot(op.getA()) && liesAcross(op.getA(), 1, analysis))
      row = machine.matrixInstruction(row->across);
    return row ? planFor(*row) : DotPlanAttr();
  }

private:
  // The result as the blocks of a cluster share it out: batches, then rows, where a block's share is no less than a
  // warpgroup's, or columns; the longer of the two.
  LinearLayout chooseParts() {
    unsigned rank = type.getRank(), rows = rank - 2, columns = rank - 1;
    SmallVector<unsigned> left = LinearLayout::paddedBits(type.getShape()), taken(rank);
    constexpr unsigned rowsOfGroup = 6, leastRows = 4, leastColumns = 4;
    auto nextAxis = [&] {
      bool mayRows = left[rows] > rowsOfGroup, mayColumns = left[columns] > leastColumns;
      if (rank == 3 && left[0])
        return 0u;
      if (mayRows && (left[rows] >= left[columns] || !mayColumns))
        return rows;
      return mayColumns ? columns : left[rows] > leastRows ? rows : copyAxis;
    };
    SmallVector<std::pair<unsigned, uint32_t>> bases;
    for (unsigned bit = 0; bit < logarithm(block.ctas); ++bit) {
      unsigned axis = nextAxis();
      if (axis == copyAxis)
        break;
      --left[axis];
      bases.emplace_back(axis, uint32_t(1) << taken[axis]++);
    }
    LinearLayout result(taken);
    for (auto [axis, basis] : bases)
      result.add(Place::Block, axis, basis);
    while (result.bits(Place::Block) < logarithm(block.ctas))
      result.add(Place::Block, 0);
    return result;
  }

  // What one block has of a tile.
  static SmallVector<int64_t> ownShape(ArrayRef<int64_t> whole, const LinearLayout &parts) {
    SmallVector<int64_t> own(whole);
    SmallVector<unsigned> bits = ownBits(LinearLayout::paddedBits(whole), parts);
    for (unsigned axis = 0; axis < own.size(); ++axis)
      if (parts.axisBits(axis))
        own[axis] = int64_t(1) << bits[axis];
    return own;
  }

  const MatrixInstruction *find() {
    bool mayRound = op.getPrecision() == tile::DotPrecision::TF32;
    auto a = matrixElementOf(getElementTypeOrSelf(op.getA().getType()), mayRound);
    auto b = matrixElementOf(getElementTypeOrSelf(op.getB().getType()), mayRound);
    if (!a || !b)
      return nullptr;
    const MatrixInstruction *best = nullptr;
    for (const MatrixInstruction &row : machine.matrixInstructions())
      if (!row.onlyAcross && row.a == *a && row.b == *b && row.sumType(op.getContext()) == type.getElementType() &&
          fits(row) && (!best || isBetter(row, *best)))
        best = &row;
    return best;
  }

  bool fits(const MatrixInstruction &row) const {
    if (row.warps == 1)
      return true;
    bool isPowerOfTwo = std::has_single_bit(static_cast<uint64_t>(k));
    return type.getRank() == 2 && block.warps >= row.warps && m >= row.m && isPowerOfTwo && k >= row.k &&
           logarithm(n) >= logarithm(row.n) && row.n <= columnsOfGroup(row);
  }

  // Groups of warps take rows first, then columns.
  int64_t columnsOfGroup(const MatrixInstruction &row) const {
    int64_t groups = block.warps / row.warps, rows = std::max<int64_t>(1, std::bit_ceil(uint64_t(m)) / row.m);
    return std::max<int64_t>(1, int64_t(std::bit_ceil(uint64_t(n))) / std::max<int64_t>(1, groups / rows));
  }

  bool isBetter(const MatrixInstruction &row, const MatrixInstruction &than) const {
    if (row.warps != than.warps)
      return row.warps > than.warps;
    if (row.n != than.n)
      return row.n > than.n;
    // The deepest that k fills, else the shallowest; the highest.
    bool isFilled = row.k <= k, wasFilled = than.k <= k;
    if (isFilled != wasFilled)
      return isFilled;
    if (row.k != than.k)
      return (row.k > than.k) == isFilled;
    return row.m > than.m;
  }

  // The axis of each warp bit beyond those that make the instruction together: batches first, then as the header says.
  SmallVector<unsigned> warpAxesFor(const MatrixInstruction &row) {
    unsigned rank = type.getRank(), rows = rank - 2, columns = rank - 1;
    SmallVector<unsigned> bits = LinearLayout::paddedBits(shape), left = bits;
    left[rows] -= std::min(left[rows], logarithm(row.m));
    left[columns] -= std::min(left[columns], logarithm(row.n));
    bool rowsFirst = row.warps > 1 || keepsRowsTogether(op.getResult());
    SmallVector<unsigned> axes;
    unsigned rowBits = logarithm(row.m), columnBits = logarithm(row.n);
    for (unsigned bit = logarithm(row.warps); bit < logarithm(block.warps); ++bit) {
      unsigned axis = copyAxis;
      if (rank == 3 && left[0])
        axis = 0;
      else if (left[rows] && (rowsFirst || !left[columns] || left[rows] + rowBits >= left[columns] + columnBits))
        axis = rows;
      else if (left[columns])
        axis = columns;
      if (axis != copyAxis)
        --left[axis];
      axes.push_back(axis);
    }
    return axes;
  }

  DotPlanAttr planFor(const MatrixInstruction &row) {
    unsigned rank = type.getRank(), rows = rank - 2, columns = rank - 1;
    SmallVector<unsigned> axes = warpAxesFor(row);
    auto without = [&](unsigned axis) {
      return llvm::map_to_vector(axes, [&](unsigned own) { return own == axis ? copyAxis : own; });
    };
    // Registers along the last axis, then the one before it, then batches.
    SmallVector<unsigned> order;
    for (unsigned axis = rank; axis-- > 0;)
      order.push_back(axis);
    MLIRContext *context = op.getContext();
    auto layout = [&](const LinearLayout &fragment, Value tile, const LinearLayout &tileParts,
                      ArrayRef<unsigned> warpAxes) {
      ArrayRef<int64_t> whole = cast<RankedTensorType>(tile.getType()).getShape();
      LinearLayout own = tileLayout(fragment, ownShape(whole, tileParts), warpAxes, order);
      return LayoutAttr::get(context, own.product(tileParts));
    };
    LayoutAttr result = layout(row.resultLayout, op.getResult(), parts, axes), a, b;
    auto operandParts = [&](unsigned operand) { return partsOfOperand(result.getValue(), operand); };
    if (row.aInRegisters &&
        (!row.aInShared || comesFromDot(op.getA()) || (!row.takesTransposed && liesAcross(op.getA(), 1, analysis))))
      a = layout(row.aLayout, op.getA(), operandParts(0), without(columns));
    if (!row.bInShared)
      b = layout(row.bLayout, op.getB(), operandParts(1), without(rows));
    return DotPlanAttr::get(context, row.name, result, a, b, !row.takesTransposed);
  }

  tile::DotOp op;
  const Machine &machine;
  const BlockShape &block;
  AxisAnalysis &analysis;
  RankedTensorType type;
  LinearLayout parts; // of the blocks of a cluster
  // Of what one block does.
  SmallVector<int64_t> shape;
  int64_t m, n, k;
};

struct ChooseDots : PassWrapper<ChooseDots, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ChooseDots)
  explicit ChooseDots(const Machine &machine) : machine(machine) {}

  StringRef getArgument() const override { return "choose-dots"; }
  StringRef getDescription() const override { return "Chooses the matrix instruction of each product"; }
  void getDependentDialects(DialectRegistry &registry) const override { registry.insert<SimtDialect>(); }

  void runOnOperation() override {
    BlockShape block;
    block.lanes = machine.lanes();
    block.warps = tile::LaunchOptions::of(getOperation()).numWarps.value_or(block.warps);
    block.ctas = tile::LaunchOptions::of(getOperation()).numCtas.value_or(1);
    for (auto kernel : getOperation().getOps<func::FuncOp>()) {
      SmallVector<tile::DotOp> dots;
      kernel.walk([&](tile::DotOp op) { dots.push_back(op); });
      if (dots.empty())
        continue;
      // How operands lie in memory decides what is fast, not what is right: remainders that launches are checked for
      // only later are trusted.
      AxisAnalysis analysis(kernel, AxisAnalysis::Remainders::Trusted);
      for (tile::DotOp &op : dots)
        if (Chooser(op, machine, block, analysis).changesPlaces())
          op = changePlaces(op);
      for (tile::DotOp op : dots)
        if (DotPlanAttr plan = Chooser(op, machine, block, analysis).choose())
          op->setAttr(planAttribute, plan);
    }
  }

  const Machine &machine;
};

} // namespace

std::unique_ptr<Pass> nacre::simt::createChooseDots(const Machine &machine) {
  return std::make_unique<ChooseDots>(machine);
}
