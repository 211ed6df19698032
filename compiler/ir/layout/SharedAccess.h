// How threads move a tile between registers and a tile in shared memory whose layout is given.
//
// The offset of an element is a linear function of where it is in registers: the shared layout's inverse after the
// register layout. So it is the exclusive or of what the register, the lane and the warp contribute, and what one
// access may take follows from the contributions alone:
//
// - Words: neighbours in memory that are registers of one thread, as many as the machine accesses at once.
// - Matrices: warps move matrices of eight rows of sixteen bytes together. Each lane gives the address of a row, and
//   holds four bytes of one (lane l: piece l % 4 of row l / 4), or, transposed, two neighbours of a column of 16-bit
//   elements (lane l: elements 2 (l % 4) and the next of column l / 4). For machines of 32 lanes that have it.
//
// - Transposed bytes: the same matrices of 16-bit elements, which are pairs of bytes here. A lane has two of a column,
//   and of a matrix with the next two: what neighbours of either byte of the pair it has is every second byte of both.
//
// A plan is data; the lowering emits it, tests execute it on arrays.
#pragma once

#include "compiler/ir/layout/LinearLayout.h"
#include "compiler/ir/layout/Swizzle.h"
#include <optional>

namespace nacre {

struct SharedAccessPlan {
  enum class Kind : uint8_t { Words, Matrices, TransposedMatrices, TransposedBytes };
  struct Access {
    // Words: neighbours from the lowest offset on. Matrices: as many for each matrix as 32 bits hold, one matrix after
    // the other. Transposed bytes, of four matrices: four that are the first bytes of pairs in the first two matrices,
    // four that are the second bytes, and the same of the other two.
    llvm::SmallVector<uint32_t> registers;
    uint32_t offset; // the registers' share, in elements
  };
  Kind kind = Kind::Words;
  // The thread's share of offsets: of the element, or of the row that the lane gives the address of.
  BitMatrix lane, warp;
  unsigned offsetBits = 0;
  llvm::SmallVector<Access> accesses;
  // Registers that hold the same element as others of the thread: (copy, of).
  llvm::SmallVector<std::pair<uint32_t, uint32_t>> copies;
  // Threads that hold no copy of another's elements have these bits 0: they alone write.
  uint32_t laneCopies = 0, warpCopies = 0;
};

// Registers of a tile, and the same tile's layout in shared memory; elements have 2^elementBits bytes. `mayUseMatrices`
// where the machine moves matrices in this direction.
SharedAccessPlan planSharedAccess(const LinearLayout &registers, const LinearLayout &shared, unsigned elementBits,
                                  bool mayUseMatrices, const SharedMemoryModel &model = {});

// For reading bytes of which a thread wants neighbours across the rows of the shared tile as words; none: the layouts
// are not such. The registers' first four bits are two of a column's places, of the pair, and of any row; lanes have
// two more of the column's, then those of the pair.
std::optional<SharedAccessPlan> planTransposedBytes(const LinearLayout &registers, const LinearLayout &shared);

// The layout of a tile in shared memory whose rows along the first axis of `order` are written and read in pieces of
// sixteen bytes: the hardware's swizzle over rows as long as there are, up to 128 bytes; no swizzle for rows of less
// than 32.
LinearLayout sharedInRows(llvm::ArrayRef<unsigned> axisBits, llvm::ArrayRef<unsigned> order, unsigned elementBits);

// The same rows, the pieces of sixteen bytes of which change places within a row so that the reader, who takes less
// than a piece at once, has as few bank conflicts as that allows. (Copies from global memory are slow where
// neighbouring pieces of a line of memory do not stay in one row.)
LinearLayout sharedInRowsFor(const LinearLayout &reader, llvm::ArrayRef<unsigned> axisBits,
                             llvm::ArrayRef<unsigned> order, unsigned elementBits);

} // namespace nacre
