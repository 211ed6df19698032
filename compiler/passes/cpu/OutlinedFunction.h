// Functions that passes of the CPU cut out of kernels.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace nacre::cpu {

// Where a call that takes the place of operations stands: the first line that is known of them, else of the function
// they were in. LLVM refuses a call without one where functions have lines.
inline mlir::Location placeOfCall(llvm::ArrayRef<mlir::Operation *> operations) {
  auto line = [](mlir::Operation *op) { return op->getLoc()->findInstanceOf<mlir::FileLineColLoc>(); };
  mlir::FileLineColLoc found;
  for (mlir::Operation *operation : operations)
    operation->walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation *op) {
      found = found ? found : line(op);
      return found ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
    });
  if (!found)
    found = line(operations.front()->getParentOfType<mlir::func::FuncOp>());
  return found ? found : mlir::FileLineColLoc::get(operations.front()->getContext(), "<unknown>", 0, 0);
}

// An empty one that only this module sees and nobody inlines again; its name is made unique.
inline mlir::func::FuncOp outlinedFunction(mlir::Location location, llvm::StringRef name, mlir::FunctionType type,
                                           mlir::SymbolTable &symbols) {
  mlir::OpBuilder builder(location.getContext());
  auto function = mlir::func::FuncOp::create(builder, location, name, type);
  function.setPrivate();
  function->setAttr("passthrough", builder.getStrArrayAttr({"noinline"}));
  function->setAttr("llvm.linkage", mlir::LLVM::LinkageAttr::get(location.getContext(), mlir::LLVM::Linkage::Internal));
  symbols.insert(function);
  return function;
}

} // namespace nacre::cpu
