// Accesses that are checked before they happen, and asserts. All threads of a program look at their elements and agree:
// when one is refused, all of them leave, and nothing of the access has happened. Threads that run a function of single
// elements cannot agree there: an assert that fails claims the record, the function's loops end, and all leave when the
// operation that calls the function is done. See AccessRecord.h.
#include "compiler/ir/simt/AccessRecord.h"
#include "compiler/ir/simt/StatedFacts.h"
#include "compiler/passes/gpu/Lowering.h"
#include "compiler/passes/tile/ScalarKinds.h"
#include "compiler/passes/tile/UserPlace.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

bool nacre::simt::hasChecks(func::FuncOp kernel) {
  return kernel
      .walk([](Operation *op) {
        return isa<tile::CheckAccessOp, tile::AssertOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

bool nacre::simt::isOfElements(Operation *op) {
  Operation *parent = op->getParentOp();
  while (parent && isa<scf::SCFDialect>(parent->getDialect()))
    parent = parent->getParentOp();
  return parent && !isa<FunctionOpInterface>(parent);
}

bool nacre::simt::assertsInFunctions(Operation *op) {
  if (op->getNumRegions() == 0 || isa<scf::SCFDialect>(op->getDialect()) || isOfElements(op))
    return false;
  return op->walk([](tile::AssertOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

static void setPlace(AccessSite &site, Operation *op) {
  UserPlace place = userPlace(op->getLoc());
  site.file = place.file;
  site.line = place.line;
  site.column = place.column;
}

static AccessSite siteOf(tile::CheckAccessOp op) {
  Type type = op.getPointer().getType();
  Type pointee = cast<tile::PointerType>(getElementTypeOrSelf(type)).getPointee();
  AccessSite site;
  setPlace(site, op);
  site.access = op.getAccess().str();
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

// What a thread does that found something: the record is its program's, unless another program was first.
class Claim {
public:
  Claim(Lowering &lowering, Value record) : lowering(lowering), b(lowering.b), record(record), word(b.getI64Type()) {
    Value own = programNumber(), none = lowering.constant(word, 0);
    AtomicAccess access{tile::AtomicKind::Exchange, tile::MemoryOrder::Relaxed, tile::MemoryScope::GPU, true};
    Value before = lowering.machine.compareAndSwap(b, record, none, own, Value(), access);
    isFirst = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, before, none);
    Value isSame = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, before, own);
    isOurs = LLVM::OrOp::create(b, isFirst, isSame);
  }

  // The first thread that claimed it says what it found, and in which program.
  void tell(uint32_t site) {
    auto write = [&](Value value, uint64_t offset) {
      Value place = lowering.byteOffset(record, lowering.constant(word, static_cast<int64_t>(offset)));
      lowering.machine.store(b, value, place, isFirst, {});
    };
    write(lowering.i32(site), offsetof(AccessRecord, site));
    for (int axis = 0; axis < 3; ++axis)
      write(lowering.programId(axis), offsetof(AccessRecord, program) + sizeof(uint32_t) * axis);
  }

  Value isFirst; // of all threads
  Value isOurs;  // the program's

private:
  // The number of this program, from 1 on.
  Value programNumber() {
    Value result = lowering.constant(word, 0);
    for (int axis = 2; axis >= 0; --axis) {
      Value extent = LLVM::ZExtOp::create(b, word, lowering.gridSize(axis));
      Value id = LLVM::ZExtOp::create(b, word, lowering.programId(axis));
      result = LLVM::AddOp::create(b, LLVM::MulOp::create(b, result, extent), id);
    }
    return LLVM::AddOp::create(b, result, lowering.constant(word, 1));
  }

  Lowering &lowering;
  simt::Builder &b;
  Value record;
  Type word;
};

// The emission of one check.
class Check {
public:
  Check(Lowering &lowering, tile::CheckAccessOp op, Value record, uint32_t number)
      : lowering(lowering), b(lowering.b), op(op), site(siteOf(op)), record(record), number(number),
        word(b.getI64Type()) {}

  void emit() {
    isThere = lowering.hasRecord();
    Type pointers = op.getPointer().getType();
    for (auto [reg, pointer] : llvm::enumerate(lowering.registers(op.getPointer()))) {
      addresses.push_back(LLVM::PtrToIntOp::create(b, word, pointer));
      Value inside = site.isTile ? lowering.isInside(pointers, reg) : Value();
      Value acts = op.getMask() ? lowering.both(inside, lowering.registers(op.getMask())[reg]) : inside;
      enabled.push_back(acts ? acts : lowering.constant(b.getI1Type(), 1));
    }
    SmallVector<Value> outside = site.argument >= 0 ? outsideOf(boundsAt(argumentOffset())) : outsideOfAll();
    Value refused = lowering.refusedProgram();
    Value leaves = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, refused, wide(0));
    for (auto [acts, isOutside] : llvm::zip(enabled, outside))
      leaves = LLVM::OrOp::create(b, leaves, LLVM::AndOp::create(b, acts, isOutside));
    leaves = lowering.machine.anyThread(b, LLVM::AndOp::create(b, leaves, isThere));
    if (lowering.block.ctas > 1)
      leaves = inAnyBlock(leaves);
    auto branch = scf::IfOp::create(b, TypeRange{}, leaves, /*withElse=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    report();
    lowering.machine.leave(b);
  }

private:
  // What one block of a cluster has found, all go by: it claims the record, and the others see that.
  Value inAnyBlock(Value leaves) {
    auto branch = scf::IfOp::create(b, TypeRange{}, leaves, /*withElse=*/false);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(branch.thenBlock());
      Claim(lowering, record).tell(number);
    }
    lowering.programBarrier();
    Value refused = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, lowering.refusedProgram(), wide(0));
    return lowering.machine.anyThread(b, refused);
  }

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

  void write(Value value, Value address, Value predicate) { lowering.machine.store(b, value, address, predicate, {}); }

  // Every thread claims the record for the program: the first one's claim is all others'.
  void report() {
    Claim claim(lowering, record);
    auto branch = scf::IfOp::create(b, TypeRange{}, claim.isOurs, /*withElse=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    claim.tell(number);
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
  simt::Builder &b;
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
  Check(*this, op, record, static_cast<uint32_t>(sites.size())).emit();
  sites.push_back(siteOf(op));
  return success();
}

Value Lowering::hasRecord() {
  Value address = LLVM::PtrToIntOp::create(b, b.getI64Type(), record);
  return LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, address, constant(b.getI64Type(), 0));
}

Value Lowering::refusedProgram() {
  AccessHints asOthersWriteIt;
  asOthersWriteIt.isVolatile = true;
  Type word = b.getI64Type();
  return machine.load(b, word, record, hasRecord(), constant(word, 0), asOthersWriteIt).front();
}

void Lowering::leaveIfRefused() {
  assert(!elements && "threads meet here");
  Value isRefused = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, refusedProgram(), constant(b.getI64Type(), 0));
  auto branch = scf::IfOp::create(b, TypeRange{}, machine.anyThread(b, isRefused), /*withElse=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  machine.leave(b);
}

LogicalResult Lowering::lowerAssert(tile::AssertOp op) {
  Type type = op.getCondition().getType();
  bool isTile = isa<RankedTensorType>(type);
  Value broken;
  for (auto [reg, holds] : llvm::enumerate(registers(op.getCondition()))) {
    Value fails = LLVM::XOrOp::create(b, holds, constant(b.getI1Type(), 1));
    if (isTile)
      fails = both(fails, isInside(type, reg));
    broken = broken ? Value(LLVM::OrOp::create(b, broken, fails)) : fails;
  }
  if (isTile) // of a scalar all threads have the same
    broken = machine.anyThread(b, broken);
  AccessSite site;
  site.access = AccessSite::assertion.str();
  site.message = op.getMessage().str();
  setPlace(site, op);
  Value message = text(site.message), file = text(site.file), name = text(function.getName());
  auto number = static_cast<uint32_t>(sites.size());
  OpBuilder::InsertionGuard guard(b);
  auto branch = scf::IfOp::create(b, TypeRange{}, broken, /*withElse=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
  auto told = scf::IfOp::create(b, TypeRange{}, hasRecord(), /*withElse=*/true);
  b.setInsertionPointToStart(told.thenBlock());
  Claim(*this, record).tell(number);
  const bool meets = !isOfElements(op);
  if (meets && block.ctas == 1)
    machine.leave(b);
  b.setInsertionPointToStart(told.elseBlock());
  machine.failAssertion(b, message, file, site.line, name);
  if (meets && block.ctas > 1) { // what one block of a cluster has found, all go by
    b.setInsertionPointAfter(branch);
    programBarrier();
    leaveIfRefused();
  }
  sites.push_back(std::move(site));
  return success();
}

void Lowering::tellSites() { state(module, accessSitesAttribute, sites); }
