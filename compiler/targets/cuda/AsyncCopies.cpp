// Copies that run beside the threads: cp.async of words, tensor copies of boxes, and the mbarriers that those complete
// on. All inline PTX: what a predicate guards is one instruction, and none is moved.
#include "compiler/targets/cuda/InlinePtx.h"
#include "compiler/targets/cuda/Instructions.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cuda;

// ---- Barriers

void Instructions::initBarrier(simt::Builder &b, Value barrier, int64_t arrivals, Value predicate) const {
  InlinePtx ptx(b);
  std::string address = ptx.operand(barrier), guard = ptx.guard(predicate);
  ptx.emit(guard + "mbarrier.init.shared::cta.b64 [" + address + "], " + std::to_string(arrivals) + ";");
}

void Instructions::arrive(simt::Builder &b, Value barrier, Value predicate) const {
  InlinePtx ptx(b);
  std::string address = ptx.operand(barrier), guard = ptx.guard(predicate);
  ptx.emit(guard + "mbarrier.arrive.shared::cta.b64 _, [" + address + "];");
}

void Instructions::expectBytes(simt::Builder &b, Value barrier, int64_t bytes, Value predicate) const {
  InlinePtx ptx(b);
  std::string address = ptx.operand(barrier), guard = ptx.guard(predicate);
  ptx.emit(guard + "mbarrier.arrive.expect_tx.shared::cta.b64 _, [" + address + "], " + std::to_string(bytes) + ";");
}

void Instructions::awaitBarrier(simt::Builder &b, Value barrier, Value phase) const {
  InlinePtx ptx(b);
  std::string address = ptx.operand(barrier), parity = ptx.operand(phase);
  ptx.emit("{\n.reg .pred done;\nwaiting:\nmbarrier.try_wait.parity.shared::cta.b64 done, [" + address + "], " +
           parity + ";\n@!done bra.uni waiting;\n}");
}

// ---- Boxes

// "[map, {column, row}]": the hardware counts axes from the innermost on.
static std::string boxOperand(InlinePtx &ptx, Value map, ArrayRef<Value> coordinates) {
  std::string text = "[" + ptx.operand(map) + ", {";
  for (size_t i = coordinates.size(); i-- > 0;)
    text += ptx.operand(coordinates[i]) + (i ? ", " : "}]");
  return text;
}

void Instructions::copyBox(simt::Builder &b, Value map, ArrayRef<Value> coordinates, Value target, Value barrier,
                           Value predicate) const {
  InlinePtx ptx(b);
  std::string to = ptx.operand(target), from = boxOperand(ptx, map, coordinates), completes = ptx.operand(barrier),
              guard = ptx.guard(predicate);
  ptx.emit(guard + "cp.async.bulk.tensor." + std::to_string(coordinates.size()) +
           "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [" + to + "], " + from + ", [" + completes +
           "];");
}

static const char *reductionOf(tile::AtomicKind kind) {
  using tile::AtomicKind;
  switch (kind) {
  case AtomicKind::And:
    return ".and";
  case AtomicKind::Or:
    return ".or";
  case AtomicKind::Xor:
    return ".xor";
  case AtomicKind::AddI:
  case AtomicKind::AddF:
    return ".add";
  case AtomicKind::MaxS:
  case AtomicKind::MaxU:
  case AtomicKind::MaxF:
    return ".max";
  case AtomicKind::MinS:
  case AtomicKind::MinU:
  case AtomicKind::MinF:
    return ".min";
  default:
    llvm_unreachable("hoist-descriptors takes no such reduction");
  }
}

void Instructions::storeBox(simt::Builder &b, Value map, ArrayRef<Value> coordinates, Value source,
                            std::optional<tile::AtomicKind> kind, Value predicate) const {
  InlinePtx ptx(b);
  std::string to = boxOperand(ptx, map, coordinates), from = ptx.operand(source), guard = ptx.guard(predicate);
  std::string axes = std::to_string(coordinates.size()) + "d.global.shared::cta";
  ptx.emit(guard +
           (kind ? "cp.reduce.async.bulk.tensor." + axes + reductionOf(*kind) : "cp.async.bulk.tensor." + axes) +
           ".tile.bulk_group " + to + ", [" + from + "];");
}

void Instructions::finishStores(simt::Builder &b, bool areLast, Value predicate) const {
  InlinePtx ptx(b);
  std::string guard = ptx.guard(predicate);
  ptx.emit(guard + "cp.async.bulk.commit_group;\n" + guard + "cp.async.bulk.wait_group" + (areLast ? ".read" : "") +
           " 0;");
}

// ---- Words

void Instructions::copyWords(simt::Builder &b, int64_t bytes, Value source, Value target, Value isRead,
                             Value predicate) const {
  InlinePtx ptx(b);
  std::string to = ptx.operand(target), from = ptx.operand(source), count = std::to_string(bytes);
  // The first-level cache is of use to parts of its lines alone.
  std::string text =
      std::string("cp.async.") + (bytes == 16 ? "cg" : "ca") + ".shared.global [" + to + "], [" + from + "], " + count;
  // Nothing is read of elements that a mask leaves out, and zeros are written. The size is one for all copies under the
  // same mask.
  if (isRead) {
    auto number = [&](int64_t value) -> Value {
      return LLVM::ConstantOp::create(b, b.getI32Type(), b.getI32IntegerAttr(static_cast<int32_t>(value)));
    };
    text += ", " + ptx.operand(LLVM::SelectOp::create(b, isRead, number(bytes), number(0)));
  }
  std::string guard = ptx.guard(predicate);
  ptx.emit(guard + text + ";");
}

void Instructions::commitCopies(simt::Builder &b) const { InlinePtx(b).emit("cp.async.commit_group;"); }
void Instructions::waitCopies(simt::Builder &b, int64_t pending) const {
  InlinePtx(b).emit("cp.async.wait_group " + std::to_string(pending) + ";");
}
