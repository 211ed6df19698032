// How the layouts of an operation's operands and results hang together.
//
// An operation on shapes leaves every value in its register and only renames the coordinates; from the layout of one
// side follows the layout of the other. resultLayout goes forwards, operandLayout backwards. None: the operation cannot
// be done in place from or to this layout.
#pragma once

#include "compiler/ir/simt/Simt.h"

namespace nacre::simt {

// Whether operands and results are all in one layout: element i of each result depends on elements i of the operands.
bool isElementwise(mlir::Operation *op);

// Whether the operation is one of expand_dims, broadcast, reshape, permute, join, split, concatenate, and leaves values
// where they are (a reshape between shapes padded unlike does not).
bool isShapeOperation(mlir::Operation *op);

// Whether an operation on packs of elements (tile.map, tile.inline_asm) may run where the elements are: packs are whole
// and can lie in registers of one thread, and threads that hold copies of an element, or padding, may run it too.
bool runsOnRegisters(mlir::Operation *op);

// Whether row-major indices of both shapes stay equal when each axis is padded to a power of two.
bool isLinearReshape(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to);

// Of the operation's results, for its (tile) operands in that layout; of a reduction too. Null rank: a scalar.
std::optional<LinearLayout> resultLayout(mlir::Operation *op, const LinearLayout &operand);
// Of its operands, for its results in that layout.
std::optional<LinearLayout> operandLayout(mlir::Operation *op, const LinearLayout &result);

// For each register of `result` the register of `source` in the same thread that holds the element at
// `coordinates`(packed coordinates in the result), a linear function; none where another thread has one of them.
std::optional<llvm::SmallVector<uint32_t>> sourceRegisters(const LinearLayout &source, const LinearLayout &result,
                                                           llvm::function_ref<uint32_t(uint32_t)> coordinates);
// The same for the operand `number` of a shape operation: the registers of the tiles, or scalars, that it gives.
struct Registers {
  unsigned operand = 0; // which operand
  uint32_t number = 0;  // which of its registers
};
std::optional<llvm::SmallVector<Registers>> shapeRegisters(mlir::Operation *op, unsigned result);

} // namespace nacre::simt
