// How the layouts of an operation's operands and results hang together: what LayoutOpInterface says, of any operation.
#pragma once

#include "compiler/ir/simt/Simt.h"

namespace nacre::simt {

// Whether operands and results are all in one layout: element i of each result depends on elements i of the operands.
bool isElementwise(mlir::Operation *op);

// Whether the operation leaves values where they are and renames their coordinates (LayoutOpInterface::isShape).
bool isShapeOperation(mlir::Operation *op);

// Whether an operation on packs of elements (tile.map, tile.inline_asm) may run where the elements are: packs are whole
// and can lie in registers of one thread, and threads that hold copies of an element, or padding, may run it too.
bool runsOnRegisters(mlir::Operation *op);

// Whether row-major indices of both shapes stay equal when each axis is padded to a power of two.
bool isLinearReshape(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to);

// LayoutOpInterface::resultLayout goes forwards, operandLayout backwards; one layout where there is no rule.
std::optional<LinearLayout> resultLayout(mlir::Operation *op, const LinearLayout &operand);
std::optional<LinearLayout> operandLayout(mlir::Operation *op, const LinearLayout &result);

// For each register of `result` the register of `source` in the same thread that holds the element at
// `coordinates`(packed coordinates in the result), a linear function; none where another thread has one of them.
std::optional<llvm::SmallVector<uint32_t>> sourceRegisters(const LinearLayout &source, const LinearLayout &result,
                                                           llvm::function_ref<uint32_t(uint32_t)> coordinates);

} // namespace nacre::simt
