// Operations on shapes that leave every value in its register: only the names of the registers change.
#include "compiler/passes/gpu/Lowering.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

LogicalResult Lowering::lowerShape(Operation *op) {
  for (OpResult result : op->getResults()) {
    std::optional<SmallVector<Registers>> sources =
        cast<LayoutOpInterface>(op).sourceRegisters(result.getResultNumber());
    if (!sources)
      return fail(op, "the layouts of operand and result do not fit each other");
    SmallVector<Value> values;
    for (Registers source : *sources)
      values.push_back(registers(op->getOperand(source.operand))[source.number]);
    define(result, values);
  }
  return success();
}
