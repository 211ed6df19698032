// See SoftwarePipeline.h.
#include "compiler/passes/gpu/SoftwarePipeline.h"
#include "compiler/ir/simt/Boxes.h"
#include "compiler/ir/simt/ShapeLayouts.h"
#include "compiler/passes/gpu/LoopPlan.h"
#include "compiler/passes/gpu/Machine.h"
#include "compiler/passes/gpu/Rings.h"
#include "compiler/passes/gpu/Scratch.h"
#include "compiler/passes/gpu/SharedAccesses.h"
#include "compiler/support/PlantedBugs.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

namespace {

// Whether a box is read by the threads' own loads, not by dots alone, which read by the async proxy.
bool isReadByThreads(const Stage &stage) {
  if (!isa<LoadBoxOp>(stage.load))
    return false;
  WriteOp write = onlyWrite(stage.load);
  if (!write || write.getTarget().getType() != stage.tile)
    return true;
  auto allocation = write.getTarget().getDefiningOp<AllocateOp>();
  return !allocation || llvm::any_of(usersOf(allocation), [](Operation *user) { return isa<ReadOp>(user); });
}

class Rewrite {
public:
  explicit Rewrite(LoopPlan &plan)
      : plan(plan), loop(plan.loop), isRepeated(loop->getParentOfType<LoopLikeOpInterface>()), b(plan.loop),
        location(plan.loop.getLoc()), areBoxesRead(llvm::any_of(plan.stages, isReadByThreads)) {}
  void run();

private:
  // The values of an iteration ahead: what its addresses need.
  struct Ahead {
    Value induction, exists;    // its induction variable; whether there is such an iteration
    SmallVector<Value> carried; // in the order of plan.carried
    Value slot;
    SmallVector<Value> all() const {
      SmallVector<Value> values{induction, exists, slot};
      llvm::append_range(values, carried);
      return values;
    }
    static Ahead of(ValueRange values) {
      return {values[0], values[1], SmallVector<Value>(values.drop_front(3)), values[2]};
    }
  };

  Value number(int64_t value) { return arith::ConstantOp::create(b, location, b.getI32IntegerAttr(value)); }
  Ahead copyAhead(const Ahead &ahead);
  void awaitWords(int64_t pending);
  SmallVector<Value> leaveUnderWay();
  SmallVector<Value> waitForDots(MutableArrayRef<Value> sums, int64_t pending, ValueRange operands = {});
  SmallVector<Value> readOperands(Value slot, Value phase);
  SmallVector<Value> readFirstOperands(Value exists);
  void takeOperands(ValueRange operands);
  void readInParts(const OperandInParts &operand, Value slot);
  void meetBeforeCopies();

  LoopPlan &plan;
  scf::ForOp loop;
  const bool isRepeated; // it stands in another loop
  OpBuilder b;
  Location location;
  const bool areBoxesRead; // by the threads' own loads; else by dots alone
};

// Starts the copies of an iteration, and gives the values of the one after it.
Rewrite::Ahead Rewrite::copyAhead(const Ahead &ahead) {
  IRMapping map;
  // Beside dots under way, which leave no time, each copy's address is computed from what the loop carries. A variable
  // of the loop for each of them, as LLVM would have it, is moved before it is counted up, since the copy reads it
  // late: one copy then waits for the other.
  bool isUrgent = plan.hasWords && !plan.dotsUnderWay.empty() && plan.operandsAhead.empty();
  auto opaque = [&](Value value) -> Value {
    bool isNumber = value.getType().isSignlessInteger(32) || value.getType().isSignlessInteger(64);
    return isUrgent && isNumber ? OpaqueOp::create(b, location, value.getType(), value).getResult() : value;
  };
  map.map(loop.getInductionVar(), opaque(ahead.induction));
  for (auto [index, value] : llvm::zip_equal(plan.carried, ahead.carried))
    map.map(loop.getRegionIterArg(index), opaque(value));
  for (Operation *op : plan.slice)
    b.clone(*op, map);
  for (const Stage &stage : plan.stages) {
    Value tile = SlotOp::create(b, location, stage.tile, stage.ring, ahead.slot);
    if (auto load = dyn_cast<tile::LoadOp>(stage.load)) {
      Value mask = load.getMask() ? map.lookupOrDefault(load.getMask()) : Value();
      if (mask && planted(PlantedBug::CopyMask))
        mask = Value();
      auto copy = CopyOp::create(b, load.getLoc(), map.lookupOrDefault(load.getPointer()), tile, mask, ahead.exists);
      if (Attribute vector = load->getAttr(vectorAttribute))
        copy->setAttr(vectorAttribute, vector);
    } else {
      auto box = cast<LoadBoxOp>(stage.load);
      SmallVector<Value> coordinates;
      for (Value coordinate : box.getCoordinates())
        coordinates.push_back(map.lookupOrDefault(coordinate));
      CopyBoxOp::create(b, box.getLoc(), box.getMap(), coordinates, tile, stage.barriers, ahead.slot, ahead.exists,
                        b.getI64IntegerAttr(stage.expected));
    }
  }
  if (plan.hasWords)
    CommitCopiesOp::create(b, location);
  // While there is an iteration, its distance to the upper bound is known without overflow.
  Ahead next;
  Value left = arith::SubIOp::create(b, location, loop.getUpperBound(), ahead.induction);
  Value isMore = arith::CmpIOp::create(b, location, arith::CmpIPredicate::ugt, left, loop.getStep());
  if (planted(PlantedBug::CopyOneMore))
    isMore = arith::CmpIOp::create(b, location, arith::CmpIPredicate::uge, left, loop.getStep());
  next.exists = arith::AndIOp::create(b, location, ahead.exists, isMore);
  next.induction = arith::AddIOp::create(b, location, ahead.induction, loop.getStep());
  for (unsigned index : plan.carried)
    next.carried.push_back(map.lookupOrDefault(loop.getYieldedValues()[index]));
  next.slot = nextSlot(b, location, plan.slots, ahead.slot);
  return next;
}

// The thread's copies for this iteration are done, and visible to the dots that read through the async proxy.
void Rewrite::awaitWords(int64_t pending) {
  if (!plan.hasWords)
    return;
  if (planted(PlantedBug::CopyWait))
    ++pending;
  WaitCopiesOp::create(b, location, static_cast<uint32_t>(pending));
  bool arePastThreads = false;
  loop.getBody()->walk([&](DotOp dot) {
    arePastThreads |= isa<SharedType>(dot.getA().getType()) || isa<SharedType>(dot.getB().getType());
  });
  if (arePastThreads)
    FenceOp::create(b, location, /*global=*/false);
}

// The dots' sums, waited for behind the loop. Goes on behind the last dot.
SmallVector<Value> Rewrite::leaveUnderWay() {
  b.setInsertionPointAfter(loop);
  for (DotOp dot : plan.dotsUnderWay) {
    unsigned index = cast<BlockArgument>(dot.getAccumulator()).getArgNumber() - 1;
    dot.setAsync(true);
    Value result = loop.getResult(index);
    auto pending = b.getI32IntegerAttr(planted(PlantedBug::DotsLeftUnderWay) ? 1 : 0);
    auto last = WaitDotsOp::create(b, location, TypeRange{result.getType()}, pending, ValueRange{result});
    result.replaceAllUsesExcept(last.getResult(0), last);
  }
  b.setInsertionPointAfter(plan.dotsUnderWay.back());
  return llvm::map_to_vector(plan.dotsUnderWay, [](DotOp dot) -> Value { return dot.getResult(); });
}

// Gives the operands that dots had in registers.
SmallVector<Value> Rewrite::waitForDots(MutableArrayRef<Value> sums, int64_t pending, ValueRange operands) {
  auto count = b.getI32IntegerAttr(static_cast<int32_t>(pending));
  SmallVector<Value> all(sums);
  llvm::append_range(all, operands);
  auto wait = WaitDotsOp::create(b, location, ValueRange(all).getTypes(), count, all);
  for (auto [sum, waited] : llvm::zip(sums, wait.getResults()))
    sum.replaceAllUsesExcept(waited, wait);
  return wait.getResults().drop_front(sums.size());
}

// The operands that dots take from registers, of the iteration whose tiles are in the slot.
SmallVector<Value> Rewrite::readOperands(Value slot, Value phase) {
  SmallVector<Value> operands;
  for (OperandAhead &operand : plan.operandsAhead) {
    IRMapping map;
    llvm::DenseMap<Operation *, Value> tiles;
    for (const Stage &stage : plan.stages) {
      if (!operand.loads.contains(stage.load))
        continue;
      if (stage.barriers)
        AwaitOp::create(b, stage.load->getLoc(), stage.barriers, slot, phase);
      Value tile = tiles[stage.load] = SlotOp::create(b, stage.load->getLoc(), stage.tile, stage.ring, slot);
      bool isReadAsItIs = llvm::any_of(stage.load->getUsers(), [](Operation *user) { return !isa<ConvertOp>(user); });
      if (Value result = stage.load->getResult(0); isReadAsItIs)
        map.map(result, ReadOp::create(b, stage.load->getLoc(), result.getType(), tile).getResult());
    }
    for (Operation *op : operand.operations) {
      Operation *source = isa<ConvertOp>(op) ? op->getOperand(0).getDefiningOp() : nullptr;
      if (Value tile = tiles.lookup(source))
        map.map(op->getResult(0), ReadOp::create(b, op->getLoc(), op->getResult(0).getType(), tile).getResult());
      else
        b.clone(*op, map);
    }
    operands.push_back(map.lookup(operand.dot.getA()));
  }
  return operands;
}

// Those of the first iteration, before the loop; nothing in particular if there is none.
SmallVector<Value> Rewrite::readFirstOperands(Value exists) {
  if (plan.operandsAhead.empty())
    return {};
  awaitWords(plan.distance - 1);
  BarrierOp::create(b, location, /*warp=*/false);
  SmallVector<Type> types =
      llvm::map_to_vector(plan.operandsAhead, [](OperandAhead &operand) { return operand.dot.getA().getType(); });
  auto branch = scf::IfOp::create(b, location, types, exists, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, location, readOperands(number(0), number(0)));
  b.setInsertionPointToStart(branch.elseBlock());
  SmallVector<Value> nothing = llvm::map_to_vector(
      types, [&](Type type) -> Value { return arith::ConstantOp::create(b, location, b.getZeroAttr(type)); });
  scf::YieldOp::create(b, location, nothing);
  return branch.getResults();
}

// The dots take operands that were read before; what made them is gone.
void Rewrite::takeOperands(ValueRange operands) {
  for (auto [operand, value] : llvm::zip_equal(plan.operandsAhead, operands))
    operand.dot.getAMutable().set(value);
  for (const OperandAhead &operand : plan.operandsAhead) {
    for (Operation *op : llvm::reverse(operand.operations))
      op->erase();
    for (Operation *load : operand.loads)
      load->erase();
    llvm::erase_if(plan.stages, [&](const Stage &stage) { return operand.loads.contains(stage.load); });
  }
}

// The operand is read where its dot stands.
void Rewrite::readInParts(const OperandInParts &operand, Value slot) {
  auto *stage = llvm::find_if(plan.stages, [&](const Stage &stage) { return stage.load == operand.load; });
  DotOp dot = operand.dot;
  b.setInsertionPoint(dot);
  Value tile = SlotOp::create(b, operand.load->getLoc(), stage->tile, stage->ring, slot);
  if (operand.isExchanged)
    tile = simt::PermuteOp::create(b, location, simt::PermuteOp::typeOf(stage->tile, {1, 0}), tile, {1, 0});
  dot.getAMutable().set(ReadOp::create(b, operand.load->getLoc(), dot.getA().getType(), tile).getResult());
  for (Operation *op : operand.between)
    op->erase();
  stage->load->erase();
  plan.stages.erase(stage);
}

// Everybody has read the slots that are filled next. The async proxy writes boxes: the threads must have their values.
void Rewrite::meetBeforeCopies() {
  if (areBoxesRead)
    FenceOp::create(b, location, /*global=*/false);
  BarrierOp::create(b, location, /*warp=*/false);
}

void Rewrite::run() {
  makeRings(plan, b);
  Ahead first;
  first.induction = loop.getLowerBound();
  auto below = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  first.exists = arith::CmpIOp::create(b, location, below, loop.getLowerBound(), loop.getUpperBound());
  for (unsigned index : plan.carried)
    first.carried.push_back(loop.getInitArgs()[index]);
  first.slot = number(0);
  if (isRepeated && !planted(PlantedBug::LoopRunsAgain)) // everybody has read the slots of the time before
    meetBeforeCopies();
  auto prologue = scf::ForOp::create(b, location, number(0), number(plan.distance), number(1), first.all());
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(prologue.getBody());
    Ahead next = copyAhead(Ahead::of(prologue.getRegionIterArgs()));
    scf::YieldOp::create(b, location, next.all());
  }

  // The loop again, with more values.
  SmallVector<Value> initial(loop.getInitArgs());
  unsigned own = initial.size();
  llvm::append_range(initial, prologue.getResults());
  initial.push_back(number(0)); // the slot of this iteration, and the phase of its barriers
  initial.push_back(number(0));
  unsigned operandsFrom = initial.size();
  llvm::append_range(initial, readFirstOperands(first.exists));
  auto made = scf::ForOp::create(b, location, loop.getLowerBound(), loop.getUpperBound(), loop.getStep(), initial,
                                 /*bodyBuilder=*/nullptr, loop.getUnsignedCmp());
  made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  Block *body = made.getBody();
  if (!body->empty())
    body->back().erase();
  ValueRange operands = made.getRegionIterArgs().drop_front(operandsFrom);
  ValueRange more = made.getRegionIterArgs().drop_front(own).drop_back(operands.size());
  Ahead ahead = Ahead::of(more.drop_back(2));
  Value slot = more[more.size() - 2], phase = more.back();

  Block *old = loop.getBody();
  old->getArgument(0).replaceAllUsesWith(made.getInductionVar());
  for (unsigned i = 0; i < own; ++i)
    old->getArgument(i + 1).replaceAllUsesWith(made.getRegionIterArg(i));
  body->getOperations().splice(body->end(), old->getOperations());
  loop.replaceAllUsesWith(made.getResults().take_front(own));
  loop->erase();
  loop = made;

  // The slot that is filled next is the one of the iteration before. Its readers are done when the threads have met:
  // before this iteration's dots are started, or, where those of the iteration before were still under way, after.
  bool areUnderWay = !plan.dotsUnderWay.empty(), readsAhead = !plan.operandsAhead.empty();
  b.setInsertionPointToStart(body);
  if (!readsAhead)
    awaitWords(plan.distance - 1);
  if (!readsAhead && (plan.hasWords || !(areUnderWay || plan.lateDots)))
    meetBeforeCopies();
  SmallVector<Value> sums;
  if (areUnderWay) {
    sums = leaveUnderWay();
    if (readsAhead) // the tiles of the next iteration are there
      awaitWords(plan.distance - 2);
    else // a dot in parts is two
      waitForDots(sums, static_cast<int64_t>(sums.size() + plan.operandsInParts.size() + planted(PlantedBug::DotWait)));
    meetBeforeCopies();
  } else if (plan.lateDots) {
    plan.lateDots->apply(loop);
    b.setInsertionPoint(plan.lateDots->last()); // long behind the wait: nobody waits for those who were later
    meetBeforeCopies();
  }
  Ahead next = copyAhead(ahead);
  Value wraps, following = nextSlot(b, location, plan.slots, slot, &wraps);
  Value other = arith::XOrIOp::create(b, location, phase, number(1));
  Value flipped = arith::SelectOp::create(b, location, wraps, other, phase);
  if (plan.hasBoxes && planted(PlantedBug::BarrierPhase))
    flipped = other;
  SmallVector<Value> nextOperands;
  if (readsAhead) {
    // The last iteration reads its own tiles again. Registers that the dots read are theirs until they have been waited
    // for: what is read goes into others, which the select keeps apart.
    Value left = arith::SubIOp::create(b, location, loop.getUpperBound(), loop.getInductionVar());
    Value isMore = arith::CmpIOp::create(b, location, arith::CmpIPredicate::ugt, left, loop.getStep());
    SmallVector<Value> read = readOperands(arith::SelectOp::create(b, location, isMore, following, slot),
                                           arith::SelectOp::create(b, location, isMore, flipped, phase));
    SmallVector<Value> held = waitForDots(sums, 0, operands);
    for (auto [there, here] : llvm::zip_equal(read, held))
      nextOperands.push_back(arith::SelectOp::create(b, location, isMore, there, here));
  }
  auto yield = cast<scf::YieldOp>(body->getTerminator());
  SmallVector<Value> yielded(yield.getOperands());
  llvm::append_range(yielded, next.all());
  yielded.push_back(following);
  yielded.push_back(flipped);
  llvm::append_range(yielded, nextOperands);
  yield->setOperands(yielded);
  takeOperands(operands);
  // A loop that runs again goes on with the phases where it ended, which the barriers' own waits count.
  awaitBoxes(plan, slot, isRepeated ? Value() : phase);
  for (const OperandInParts &operand : plan.operandsInParts)
    readInParts(operand, slot);
  for (const Stage &stage : plan.stages)
    replaceLoad(stage, slot);
}

// ---- The pass

struct SoftwarePipeline : PassWrapper<SoftwarePipeline, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SoftwarePipeline)
  explicit SoftwarePipeline(const SoftwarePipelineOptions &options) {
    copiesWords = options.copiesWords;
    sharedBytes = options.sharedBytes;
    asyncDots = options.asyncDots;
  }
  SoftwarePipeline(const SoftwarePipeline &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "software-pipeline"; }
  StringRef getDescription() const override { return "Loads of later iterations while an iteration computes"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registerScratchRules(registry);
    registry.insert<arith::ArithDialect, scf::SCFDialect, SimtDialect>();
  }

  void runOnOperation() override {
    SoftwarePipelineOptions options{copiesWords, sharedBytes,
                                    std::vector<std::string>(asyncDots.begin(), asyncDots.end())};
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); }); // the innermost first
    for (scf::ForOp loop : loops)
      if (std::optional<LoopPlan> plan = LoopPlan::make(loop, options))
        Rewrite(*plan).run();
  }

  Option<bool> copiesWords{*this, "copies-words", llvm::cl::desc("words are copied asynchronously"),
                           llvm::cl::init(true)};
  Option<int64_t> sharedBytes{*this, "shared-bytes", llvm::cl::desc("shared memory that a block may have"),
                              llvm::cl::init(SoftwarePipelineOptions().sharedBytes)};
  ListOption<std::string> asyncDots{*this, "async-dots",
                                    llvm::cl::desc("instructions of dots that run while the threads go on")};
};

} // namespace

SoftwarePipelineOptions SoftwarePipelineOptions::of(const Machine &machine) {
  SoftwarePipelineOptions options{machine.asyncCopies() != nullptr, machine.sharedBytes(), {}};
  for (const MatrixInstruction &row : machine.matrixInstructions())
    if (row.isAsync)
      options.asyncDots.push_back(row.name);
  return options;
}

std::unique_ptr<Pass> nacre::simt::createSoftwarePipeline(const SoftwarePipelineOptions &options) {
  return std::make_unique<SoftwarePipeline>(options);
}
