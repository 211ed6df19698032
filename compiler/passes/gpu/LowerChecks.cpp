// Accesses that are checked before they happen. All threads of a program look at their elements and agree: when one is
// refused, all of them leave, and nothing of the access has happened. See AccessRecord.h.
#include "compiler/passes/gpu/AccessRecord.h"
#include "compiler/passes/gpu/Lowering.h"
#include "compiler/passes/tile/ScalarKinds.h"
#include "compiler/passes/tile/UserPlace.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::gpu;

bool nacre::gpu::hasChecks(func::FuncOp kernel) {
  return kernel.walk([](tile::CheckAccessOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

static AccessSite siteOf(tile::CheckAccessOp op) {
  Type type = op.getPointer().getType();
  Type pointee = cast<tile::PointerType>(getElementTypeOrSelf(type)).getPointee();
  UserPlace place = userPlace(op.getLoc());
  AccessSite site;
  site.access = op.getAccess().str();
  site.file = place.file;
  site.line = place.line;
  site.column = place.column;
  site.argument = static_cast<int32_t>(op.getArgument());
  site.kind = scalarKindOf(pointee, /*isSigned=*/true);
  site.size = static_cast<uint64_t>(Lowering::byteSize(pointee));
  site.writes = op.getWrites();
  site.isMasked = op.getMask() != nullptr;
  site.isTile = isa<RankedTensorType>(type);
  if (site.isTile)
    site.shape = tile::shapeOf(type).vec();
  return site;
}

namespace {

// The emission of one check.
class Check {
public:
  Check(Lowering &lowering, tile::CheckAccessOp op, Value record, uint32_t number)
      : lowering(lowering), b(lowering.b), op(op), site(siteOf(op)), record(record), number(number),
        word(b.getI64Type()) {}

  void emit() {
    Value address = LLVM::PtrToIntOp::create(b, word, record);
    isThere = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, address, wide(0));
    Type pointers = op.getPointer().getType();
    for (auto [reg, pointer] : llvm::enumerate(lowering.registers(op.getPointer()))) {
      addresses.push_back(LLVM::PtrToIntOp::create(b, word, pointer));
      Value inside = site.isTile ? lowering.isInside(pointers, reg) : Value();
      Value acts = op.getMask() ? lowering.both(inside, lowering.registers(op.getMask())[reg]) : inside;
      enabled.push_back(acts ? acts : lowering.constant(b.getI1Type(), 1));
    }
    SmallVector<Value> outside = site.argument >= 0 ? outsideOf(boundsAt(argumentOffset())) : outsideOfAll();
    AccessHints asOthersWriteIt;
    asOthersWriteIt.isVolatile = true;
    Value refused = lowering.machine.load(b, word, record, isThere, wide(0), asOthersWriteIt).front();
    Value leaves = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, refused, wide(0));
    for (auto [acts, isOutside] : llvm::zip(enabled, outside))
      leaves = LLVM::OrOp::create(b, leaves, LLVM::AndOp::create(b, acts, isOutside));
    leaves = lowering.machine.anyThread(b, LLVM::AndOp::create(b, leaves, isThere));
    auto branch = scf::IfOp::create(b, TypeRange{}, leaves, /*withElse=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    report();
    lowering.machine.leave(b);
  }

private:
  struct Bounds {
    Value begin, length;
  };

  Value wide(uint64_t value) { return lowering.constant(word, static_cast<int64_t>(value)); }
  int64_t argumentOffset() const {
    return static_cast<int64_t>(sizeof(AccessRecord)) + site.argument * static_cast<int64_t>(sizeof(ArrayBounds));
  }
  Value read(Type type, Value place, uint64_t field) {
    Value address = lowering.byteOffset(place, wide(field));
    return lowering.machine.load(b, type, address, isThere, lowering.constant(type, 0), {}).front();
  }
  Bounds boundsAt(Value place) {
    uint64_t length = site.writes ? offsetof(ArrayBounds, writableLength) : offsetof(ArrayBounds, length);
    return {read(word, place, offsetof(ArrayBounds, begin)), read(word, place, length)};
  }
  Bounds boundsAt(int64_t offset) { return boundsAt(lowering.byteOffset(record, wide(static_cast<uint64_t>(offset)))); }

  // Whether each element lies outside of the array. Before it, the distance from its beginning wraps to a large one.
  SmallVector<Value> outsideOf(const Bounds &bounds) {
    SmallVector<Value> results;
    for (Value address : addresses) {
      Value distance = LLVM::SubOp::create(b, address, bounds.begin);
      Value isBeyond = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::uge, distance, bounds.length);
      Value left = LLVM::SubOp::create(b, bounds.length, distance);
      Value isCut = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ult, left, wide(site.size));
      results.push_back(LLVM::OrOp::create(b, isBeyond, isCut));
    }
    return results;
  }

  // The same of every array that is known.
  SmallVector<Value> outsideOfAll() {
    Value count = read(b.getI32Type(), record, offsetof(AccessRecord, arrayCount));
    Value zero = lowering.i32(0), one = lowering.i32(1);
    SmallVector<Value> all(addresses.size(), lowering.constant(b.getI1Type(), 1));
    auto loop = scf::ForOp::create(b, zero, count, one, all);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    int64_t first = static_cast<int64_t>(sizeof(AccessRecord) + lowering.argumentCount() * sizeof(ArrayBounds));
    Value index = LLVM::ZExtOp::create(b, word, loop.getInductionVar());
    Value offset = LLVM::MulOp::create(b, index, wide(sizeof(ArrayBounds)));
    Value place = lowering.byteOffset(record, LLVM::AddOp::create(b, offset, wide(static_cast<uint64_t>(first))));
    SmallVector<Value> next;
    for (auto [before, here] : llvm::zip(loop.getRegionIterArgs(), outsideOf(boundsAt(place))))
      next.push_back(LLVM::AndOp::create(b, before, here));
    scf::YieldOp::create(b, next);
    return SmallVector<Value>(loop.getResults());
  }

  // The number of this program, from 1 on.
  Value programNumber() {
    Value result = wide(0);
    for (int axis = 2; axis >= 0; --axis) {
      Value extent = LLVM::ZExtOp::create(b, word, lowering.machine.gridSize(b, axis));
      Value id = LLVM::ZExtOp::create(b, word, lowering.machine.programId(b, axis));
      result = LLVM::AddOp::create(b, LLVM::MulOp::create(b, result, extent), id);
    }
    return LLVM::AddOp::create(b, result, wide(1));
  }

  void write(Value value, Value address, Value predicate) { lowering.machine.store(b, value, address, predicate, {}); }

  // Every thread claims the record for the program: the first one's claim is all others'.
  void report() {
    Value own = programNumber();
    AtomicAccess access{tile::AtomicKind::Exchange, tile::MemoryOrder::Relaxed, tile::MemoryScope::GPU, true};
    Value before = lowering.machine.compareAndSwap(b, record, wide(0), own, Value(), access);
    Value isFirst = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, before, wide(0));
    Value isOurs = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, before, own);
    auto branch = scf::IfOp::create(b, TypeRange{}, LLVM::OrOp::create(b, isFirst, isOurs), /*withElse=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Value first = lowering.isFirstThread();
    auto field = [&](uint64_t offset) { return lowering.byteOffset(record, wide(offset)); };
    write(lowering.i32(number), field(offsetof(AccessRecord, site)), first);
    for (int axis = 0; axis < 3; ++axis)
      write(lowering.machine.programId(b, axis), field(offsetof(AccessRecord, program) + sizeof(uint32_t) * axis),
            first);
    Value area = lowering.byteOffset(record, read(word, record, offsetof(AccessRecord, reportOffset)));
    Type pointers = op.getPointer().getType();
    for (auto [reg, address] : llvm::enumerate(addresses)) {
      Value acts = lowering.actor(pointers), index = wide(0);
      if (site.isTile) {
        acts = lowering.both(acts, lowering.isInside(pointers, reg));
        index = LLVM::ZExtOp::create(b, word, lowering.elementIndex(pointers, reg));
      }
      write(address, lowering.byteOffset(area, LLVM::MulOp::create(b, index, wide(sizeof(uint64_t)))), acts);
      Value masks = lowering.byteOffset(area, wide(static_cast<uint64_t>(site.elements()) * sizeof(uint64_t)));
      Value isEnabled = LLVM::ZExtOp::create(b, b.getI8Type(), enabled[reg]);
      write(isEnabled, lowering.byteOffset(masks, index), acts);
    }
  }

  Lowering &lowering;
  gpu::Builder &b;
  tile::CheckAccessOp op;
  AccessSite site;
  Value record;
  uint32_t number;
  Type word;
  Value isThere;
  SmallVector<Value> addresses, enabled;
};

} // namespace

LogicalResult Lowering::lowerCheckAccess(tile::CheckAccessOp op) {
  assert(!elements && "functions of single elements are not checked");
  Check(*this, op, function.getArguments().back(), static_cast<uint32_t>(sites.size())).emit();
  sites.push_back(siteOf(op));
  return success();
}

void Lowering::tellSites() {
  if (!sites.empty())
    module->setAttr(accessSitesAttribute, b.getStringAttr(encodeSites(sites)));
}
