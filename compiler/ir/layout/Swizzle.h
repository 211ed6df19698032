// Addresses in shared memory through which a tile changes its layout, with no bank conflict on either side.
//
// An address, in elements, is made of bits `vector | sub-word | bank | segment`, low to high: a lane accesses a vector
// at once; elements narrower than a word share one; consecutive words are in consecutive banks; segments are the rows
// of all banks. The address of an element is a linear function of its coordinates: choosing it means choosing a basis
// of the tile, one direction for each address bit.
//
// An access of w words a lane is served for banks / w lanes at a time (a wavefront). Two of these conflict when their
// words differ but their banks do not. With V the directions of the vector and L those of the wavefront's lane bits,
// that is when span(V, L) holds something that moves along sub-words and segments only, and along segments really. So
// the segments' directions H have to avoid span(V, L) of the writer and of the reader:
//   1. H takes directions outside of span(V, Lw, Lr) first, then sums e + f, where e is only the writer's and f only
//   the
//      reader's: no such sum is in either span.
//   2. Sub-words take directions that no sum uses; the banks take one of each sum's two, and whatever is left.
// There are always enough of them, since a wavefront has no more lane bits than there are bank bits. The vector lies
// along registers of both sides; nothing else of an address moves along it, so every lane sees it in the same order.
// One side may access more at once: along directions that are its registers and the other side's lanes, so that
// neighbouring lanes of the other side fill what this side's lane takes. All of the above then holds with the longer
// vector in both spans.
#pragma once

#include "compiler/ir/layout/BitMatrix.h"

namespace nacre {

// What a target says of its shared memory, as logarithms: banks, bytes of a bank's word, bytes of the widest access.
struct SharedMemoryModel {
  unsigned bankBits = 5, wordBits = 2, accessBits = 4;
};

// One side of an exchange: the directions along which registers, lanes and warps move.
struct AccessPattern {
  llvm::SmallVector<uint32_t> registers, lanes, warps;
};

struct Swizzle {
  // From coordinates to the offset, in elements.
  BitMatrix address;
  // The directions of the lowest address bits that registers of a side hold: 2^size elements are one access. One of the
  // two begins with the other.
  llvm::SmallVector<uint32_t> writeVector, readVector;
};

// For a tile of 2^bits elements of 2^elementBits bytes. `within`: the subspace that is in memory at once; all of the
// tile, or what one round of several takes. Threads move within it, registers may leave it.
Swizzle chooseSwizzle(unsigned bits, llvm::ArrayRef<uint32_t> within, const AccessPattern &write,
                      const AccessPattern &read, unsigned elementBits, const SharedMemoryModel &model);

} // namespace nacre
