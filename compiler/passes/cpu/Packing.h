// One packed operand of a product in memory: the loops of a cpu.rows or a cpu.panels.
//
// The operand is evaluated and converted to the type that is multiplied inside the loops that write it. Rows are read
// where they lie when they are a load of contiguous, complete rows of that type; else they are packed row-major. Panels
// are always packed.
#pragma once

#include "compiler/ir/cpu/Cpu.h"
#include "compiler/passes/cpu/Nest.h"

namespace nacre::cpu {

class Packing {
public:
  Packing(Lowering &lowering, mlir::Operation *op); // a RowsOp or a PanelsOp
  // Emits the loops; the result is then in memory, or among Lowering::rowTables.
  void run();

private:
  void packRows();
  void packPanels();
  bool readInPlace();
  void packOnce(const Buffer &packed, llvm::function_ref<void(mlir::Value target)> pack);
  using Place = llvm::function_ref<mlir::Value(llvm::ArrayRef<mlir::Value>)>;
  void pack(mlir::Value target, Place place, int64_t run);
  void packGroups(mlir::Value target, Place place);
  // Rows of quads, which are kept as unsigned bytes.
  bool isOffset() const { return mlir::isa<RowsOp>(op) && blocking.getEngine() == Engine::Quads; }
  Lanes converted(Nest &nest);

  Lowering &lowering;
  Emit &b;
  mlir::Operation *op;
  mlir::Value source;
  BlockingAttr blocking;
  mlir::Type operandType; // that the operand is kept in
  int64_t size;           // bytes of its element
};

} // namespace nacre::cpu
