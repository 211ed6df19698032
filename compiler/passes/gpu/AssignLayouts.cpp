// The pass around LayoutSolver: commits its answer. See AssignLayouts.h.
#include "compiler/passes/gpu/AssignLayouts.h"
#include "compiler/ir/layout/SharedAccess.h"
#include "compiler/ir/simt/ShapeLayouts.h"
#include "compiler/passes/gpu/Clusters.h"
#include "compiler/passes/gpu/LayoutSolver.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

static bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

namespace {

// Rewrites the kernel in place: types of tiles, operands in the layouts that their users want.
class Commit {
public:
  Commit(func::FuncOp kernel, LayoutSolver &solver, AxisAnalysis &analysis)
      : kernel(kernel), solver(solver), analysis(analysis) {}
  void run();

private:
  void collectOperations();
  void describeAccesses();
  Value inLayout(Value value, const LinearLayout &layout);
  Value clone(Value value, const LinearLayout &layout);
  void convertResult(Value result, const LinearLayout &given, const LinearLayout &wanted);
  void commitOperation(Operation *op);
  void commitDot(tile::DotOp op, DotPlanAttr plan);
  Value inRegisters(Value value, const LinearLayout &layout);
  Value inSharedMemory(Value value, unsigned kAxis, bool alongK, const LinearLayout &parts);
  Value writeToShared(Value value, const LinearLayout &shared);
  void commitCarried(Operation *op);
  void setOperand(OpOperand &operand, const LinearLayout &layout) { operand.set(inLayout(operand.get(), layout)); }

  func::FuncOp kernel;
  LayoutSolver &solver;
  AxisAnalysis &analysis;
  SmallVector<Operation *> operations, clonedOperations;
  DenseMap<std::pair<Value, Attribute>, Value> copies;       // of cloned tiles, and converts of others
  DenseMap<std::pair<Value, Attribute>, Value> sharedCopies; // by their layout in memory
};

} // namespace

void Commit::collectOperations() {
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == kernel)
      return WalkResult::advance();
    bool isCloned =
        llvm::any_of(op->getResults(), [&](Value result) { return isTile(result) && solver.isCloned(result); });
    (isCloned ? clonedOperations : operations).push_back(op);
    return isa<tile::ReduceOp, tile::ScanOp, tile::MapOp>(op) ? WalkResult::skip() : WalkResult::advance();
  });
}

// While facts about the values still stand.
void Commit::describeAccesses() {
  for (Operation *op : operations)
    if (std::optional<AccessDescription> access = describeAccess(op, analysis)) {
      AccessDescription::Vector vector = access->vectorIn(*solver.layoutOf(op));
      if (vector.count > 1 && !isa<LoadBoxOp, StoreBoxOp>(op))
        op->setAttr(vectorAttribute, DenseI32ArrayAttr::get(op->getContext(), {static_cast<int32_t>(vector.axis),
                                                                               static_cast<int32_t>(vector.count)}));
    }
}

// A copy of the operation behind a tile, with its result in the layout, beside the original.
Value Commit::clone(Value value, const LinearLayout &layout) {
  Operation *op = value.getDefiningOp();
  SmallVector<Value> operands;
  LinearLayout wanted = isShapeOperation(op) ? *operandLayout(op, layout) : layout;
  for (Value operand : op->getOperands())
    operands.push_back(isTile(operand) ? inLayout(operand, wanted) : operand);
  OpBuilder builder(op);
  RankedTensorType type = withLayout(value.getType(), layout);
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto dense = cast<DenseElementsAttr>(constant.getValue());
    dense = dense.isSplat() ? DenseElementsAttr::get(type, dense.getSplatValue<Attribute>()) : dense.reshape(type);
    return arith::ConstantOp::create(builder, op->getLoc(), type, dense);
  }
  Operation *copy = Operation::create(op->getLoc(), op->getName(), TypeRange{type}, operands,
                                      op->getDiscardableAttrDictionary(), op->getPropertiesStorage(), BlockRange(), 0);
  builder.insert(copy);
  return copy->getResult(0);
}

Value Commit::inLayout(Value value, const LinearLayout &layout) {
  bool isCloned = solver.isCloned(value);
  if (!isCloned && simt::layoutOf(value) == layout) // it has its type: definitions come before uses
    return value;
  Value &copy = copies[{value, LayoutAttr::get(kernel.getContext(), layout)}];
  if (copy)
    return copy;
  if (isCloned) {
    Value made = clone(value, layout); // may add to `copies`
    return copies[{value, LayoutAttr::get(kernel.getContext(), layout)}] = made;
  }
  // Right after the value, where every user finds it.
  OpBuilder builder(kernel.getContext());
  builder.setInsertionPointAfterValue(value);
  return copy = ConvertOp::create(builder, value.getLoc(), withLayout(value.getType(), layout), value);
}

// The operation gives the result in a layout other than its group's.
void Commit::convertResult(Value result, const LinearLayout &given, const LinearLayout &wanted) {
  result.setType(withLayout(result.getType(), given));
  if (given == wanted)
    return;
  OpBuilder builder(kernel.getContext());
  builder.setInsertionPointAfterValue(result);
  auto convert = ConvertOp::create(builder, result.getLoc(), withLayout(result.getType(), wanted), result);
  result.replaceAllUsesExcept(convert, convert);
}

void Commit::commitCarried(Operation *op) {
  auto setAll = [&](ValueRange values) {
    for (Value value : values)
      if (isTile(value))
        value.setType(withLayout(value.getType(), solver.layoutOf(value)));
  };
  setAll(op->getResults());
  for (Region &region : op->getRegions())
    for (Block &block : region)
      setAll(block.getArguments());
}

void Commit::commitOperation(Operation *op) {
  const LinearLayout *working = solver.layoutOf(op);
  bool isShape = isShapeOperation(op);
  // Backwards from what the results want, where that can be; else the operands' own layout, and a convert behind.
  std::optional<LinearLayout> wanted;
  if (working)
    wanted = *working;
  if (isShape)
    if (auto backwards = operandLayout(op, solver.layoutOf(op->getResult(0))))
      wanted = *backwards;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isTile(operand.get()))
      continue;
    if (LayoutSolver::takesAnyLayout(operand)) {
      if (solver.isCloned(operand.get()))
        setOperand(operand, defaultLayout(cast<RankedTensorType>(operand.get().getType()), solver.block));
    } else {
      setOperand(operand, *wanted);
    }
  }
  for (Value result : op->getResults()) {
    if (!isTile(result))
      continue;
    const LinearLayout &group = solver.layoutOf(result);
    if (isShape || isa<tile::ReduceOp>(op))
      convertResult(result, isShape && operandLayout(op, group) ? group : *resultLayout(op, *wanted), group);
    else if (isa<tile::LoadOp>(op))
      convertResult(result, *wanted, group);
    else
      result.setType(withLayout(result.getType(), group));
  }
}

// An operand in the registers that an instruction wants. One with its axes exchanged changes its layout before that: so
// it may come in that layout from where it was copied to. Parts of words are better put together on the way.
Value Commit::inRegisters(Value value, const LinearLayout &layout) {
  auto permute = solver.isCloned(value) ? tile::PermuteOp() : value.getDefiningOp<tile::PermuteOp>();
  if (!permute || elementBytes(getElementTypeOrSelf(value.getType())) < 4)
    return inLayout(value, layout);
  Value source = permute.getSource();
  if (auto convert = source.getDefiningOp<ConvertOp>())
    source = convert.getSource();
  source = inLayout(source, *operandLayout(permute, layout));
  OpBuilder builder(permute);
  return tile::PermuteOp::create(builder, permute.getLoc(), withLayout(value.getType(), layout), source,
                                 permute.getOrderAttr());
}

// The axis along which a tile's neighbours come together: those that its load gets at once, else those of which a
// thread has most. Of two axes with as many, the one that the registers take first; `otherwise` where there are none.
static unsigned axisOfNeighbours(Value value, unsigned otherwise) {
  const LinearLayout &layout = simt::layoutOf(value);
  if (Operation *op = value.getDefiningOp()) {
    if (auto vector = op->getAttrOfType<DenseI32ArrayAttr>(vectorAttribute))
      return vector[0];
    if (isa<LoadBoxOp>(op))
      return layout.rank() - 1;
  }
  SmallVector<unsigned> best;
  for (unsigned axis = 0; axis < layout.rank(); ++axis) {
    SmallVector<unsigned> registers = layout.contiguousRegisters(axis);
    if (registers.size() > best.size() || (!best.empty() && registers.size() == best.size() && registers[0] < best[0]))
      best = registers, otherwise = axis;
  }
  return otherwise;
}

// The tile in shared memory, in rows along k, or along the axis of its neighbours; written where it is made, so that
// what does not change in a loop is written before it. A tile with its axes exchanged is the other one's bytes. The
// blocks of a cluster have these parts of it.
Value Commit::inSharedMemory(Value value, unsigned kAxis, bool alongK, const LinearLayout &parts) {
  auto type = cast<RankedTensorType>(value.getType());
  if (solver.isCloned(value))
    value = inLayout(value, defaultLayout(type, solver.block));
  else if (auto permute = value.getDefiningOp<tile::PermuteOp>()) {
    Value source = permute.getSource();
    if (auto convert = source.getDefiningOp<ConvertOp>())
      source = convert.getSource();
    SmallVector<unsigned> back(2); // of two axes, any order is its own inverse
    llvm::copy(permute.getOrder(), back.begin());
    Value tile = inSharedMemory(source, permute.getOrder()[kAxis], alongK, parts.permute(back));
    OpBuilder builder(permute);
    SharedType viewed = simt::PermuteOp::typeOf(cast<SharedType>(tile.getType()), permute.getOrder());
    return simt::PermuteOp::create(builder, permute.getLoc(), viewed, tile, permute.getOrder());
  }
  const LinearLayout &layout = simt::layoutOf(value);
  unsigned other = 1 - kAxis, elementBits = llvm::Log2_64(elementBytes(type.getElementType()));
  SmallVector<unsigned> own = ownBits(layout.axisBits(), parts);
  bool hasRows = own[other] + elementBits >= 5; // of 32 bytes at least
  unsigned fastest = !alongK && hasRows ? axisOfNeighbours(value, kAxis) : kAxis;
  LinearLayout shared = sharedInRows(own, {fastest, 1 - fastest}, elementBits).product(parts);
  std::pair<Value, Attribute> key(value, LayoutAttr::get(kernel.getContext(), shared));
  if (Value copy = sharedCopies.lookup(key))
    return copy;
  // Threads write pieces of rows. Those that have none change the tile's layout first: that has no bank conflicts. It
  // takes as much shared memory again: large tiles are written as they are.
  constexpr int64_t mostTurned = 32 * 1024;
  bool mayTurn = (type.getNumElements() << elementBits) <= mostTurned;
  int64_t piece = std::min<int64_t>(16 >> elementBits, layout.extent(fastest));
  Value source = value;
  bool isTurned =
      mayTurn && layout.contiguity(fastest) < piece && layout.contiguity(1 - fastest) > layout.contiguity(fastest);
  bool isElsewhere = layout.basesOf(Place::Block) != shared.basesOf(Place::Block) || !layout.ofOneBlock();
  if (isTurned || isElsewhere)
    source =
        inLayout(value, spreadOverParts(layout.axisBits(), parts, {fastest, 1 - fastest}, piece, true, solver.block));
  return sharedCopies[key] = writeToShared(source, shared);
}

Value Commit::writeToShared(Value value, const LinearLayout &shared) {
  MLIRContext *context = kernel.getContext();
  auto type = cast<RankedTensorType>(value.getType());
  OpBuilder builder(context);
  builder.setInsertionPointAfterValue(value);
  auto sharedType =
      SharedType::get(context, type.getShape(), type.getElementType(), LayoutAttr::get(context, shared), 1);
  Value tile = AllocateOp::create(builder, value.getLoc(), sharedType);
  WriteOp::create(builder, value.getLoc(), value, tile);
  return tile;
}

void Commit::commitDot(tile::DotOp op, DotPlanAttr plan) {
  const LinearLayout &group = solver.layoutOf(op.getResult());
  auto operand = [&](Value tile, LayoutAttr layout, unsigned kAxis) {
    return layout ? inRegisters(tile, layout.getValue())
                  : inSharedMemory(tile, kAxis, plan.getAlongK(),
                                   partsOfOperand(plan.getResult().getValue(), kAxis == 1 ? 0 : 1));
  };
  Value a = operand(op.getA(), plan.getA(), 1), b = operand(op.getB(), plan.getB(), 0);
  Value sum = inLayout(op.getAccumulator(), plan.getResult().getValue());
  OpBuilder builder(op);
  Value result = DotOp::create(builder, op.getLoc(), sum.getType(), builder.getStringAttr(plan.getInstruction()),
                               /*async=*/UnitAttr(), a, b, sum, op.getMaxImpreciseAccAttr());
  if (group != plan.getResult().getValue())
    result = ConvertOp::create(builder, op.getLoc(), withLayout(result.getType(), group), result);
  op.replaceAllUsesWith(result);
  op.erase();
}

void Commit::run() {
  collectOperations();
  describeAccesses();
  // Types first, so that converts of values are of their final types; operands then, in the order of the program.
  for (Operation *op : operations)
    if (isa<scf::ForOp, scf::WhileOp, scf::IfOp>(op))
      commitCarried(op);
  for (Operation *op : operations) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (auto [number, argument] : llvm::enumerate(loop.getRegionIterArgs()))
        if (isTile(argument))
          setOperand(loop.getInitArgsMutable()[number], simt::layoutOf(argument));
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      for (auto [number, argument] : llvm::enumerate(loop.getBeforeArguments()))
        if (isTile(argument))
          setOperand(loop.getInitsMutable()[number], simt::layoutOf(argument));
    } else if (isa<scf::IfOp>(op)) {
      continue;
    } else if (isa<scf::YieldOp>(op)) {
      Operation *parent = op->getParentOp();
      for (OpOperand &operand : op->getOpOperands()) {
        unsigned number = operand.getOperandNumber();
        Value target = isa<scf::WhileOp>(parent) ? Value(cast<scf::WhileOp>(parent).getBeforeArguments()[number])
                       : isa<scf::ForOp>(parent) ? Value(cast<scf::ForOp>(parent).getRegionIterArgs()[number])
                                                 : Value(parent->getResult(number));
        if (isTile(target))
          setOperand(operand, simt::layoutOf(target));
      }
    } else if (isa<scf::ConditionOp>(op)) {
      auto arguments = cast<scf::WhileOp>(op->getParentOp()).getAfterArguments();
      for (OpOperand &operand : op->getOpOperands().drop_front())
        if (Value target = arguments[operand.getOperandNumber() - 1]; isTile(target))
          setOperand(operand, simt::layoutOf(target));
    } else if (auto plan = op->getAttrOfType<DotPlanAttr>(planAttribute)) {
      commitDot(cast<tile::DotOp>(op), plan);
    } else {
      commitOperation(op);
    }
  }
  for (Operation *op : llvm::reverse(clonedOperations))
    op->erase();
}

namespace {

struct AssignLayouts : PassWrapper<AssignLayouts, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AssignLayouts)
  AssignLayouts() = default;
  AssignLayouts(const AssignLayouts &other) : PassWrapper(other) {}
  AssignLayouts(int64_t laneCount, bool mayCheck) {
    lanes = laneCount;
    checksLaunches = mayCheck;
  }

  StringRef getArgument() const override { return "assign-layouts"; }
  StringRef getDescription() const override { return "Gives every tile a place in the registers of a block's threads"; }
  void getDependentDialects(DialectRegistry &registry) const override { registry.insert<SimtDialect>(); }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    BlockShape block;
    block.lanes = lanes;
    block.warps = tile::LaunchOptions::of(module).numWarps.value_or(4);
    block.ctas = tile::LaunchOptions::of(module).numCtas.value_or(1);
    block.attachTo(module);
    for (auto kernel : module.getOps<func::FuncOp>()) {
      if (!kernel->hasAttr(tile::kernelAttribute))
        continue;
      std::unique_ptr<AxisAnalysis> analysis = analyse(kernel);
      if (!analysis->trustedNonNegative().empty())
        relyOn(module, *analysis);
      LayoutSolver solver(kernel, *analysis, block);
      solver.solve();
      Commit(kernel, solver, *analysis).run();
      if (failed(verifyLayouts(kernel)))
        return signalPassFailure();
    }
  }

  // What is proved; and what launches are checked for, where an access gains by it.
  std::unique_ptr<AxisAnalysis> analyse(func::FuncOp kernel) {
    using Remainders = AxisAnalysis::Remainders;
    auto analysis = std::make_unique<AxisAnalysis>(kernel, checksLaunches ? Remainders::Trusted : Remainders::Proved);
    if (analysis->trustedNonNegative().empty())
      return analysis;
    auto proved = std::make_unique<AxisAnalysis>(kernel);
    WalkResult gain = kernel.walk([&](Operation *op) {
      std::optional<AccessDescription> before = describeAccess(op, *proved), after = describeAccess(op, *analysis);
      bool gains = before && (before->wide != after->wide || before->contiguity != after->contiguity ||
                              before->constancy != after->constancy);
      return gains ? WalkResult::interrupt() : WalkResult::advance();
    });
    return gain.wasInterrupted() ? std::move(analysis) : std::move(proved);
  }

  static void relyOn(ModuleOp module, const AxisAnalysis &analysis) {
    std::optional<LaunchCheck> check = launchCheckOf(analysis.trustedNonNegative());
    assert(check && "only such are trusted");
    module->setAttr(launchCheckAttribute, StringAttr::get(module.getContext(), check->text()));
  }

  Option<int64_t> lanes{*this, "lanes", llvm::cl::desc("threads of a warp"), llvm::cl::init(32)};
  Option<bool> checksLaunches{*this, "checks-launches", llvm::cl::desc("rely on what launches are checked for"),
                              llvm::cl::init(false)};
};

} // namespace

std::unique_ptr<Pass> nacre::simt::createAssignLayouts(int64_t lanes, bool checksLaunches) {
  return std::make_unique<AssignLayouts>(lanes, checksLaunches);
}
