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

LogicalResult BlockingAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t batch, int64_t m,
                                   int64_t n, int64_t k, Type operand, Type sum, int64_t lanes, int64_t panel,
                                   int64_t rows, Engine engine) {
  constexpr int64_t most = int64_t(1) << 30; // elements of a tile
  for (int64_t size : {batch, m, n, k, lanes, panel, rows})
    if (size < 1 || size > most)
      return emitError() << "sizes of a product are from 1 to " << most << ", not " << size;
  if (!llvm::isPowerOf2_64(panel))
    return emitError() << "a panel has a power of two of columns, not " << panel;
  if (!tile::isScalarType(operand) || !tile::isScalarType(sum))
    return emitError() << "a product is of numbers, not of " << operand << " summed as " << sum;
  if (engine == Engine::Quads && !operand.isInteger(8))
    return emitError() << "quads along k are of 8-bit integers, not of " << operand;
  if (k % groupOf(engine) != 0)
    return emitError() << (engine == Engine::Quads ? "quads along k need a multiple of four elements, not "
                                                   : "pairs along k need an even number of elements, not ")
                       << k;
  return success();
}

RankedTensorType BlockingAttr::panelsType() const {
  if (int64_t group = getGroup(); group > 1)
    return RankedTensorType::get({getBatch(), panelCount(), getK() / group, getPanel(), group}, getOperand());
  return RankedTensorType::get({getBatch(), panelCount(), getK(), getPanel()}, getOperand());
}

// Whether the tile is [batch, rows, columns] of these elements; a single batch
// has no axis of its own.
static bool isMatrix(RankedTensorType type, int64_t batch, int64_t rows, int64_t columns, Type element) {
  ArrayRef<int64_t> shape = type.getShape();
  if (type.getElementType() != element || (shape.size() != 3 && (shape.size() != 2 || batch != 1)))
    return false;
  return (shape.size() == 2 || shape[0] == batch) && shape[shape.size() - 2] == rows && shape.back() == columns;
}

template <typename PackOp> static LogicalResult verifyPack(PackOp op, int64_t rows, int64_t columns) {
  auto source = cast<RankedTensorType>(op.getSource().getType());
  if (!isMatrix(source, op.getBlocking().getBatch(), rows, columns, source.getElementType()))
    return op.emitOpError("packs ") << source << ", which is no operand of a product of these sizes";
  if (!op.getKept() && !op.getKey().empty())
    return op.emitOpError("has a key and is not kept");
  return success();
}

LogicalResult RowsOp::verify() {
  if (failed(verifyPack(*this, getBlocking().getM(), getBlocking().getK())))
    return failure();
  if (getType() != tile::withElement(getSource().getType(), getBlocking().getOperand()))
    return emitOpError("gives rows as they are, of the type that is multiplied");
  return success();
}

LogicalResult PanelsOp::verify() {
  if (failed(verifyPack(*this, getBlocking().getK(), getBlocking().getN())))
    return failure();
  if (getType() != getBlocking().panelsType())
    return emitOpError("gives ") << getBlocking().panelsType();
  return success();
}

LogicalResult MultiplyOp::verify() {
  BlockingAttr blocking = getBlocking();
  if (getRows().empty() || getRows().size() != getPanels().size())
    return emitOpError("has rows and panels of each product, and at least one product");
  if (!isMatrix(getType(), blocking.getBatch(), blocking.getM(), blocking.getN(), blocking.getSum()))
    return emitOpError("sums to ") << getType() << ", which is no product of these sizes";
  for (auto [rows, panels] : llvm::zip_equal(getRows(), getPanels())) {
    auto type = cast<RankedTensorType>(rows.getType());
    if (type.getRank() != getType().getRank() ||
        !isMatrix(type, blocking.getBatch(), blocking.getM(), blocking.getK(), blocking.getOperand()) ||
        panels.getType() != blocking.panelsType())
      return emitOpError("has operands of other sizes than its product's");
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
