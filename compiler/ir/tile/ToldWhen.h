// A tile.tell that happens only where something may be wrong: with the attribute `when` its last operand is a mask, i1
// or a tile of i1. Nothing is told where none of its elements holds, and what is told need not be in memory until then.
//
//   tile.tell "arithmetic" "div int32" %a, %b, %isZero : tensor<8xi32>, tensor<8xi32>, tensor<8xi1>
//     {isSigned = array<i1: true, true, false>, when}
#pragma once

#include "compiler/ir/tile/Tile.h"

namespace nacre::tile {

inline constexpr char whenAttribute[] = "when";

// The mask; null: it happens always.
inline mlir::Value maskOf(TellOp tell) {
  return tell->hasAttr(whenAttribute) ? tell->getOperands().back() : mlir::Value();
}

// What is told.
inline mlir::OperandRange toldBy(TellOp tell) {
  return tell->getOperands().drop_back(tell->hasAttr(whenAttribute) ? 1 : 0);
}

inline TellOp tellWhen(mlir::OpBuilder &builder, mlir::Location loc, ToldKind kind, llvm::StringRef subject,
                       llvm::ArrayRef<mlir::Value> values, mlir::Value mask, bool isSigned) {
  llvm::SmallVector<mlir::Value> operands(values);
  operands.push_back(mask);
  llvm::SmallVector<bool> signs(operands.size(), isSigned);
  auto tell = TellOp::create(builder, loc, kind, subject, operands, signs);
  tell->setAttr(whenAttribute, builder.getUnitAttr());
  return tell;
}

} // namespace nacre::tile
