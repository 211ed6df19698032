// Registration of the cpu dialect, and its verifiers.
#include "compiler/ir/cpu/Cpu.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

#include "compiler/ir/cpu/CpuDialect.cpp.inc"
#include "compiler/ir/cpu/CpuEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/ir/cpu/CpuAttributes.cpp.inc"
#define GET_OP_CLASSES
#include "compiler/ir/cpu/Cpu.cpp.inc"

void CpuDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/ir/cpu/CpuAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "compiler/ir/cpu/Cpu.cpp.inc"
      >();
}

LogicalResult ReleaseOp::verify() {
  auto scratch = getPointer().getDefiningOp<ScratchOp>();
  if (!scratch || scratch.getKept() || scratch->getBlock() != (*this)->getBlock())
    return emitOpError("ends a cpu.scratch of its own block that is not kept");
  for (Operation *user : getPointer().getUsers()) {
    Operation *ancestor = (*this)->getBlock()->findAncestorOpInBlock(*user);
    if (user != getOperation() && (!ancestor || !ancestor->isBeforeInBlock(*this)))
      return emitOpError("is followed by a use of the memory").attachNote(user->getLoc()) << "used here";
  }
  return success();
}

LogicalResult MicroKernelOp::verify() {
  if (getRows().empty() || getRows().size() != getPanels().size() || getRows().size() != getTables().size())
    return emitOpError("has rows, panels and a word on tables for each product, and at least one product");
  size_t tables = llvm::count(getTables(), true);
  if (!getAhead().empty() && getAhead().size() != tables)
    return emitOpError("has a distance ahead for each table, or for none");
  if (tables != 0 && getBlocking().getBatch() != 1)
    return emitOpError("has tables of rows for one batch alone");
  return success();
}
