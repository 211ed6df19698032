// See Specialize.h.
#include "compiler/passes/gpu/Specialize.h"
#include "compiler/passes/gpu/OverlapDots.h"
#include "compiler/passes/gpu/Rings.h"
#include "compiler/passes/gpu/Scratch.h"
#include "compiler/passes/gpu/Specialization.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

static Value number(OpBuilder &b, Location location, int64_t value) {
  return arith::ConstantOp::create(b, location, b.getI32IntegerAttr(static_cast<int32_t>(value)));
}

static scf::ForOp makeLoop(OpBuilder &b, scf::ForOp like, const IRMapping &map, ValueRange initial) {
  auto made = scf::ForOp::create(b, like.getLoc(), map.lookupOrDefault(like.getLowerBound()),
                                 map.lookupOrDefault(like.getUpperBound()), map.lookupOrDefault(like.getStep()),
                                 initial, /*bodyBuilder=*/nullptr, like.getUnsignedCmp());
  if (!made.getBody()->empty())
    made.getBody()->back().erase();
  return made;
}

// ---- The producer

namespace {

class Producer {
public:
  Producer(const Specialization &facts, OpBuilder &b) : facts(facts), b(b) {}

  // What of the block makes copies, and what they are made of.
  void emit(Block &block, IRMapping &map) {
    for (Operation &op : block.without_terminator()) {
      if (const LoopPlan *plan = facts.planOf(&op))
        copy(*plan, map);
      else if (facts.concerns(&op))
        isa<scf::ForOp>(op) ? repeat(cast<scf::ForOp>(op), map) : branch(cast<scf::IfOp>(op), map);
      else if (facts.operations.contains(&op))
        b.clone(op, map);
    }
  }

private:
  void copy(const LoopPlan &plan, const IRMapping &outside) {
    scf::ForOp loop = plan.loop;
    Location location = loop.getLoc();
    IRMapping map = outside;
    SmallVector<Value> initial;
    for (unsigned index : plan.carried)
      initial.push_back(map.lookupOrDefault(loop.getInitArgs()[index]));
    initial.push_back(number(b, location, 0));
    scf::ForOp made = makeLoop(b, loop, map, initial);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(made.getBody());
    map.map(loop.getInductionVar(), made.getInductionVar());
    for (auto [index, argument] : llvm::zip_equal(plan.carried, made.getRegionIterArgs().drop_back()))
      map.map(loop.getRegionIterArg(index), argument);
    Value slot = made.getRegionIterArgs().back();
    for (Operation *op : plan.slice)
      b.clone(*op, map);
    for (const Stage &stage : plan.stages) {
      auto box = cast<LoadBoxOp>(stage.load);
      if (stage.expected)
        AwaitOp::create(b, box.getLoc(), stage.released, slot, Value());
      SmallVector<Value> coordinates =
          llvm::map_to_vector(box.getCoordinates(), [&](Value value) { return map.lookupOrDefault(value); });
      Value tile = SlotOp::create(b, box.getLoc(), stage.tile, stage.ring, slot);
      CopyBoxOp::create(b, box.getLoc(), box.getMap(), coordinates, tile, stage.barriers, slot, Value(),
                        b.getI64IntegerAttr(stage.expected));
    }
    SmallVector<Value> next;
    for (unsigned index : plan.carried)
      next.push_back(map.lookupOrDefault(loop.getYieldedValues()[index]));
    next.push_back(nextSlot(b, location, plan.slots, slot));
    scf::YieldOp::create(b, location, next);
  }

  void repeat(scf::ForOp loop, const IRMapping &outside) {
    IRMapping map = outside;
    SmallVector<unsigned> carried;
    for (auto [index, argument] : llvm::enumerate(loop.getRegionIterArgs()))
      if (facts.carried.contains(argument))
        carried.push_back(index);
    SmallVector<Value> initial =
        llvm::map_to_vector(carried, [&](unsigned index) { return map.lookupOrDefault(loop.getInitArgs()[index]); });
    scf::ForOp made = makeLoop(b, loop, map, initial);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(made.getBody());
    map.map(loop.getInductionVar(), made.getInductionVar());
    for (auto [index, argument] : llvm::zip_equal(carried, made.getRegionIterArgs()))
      map.map(loop.getRegionIterArg(index), argument);
    emit(*loop.getBody(), map);
    SmallVector<Value> next = llvm::map_to_vector(
        carried, [&](unsigned index) { return map.lookupOrDefault(loop.getYieldedValues()[index]); });
    scf::YieldOp::create(b, loop.getLoc(), next);
  }

  void branch(scf::IfOp op, const IRMapping &outside) {
    bool hasElse = op.elseBlock();
    auto made = scf::IfOp::create(b, op.getLoc(), TypeRange{}, outside.lookupOrDefault(op.getCondition()), hasElse);
    OpBuilder::InsertionGuard guard(b);
    for (bool isElse : {false, true}) {
      if (isElse && !hasElse)
        continue;
      IRMapping map = outside;
      b.setInsertionPointToStart(isElse ? made.elseBlock() : made.thenBlock());
      emit(isElse ? *op.elseBlock() : *op.thenBlock(), map);
    }
  }

  const Specialization &facts;
  OpBuilder &b;
};

// ---- The kernel's own warps

class Consumer {
public:
  explicit Consumer(LoopPlan &plan) : plan(plan), loop(plan.loop), b(plan.loop), location(plan.loop.getLoc()) {}

  void run(bool overlaps) {
    std::optional<OverlapDots> overlap = overlaps ? OverlapDots::find(plan) : std::nullopt;
    carrySlot();
    if (!plan.dotsUnderWay.empty())
      leaveUnderWay();
    else if (plan.lateDots && !overlap)
      waitLate();
    awaitBoxes(plan, slot, Value());
    SmallVector<Value> tiles =
        llvm::map_to_vector(plan.stages, [&](const Stage &stage) { return replaceLoad(stage, slot); });
    for (const Stage &leader : plan.stages) {
      if (!leader.expected)
        continue;
      SmallVector<Value> together;
      for (auto [stage, tile] : llvm::zip_equal(plan.stages, tiles))
        if (stage.barriers == leader.barriers)
          together.push_back(tile);
      release(leader, together);
    }
    if (overlap)
      overlap->apply(loop);
  }

private:
  // The loop carries the slot of its iteration.
  void carrySlot() {
    SmallVector<Value> initial(loop.getInitArgs());
    initial.push_back(number(b, location, 0));
    scf::ForOp made = makeLoop(b, loop, IRMapping(), initial);
    made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    Block *old = loop.getBody(), *body = made.getBody();
    old->getArgument(0).replaceAllUsesWith(made.getInductionVar());
    for (auto [argument, own] : llvm::zip_equal(loop.getRegionIterArgs(), made.getRegionIterArgs().drop_back()))
      argument.replaceAllUsesWith(own);
    body->getOperations().splice(body->end(), old->getOperations());
    loop.replaceAllUsesWith(made.getResults().drop_back());
    loop->erase();
    loop = plan.loop = made;
    slot = made.getRegionIterArgs().back();
    auto yield = cast<scf::YieldOp>(body->getTerminator());
    b.setInsertionPoint(yield);
    yield.getResultsMutable().append(nextSlot(b, location, plan.slots, slot));
  }

  // Each waits for those of the iteration before.
  void leaveUnderWay() {
    b.setInsertionPointAfter(loop);
    SmallVector<Value> sums;
    for (DotOp dot : plan.dotsUnderWay) {
      dot.setAsync(true);
      sums.push_back(loop.getResult(cast<BlockArgument>(dot.getAccumulator()).getArgNumber() - 1));
    }
    auto wait = [&](ValueRange values, size_t pending) {
      auto made = WaitDotsOp::create(b, location, values.getTypes(), b.getI32IntegerAttr(static_cast<int32_t>(pending)),
                                     values);
      for (auto [value, done] : llvm::zip_equal(values, made.getResults()))
        value.replaceAllUsesExcept(done, made);
      return made;
    };
    waitBehind = wait(sums, 0);
    b.setInsertionPointAfter(plan.dotsUnderWay.back());
    sums = llvm::map_to_vector(plan.dotsUnderWay, [](DotOp dot) -> Value { return dot.getResult(); });
    waitWithin = wait(sums, sums.size());
  }

  void waitLate() {
    plan.lateDots->apply(loop);
    Value late = loop.getRegionIterArg(plan.lateDots->late.front());
    for (Operation *user : late.getUsers())
      if (auto wait = dyn_cast<WaitDotsOp>(user))
        waitWithin = wait;
    waitBehind = cast<WaitDotsOp>(loop->getNextNode());
  }

  // Who reads the slots last in an iteration; whether they are read until the wait of the next one.
  struct Readers {
    Operation *last = nullptr;
    bool readThemselves = false, areLate = false;
  };
  void find(Value value, Readers &readers) {
    for (Operation *user : value.getUsers()) {
      Operation *here = loop.getBody()->findAncestorOpInBlock(*user);
      if (!here) // behind the loop
        continue;
      bool isLeftUnderWay = user == waitWithin && !plan.dotsUnderWay.empty();
      if (isLeftUnderWay || (isa<scf::YieldOp>(user) && here == user)) {
        readers.areLate = true;
        continue;
      }
      if (!readers.last || readers.last->isBeforeInBlock(here))
        readers.last = here;
      auto dot = dyn_cast<DotOp>(user);
      readers.readThemselves |= isa<ReadOp>(user) || (dot && !isa<SharedType>(value.getType()) && !dot.getAsync());
      if (isa<PermuteOp>(user) || (dot && dot.getAsync()))
        find(user->getResult(0), readers); // a view; who waits for it
      else if (auto read = dyn_cast<ReadOp>(user))
        for (Operation *dot : read->getUsers()) // which may get it piece by piece
          if (Operation *at = loop.getBody()->findAncestorOpInBlock(*dot);
              at && isa<DotOp>(dot) && readers.last->isBeforeInBlock(at))
            readers.last = at;
    }
  }

  void release(const Stage &leader, ArrayRef<Value> tiles) {
    Readers readers;
    for (Value tile : tiles)
      find(tile, readers);
    if (!readers.areLate) {
      // Nobody may read it: then it is over where it begins.
      Operation *last = readers.last ? readers.last : tiles.back().getDefiningOp();
      b.setInsertionPointAfter(last);
      ReleaseOp::create(b, location, leader.released, slot, Value(), readers.readThemselves);
      return;
    }
    auto before = [&](Value slot) -> Value {
      Value isFirst = arith::CmpIOp::create(b, location, arith::CmpIPredicate::eq, slot, number(b, location, 0));
      Value other = arith::SubIOp::create(b, location, slot, number(b, location, 1));
      return arith::SelectOp::create(b, location, isFirst, number(b, location, plan.slots - 1), other);
    };
    b.setInsertionPointAfter(waitWithin);
    Value isLater =
        arith::CmpIOp::create(b, location, arith::CmpIPredicate::ne, loop.getInductionVar(), loop.getLowerBound());
    ReleaseOp::create(b, location, leader.released, before(slot), isLater, readers.readThemselves);
    b.setInsertionPointAfter(waitBehind);
    auto below = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
    Value ran = arith::CmpIOp::create(b, location, below, loop.getLowerBound(), loop.getUpperBound());
    ReleaseOp::create(b, location, leader.released, before(loop.getResults().back()), ran, readers.readThemselves);
  }

  LoopPlan &plan;
  scf::ForOp loop;
  OpBuilder b;
  Location location;
  Value slot;
  WaitDotsOp waitWithin, waitBehind; // for dots of the iteration before, and of the last
};

// ---- The pass

struct Specialize : PassWrapper<Specialize, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Specialize)
  explicit Specialize(const SpecializeOptions &options) {
    sharedBytes = options.pipeline.sharedBytes;
    asyncDots = options.pipeline.asyncDots;
    hasProducers = options.hasProducers;
    always = options.always;
    overlapDots = options.overlapDots;
  }
  Specialize(const Specialize &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "specialize"; }
  StringRef getDescription() const override { return "Loads of loops by warps of their own"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registerScratchRules(registry);
    registry.insert<arith::ArithDialect, scf::SCFDialect, SimtDialect>();
  }

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      if (kernel->hasAttr(tile::kernelAttribute))
        specialize(kernel);
  }

private:
  bool isAsked(func::FuncOp kernel) {
    auto asks = [](scf::ForOp loop) {
      return tile::LoopHints::of(loop).warpSpecialize ? WalkResult::interrupt() : WalkResult::advance();
    };
    return always || kernel.walk(asks).wasInterrupted();
  }

  // A loop with two products alone may pay unasked: most kernels are not looked at.
  static bool mayPay(func::FuncOp kernel) {
    auto hasTwo = [](scf::ForOp loop) {
      bool found = llvm::range_size(loop.getBody()->getOps<DotOp>()) > 1;
      return found ? WalkResult::interrupt() : WalkResult::advance();
    };
    return kernel.walk(hasTwo).wasInterrupted();
  }

  void specialize(func::FuncOp kernel) {
    bool asked = isAsked(kernel);
    if (!asked && !(hasProducers && overlapDots && mayPay(kernel)))
      return;
    SoftwarePipelineOptions options{/*copiesWords=*/true, sharedBytes,
                                    std::vector<std::string>(asyncDots.begin(), asyncDots.end())};
    Specialization facts = Specialization::make(kernel, options, hasProducers);
    Builder attributes(&getContext());
    if (!asked && !facts.pays)
      return;
    if (!facts.refusal.empty()) {
      kernel.walk([&](scf::ForOp loop) {
        if (tile::LoopHints::of(loop).warpSpecialize)
          loop->setAttr(togetherAttribute, attributes.getStringAttr(facts.refusal));
      });
      return;
    }
    OpBuilder b = OpBuilder::atBlockBegin(&kernel.front());
    for (size_t i = 0; i < facts.plans.size(); ++i)
      makeRings(facts.plans, i, b);
    produce(kernel, facts, b);
    for (LoopPlan &plan : facts.plans)
      Consumer(plan).run(overlapDots);
    constexpr int32_t warps = 4; // they change their registers together
    getOperation()->setAttr(producerWarpsAttribute, attributes.getI32IntegerAttr(warps));
  }

  static void makeRings(MutableArrayRef<LoopPlan> plans, size_t index, OpBuilder &b) {
    LoopPlan &plan = plans[index];
    for (const LoopPlan &other : plans.take_front(index))
      if (mayShareRings(other, plan))
        return shareRings(plan, other);
    simt::makeRings(plan, b);
    for (Stage &leader : plan.stages)
      if (leader.expected) {
        auto type = cast<BarriersType>(leader.barriers.getType());
        leader.released = AllocateBarriersOp::create(b, plan.loop.getLoc(), type, /*released=*/true);
      }
  }

  static void produce(func::FuncOp kernel, const Specialization &facts, OpBuilder &b) {
    auto producer = ProducerOp::create(b, kernel.getLoc(), DenseI32ArrayAttr());
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&producer.getBody());
    EndOp::create(b, kernel.getLoc());
    b.setInsertionPointToStart(body);
    IRMapping map;
    Producer(facts, b).emit(kernel.front(), map);
  }

  Option<bool> hasProducers{*this, "has-producers", llvm::cl::desc("the machine can do it"), llvm::cl::init(true)};
  Option<bool> always{*this, "always", llvm::cl::desc("where no loop asks for it, too"), llvm::cl::init(false)};
  Option<bool> overlapDots{*this, "overlap-dots", llvm::cl::desc("where it is legal"), llvm::cl::init(true)};
  Option<int64_t> sharedBytes{*this, "shared-bytes", llvm::cl::desc("shared memory that a block may have"),
                              llvm::cl::init(SoftwarePipelineOptions().sharedBytes)};
  ListOption<std::string> asyncDots{*this, "async-dots",
                                    llvm::cl::desc("instructions of dots that run while the threads go on")};
};

} // namespace

std::unique_ptr<Pass> nacre::simt::createSpecialize(const SpecializeOptions &options) {
  return std::make_unique<Specialize>(options);
}
