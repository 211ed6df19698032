// Marks of scopes and events: the first lane of each warp writes down which one it came by, and when. See
// ScopeRecord.h.
#include "compiler/ir/simt/StatedFacts.h"
#include "compiler/passes/gpu/Lowering.h"
#include "compiler/passes/tile/UserPlace.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

bool nacre::simt::hasMarks(func::FuncOp kernel) {
  return kernel.walk([](tile::TellOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

// Where this warp writes: null, in the first lane, where there is no record. And how often it has: a variable of the
// thread's.
void Lowering::prepareMarks() {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(entryMarker);
  Type word = b.getI64Type();
  auto wide = [&](Value value) -> Value { return LLVM::ZExtOp::create(b, word, value); };
  Value address = LLVM::PtrToIntOp::create(b, word, markRecord);
  Value isThere = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, address, constant(word, 0));
  Value isFirst = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, laneId(), i32(0));
  writesMarks = LLVM::AndOp::create(b, isThere, isFirst);
  if (block.ctas > 1) // the first block's warps stand for the program
    writesMarks = both(writesMarks, LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, blockRank(), i32(0)));
  markCapacity = machine.load(b, word, markRecord, writesMarks, constant(word, 1), {}).front();
  Value program = constant(word, 0);
  for (int axis = 2; axis >= 0; --axis)
    program = LLVM::AddOp::create(b, LLVM::MulOp::create(b, program, wide(gridSize(axis))), wide(programId(axis)));
  Value unit = LLVM::AddOp::create(b, LLVM::MulOp::create(b, program, constant(word, block.warps)), wide(warpId()));
  Value bytes = LLVM::AddOp::create(b, LLVM::MulOp::create(b, markCapacity, constant(word, sizeof(PassedMark))),
                                    constant(word, sizeof(uint64_t)));
  Value offset = LLVM::AddOp::create(b, LLVM::MulOp::create(b, unit, bytes), constant(word, sizeof(ScopeRecord)));
  markArea = byteOffset(markRecord, offset);
  markCount = LLVM::AllocaOp::create(b, LLVM::LLVMPointerType::get(b.getContext()), word, i32(1));
  LLVM::StoreOp::create(b, constant(word, 0), markCount);
}

LogicalResult Lowering::lowerTell(tile::TellOp op) {
  if (elements)
    return fail(op, "a function of single elements has no marks");
  if (!markArea)
    prepareMarks();
  MarkPlace mark;
  mark.kind = op.getKind();
  mark.name = op.getSubject().str();
  UserPlace place = userPlace(op.getLoc());
  mark.file = place.file;
  mark.line = place.line;
  mark.column = place.column;
  Type word = b.getI64Type();
  Value now = machine.cycles(b);
  Value count = LLVM::LoadOp::create(b, word, markCount);
  Value slot = LLVM::URemOp::create(b, count, markCapacity);
  Value offset = LLVM::AddOp::create(b, LLVM::MulOp::create(b, slot, constant(word, sizeof(PassedMark))),
                                     constant(word, sizeof(uint64_t)));
  Value here = byteOffset(markArea, offset);
  machine.store(b, now, here, writesMarks, {});
  machine.store(b, i32(static_cast<int64_t>(markPlaces.size())),
                byteOffset(here, constant(word, offsetof(PassedMark, place))), writesMarks, {});
  machine.store(b, machine.processor(b), byteOffset(here, constant(word, offsetof(PassedMark, processor))), writesMarks,
                {});
  Value next = LLVM::AddOp::create(b, count, constant(word, 1));
  LLVM::StoreOp::create(b, next, markCount);
  machine.store(b, next, markArea, writesMarks, {});
  markPlaces.push_back(std::move(mark));
  return success();
}

void Lowering::tellMarks() { state(module, scopeMarksAttribute, markPlaces); }
