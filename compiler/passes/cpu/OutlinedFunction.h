// Functions that passes of the CPU cut out of kernels.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace nacre::cpu {

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
