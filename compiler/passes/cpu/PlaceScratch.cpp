// See PlaceScratch.h.
#include "compiler/passes/cpu/PlaceScratch.h"
#include "compiler/ir/cpu/Cpu.h"
#include "compiler/passes/cpu/Emit.h"
#include "compiler/passes/cpu/KernelABI.h"
#include "compiler/support/PlantedBugs.h"
#include <map>

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

static int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

namespace {

// Offsets in the arena: first fit, freed in any order.
class Arena {
public:
  int64_t allocate(int64_t bytes) {
    int64_t offset = 0;
    for (auto [start, size] : used) {
      if (start - offset >= bytes || (start > offset && planted(PlantedBug::ScratchHole)))
        break;
      offset = start + size;
    }
    used[offset] = bytes;
    high = std::max(high, offset + bytes);
    return offset;
  }
  void release(int64_t offset) { used.erase(offset); }
  int64_t highWater() const { return high; }

private:
  std::map<int64_t, int64_t> used; // offset -> bytes
  int64_t high = 0;
};

} // namespace

// The operations that write to the memory at the address or compute with it, users before what they use; nothing where
// one of them may read it.
static bool collectWriters(Value address, SmallVectorImpl<Operation *> &writers) {
  return llvm::all_of(address.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    auto store = dyn_cast<LLVM::StoreOp>(user);
    bool isWritten = store && store.getAddr() == address && store.getValue() != address && !store.getVolatile_();
    if (!isWritten && !isa<ReleaseOp>(user) && !(isa<LLVM::GEPOp>(user) && collectWriters(user->getResult(0), writers)))
      return false;
    writers.push_back(user);
    return true;
  });
}

static void leaveOutUnread(func::FuncOp kernel) {
  SmallVector<ScratchOp> scratches;
  kernel.walk([&](ScratchOp scratch) {
    if (!scratch.getKept())
      scratches.push_back(scratch);
  });
  for (ScratchOp scratch : scratches) {
    SmallVector<Operation *> writers;
    if (!collectWriters(scratch.getPointer(), writers))
      continue;
    for (Operation *writer : writers)
      writer->erase();
    assert(scratch.getPointer().use_empty() && "nobody else has its address");
    scratch->erase();
  }
}

// Whether memory at the address is only loaded and stored, at offsets that are known: LLVM then keeps it in registers.
static bool hasKnownAccesses(Value address) {
  return llvm::all_of(address.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto offset = dyn_cast<LLVM::GEPOp>(user))
      return llvm::all_of(offset.getDynamicIndices(), [](Value index) { return Emit::known(index).has_value(); }) &&
             hasKnownAccesses(offset);
    if (auto store = dyn_cast<LLVM::StoreOp>(user))
      return store.getAddr() == address && store.getValue() != address;
    return isa<LLVM::LoadOp, ReleaseOp>(user);
  });
}

// Scratch memory that becomes registers: variables of the function in place of the arena.
static SmallVector<ScratchOp> chooseVariables(func::FuncOp kernel) {
  constexpr int64_t mostBytes = 256, mostInAll = 1024; // of 16 or 32 registers of 32 or 64 bytes
  SmallVector<ScratchOp> chosen;
  int64_t left = mostInAll;
  kernel.walk([&](ScratchOp scratch) {
    int64_t bytes = scratch.getBytes();
    if (scratch.getKept() || bytes > std::min(mostBytes, left) || !hasKnownAccesses(scratch.getPointer()))
      return;
    chosen.push_back(scratch);
    left -= bytes;
  });
  return chosen;
}

static void makeVariables(func::FuncOp kernel) {
  for (ScratchOp scratch : chooseVariables(kernel)) {
    Emit b(scratch.getLoc(), kernel.getContext());
    b.setInsertionPointToStart(&kernel.getBody().front());
    Value variable = LLVM::AllocaOp::create(b, b.pointerType(), b.getI8Type(), b.index(aligned(scratch.getBytes())),
                                            /*alignment=*/64);
    for (Operation *user : llvm::make_early_inc_range(scratch.getPointer().getUsers()))
      if (isa<ReleaseOp>(user))
        user->erase();
    scratch.getPointer().replaceAllUsesWith(variable);
    scratch->erase();
  }
}

// Returns the bytes that the kernel needs.
static int64_t placeScratch(func::FuncOp kernel) {
  leaveOutUnread(kernel);
  makeVariables(kernel);
  Arena arena;
  SmallVector<ScratchOp> scratches, kept;
  SmallVector<ReleaseOp> releases;
  DenseMap<Value, int64_t> offsets;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto scratch = dyn_cast<ScratchOp>(op)) {
      (scratch.getKept() ? kept : scratches).push_back(scratch);
      if (!scratch.getKept())
        offsets[scratch] = arena.allocate(aligned(scratch.getBytes()));
    }
    if (auto release = dyn_cast<ReleaseOp>(op)) {
      assert(offsets.contains(release.getPointer()) && "it ends a scratch before it");
      arena.release(offsets.lookup(release.getPointer()));
      releases.push_back(release);
    }
  });
  int64_t bytes = arena.highWater();
  for (ScratchOp scratch : kept) {
    offsets[scratch] = bytes;
    bytes += aligned(scratch.getBytes());
  }
  if (bytes == 0)
    return 0;

  for (ReleaseOp release : releases)
    release.erase();
  // The addresses are the same for every program: they are computed before the loop over the grid.
  Block &entry = kernel.getBody().front();
  auto grid = *entry.getOps<scf::ForallOp>().begin();
  Emit b(kernel.getLoc(), kernel.getContext());
  b.setInsertionPoint(kept.empty() ? grid.getOperation() : kept.front().getOperation());
  Value context = entry.getArguments().back();
  Value base = b.load(b.pointerType(), b.offsetBytes(context, b.index(offsetof(KernelContext, scratch))), 8);
  for (ArrayRef<ScratchOp> some : {ArrayRef(scratches), ArrayRef(kept)})
    for (ScratchOp scratch : some) {
      b.setLoc(scratch.getLoc());
      scratch.getPointer().replaceAllUsesWith(b.offsetBytes(base, b.index(offsets.lookup(scratch))));
    }
  for (ArrayRef<ScratchOp> some : {ArrayRef(scratches), ArrayRef(kept)})
    for (ScratchOp scratch : some)
      scratch->erase();
  return bytes;
}

namespace {

struct PlaceScratch : PassWrapper<PlaceScratch, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PlaceScratch)
  StringRef getArgument() const override { return "place-scratch"; }
  StringRef getDescription() const override { return "Give scratch memory its place in a thread's arena"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, LLVM::LLVMDialect>();
  }
  void runOnOperation() override {
    int64_t bytes = 0;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!function->hasAttr(loopsAttribute))
        continue;
      if (function.isExternal() || !llvm::hasSingleElement(function.getOps<scf::ForallOp>())) {
        function.emitError("a kernel as loops has one loop over its grid");
        return signalPassFailure();
      }
      bytes = std::max(bytes, placeScratch(function));
    }
    getOperation()->setAttr(scratchAttribute, IntegerAttr::get(IntegerType::get(&getContext(), 64), bytes));
  }
};

} // namespace

std::unique_ptr<Pass> nacre::cpu::createPlaceScratch() { return std::make_unique<PlaceScratch>(); }
void nacre::cpu::registerPlaceScratch() { PassRegistration<PlaceScratch>(); }
