// Where the elements of a tile are: in which register of which lane of which warp, or at which offset of shared memory.
// Free of MLIR.
//
// A worked introduction
// ---------------------
// A warp of 32 lanes holds a tile of 8 x 16 numbers, four in each lane. One way: a lane holds four neighbours of a row,
// four lanes hold a row, and the eight groups of four lanes hold the eight rows. Lane 0 has (0, 0) to (0, 3), lane 1
// has (0, 4) to (0, 7), lane 4 has (1, 0) to (1, 3). Written as a function from (register, lane) to (row, column):
//
//     row = lane / 4,    column = register + 4 (lane % 4)
//
// Every number here is a power of two, so the function only moves bits about. Write register as bits r1 r0, lane as
// l4 l3 l2 l1 l0: then the column's bits are l1 l0 r1 r0 and the row's bits are l4 l3 l2. Hence the whole function is
// known from where each single bit of the input goes:
//
//     register bit 0 -> column 1     lane bit 0 -> column 4     lane bit 2 -> row 1
//     register bit 1 -> column 2     lane bit 1 -> column 8     lane bit 3 -> row 2
//                                                               lane bit 4 -> row 4
//
// These images are the BASES of the layout, and the place of any element is the exclusive or of the bases of the input
// bits that are set: register 3 of lane 5 has bits r0, r1, l0, l2, thus column 1 ^ 2 ^ 4 = 7 and row 1. A function of
// this kind is linear over the field of two elements (addition is exclusive or). All layouts that hardware asks for are
// of this kind: fragments of matrix instructions, coalesced loads, and, because exclusive or is the addition, also the
// swizzles that keep shared memory free of bank conflicts. What is linear needs no cases: composition, inverses, images
// and kernels are linear algebra with words of 32 bits, and every question about data movement is one of these.
//
// Some of them:
// - Which lane has element (1, 7)? The INVERSE of the map, itself linear, says register 3 of lane 5.
// - How do values move when a tile changes from layout S to layout D? By D^-1 S, from (register, lane, warp) to
// (register,
//   lane, warp). If it leaves the lane and the warp alone, nothing moves: only registers are renamed (see
//   Conversion.h).
// - Are there copies? The map then has a KERNEL: inputs that map to 0. Mostly a basis that is 0: all lanes that differ
// in
//   that bit hold the same elements. A tile of 8 numbers over 32 lanes has two lane bases that are 0.
// - Can a lane load several elements at once? Yes, as many as the register bases 1, 2, 4, ... along the axis
// (contiguity).
// - Does an instruction's own layout fit? If the layout is a PRODUCT of the instruction's layout T and a rest R: the
// tile
//   is then R's many copies of the instruction. The QUOTIENT finds R.
// - A tile that is transposed, reshaped, split or joined is the same values in the same places; only their coordinates
//   have new names. So these operations change the layout, and cost nothing.
//
// Representation. The inputs, always in this order from the lowest bit on: register, lane, warp, offset, block.
// Register tiles use register, lane, warp and block (of a cluster), shared ones offset and block; offsets count
// elements. The output is all coordinates in one word, axis by axis, the last axis lowest: for a tile of 8 x 16 the
// bits 0 to 3 are the column and 4 to 6 the row. That is the row-major index, so a reshape leaves the word as it is. An
// axis that is no power of two is padded to the next one in the layout only; who touches memory masks what lies beyond.
//
// Text form: the extents, then the bases of each input, axes named a, b, c, ..., the layout above being
//     [8, 16] register b1 b2 lane b4 b8 a1 a2 a4
// A basis that moves along several axes is a sum, `a1+b8`, one that does not move is `0`.
#pragma once

#include "compiler/ir/layout/BitMatrix.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace llvm {
class raw_ostream;
}

namespace nacre {

// What the inputs of a layout count.
enum class Place : uint8_t { Register, Lane, Warp, Offset, Block };
inline constexpr unsigned placeCount = 5;
inline constexpr std::array<Place, placeCount> allPlaces = {Place::Register, Place::Lane, Place::Warp, Place::Offset,
                                                            Place::Block};
llvm::StringRef nameOf(Place place);

// One element's place.
struct Position {
  uint32_t reg = 0, lane = 0, warp = 0, offset = 0, block = 0;
  bool operator==(const Position &) const = default;
};

class LinearLayout {
public:
  using Bases = llvm::SmallVector<uint32_t, 8>;

  // Of a scalar: no axis, no input.
  LinearLayout() = default;
  // Axes as the logarithms of their extents, the first axis first. Bases are added with `add`.
  explicit LinearLayout(llvm::ArrayRef<unsigned> axisBits);
  // The logarithms of a shape, each extent padded to a power of two.
  static llvm::SmallVector<unsigned> paddedBits(llvm::ArrayRef<int64_t> shape);

  // Appends a basis to a place: its next higher bit. Along one axis, along none (0), or packed.
  void add(Place place, unsigned axis, uint32_t coordinate) { add(place, coordinate << shiftOf(axis)); }
  void add(Place place, uint32_t packed);

  // --- The tile.
  unsigned rank() const { return static_cast<unsigned>(widths.size()); }
  llvm::ArrayRef<unsigned> axisBits() const { return widths; }
  unsigned axisBits(unsigned axis) const { return widths[axis]; }
  uint32_t extent(unsigned axis) const { return uint32_t(1) << widths[axis]; }
  unsigned outputBits() const;
  // The lowest bit of an axis in a packed word; the bits of an axis; the coordinate along it.
  unsigned shiftOf(unsigned axis) const;
  uint32_t maskOf(unsigned axis) const { return ((uint32_t(1) << widths[axis]) - 1) << shiftOf(axis); }
  uint32_t coordinate(uint32_t packed, unsigned axis) const { return (packed & maskOf(axis)) >> shiftOf(axis); }
  llvm::SmallVector<uint32_t> unpack(uint32_t packed) const;
  uint32_t pack(llvm::ArrayRef<uint32_t> coordinates) const;

  // --- The inputs.
  unsigned bits(Place place) const { return counts[static_cast<unsigned>(place)]; }
  uint32_t count(Place place) const { return uint32_t(1) << bits(place); }
  unsigned inputBits() const { return static_cast<unsigned>(bases.size()); }
  unsigned inputShift(Place place) const;
  llvm::ArrayRef<uint32_t> basesOf(Place place) const {
    return llvm::ArrayRef<uint32_t>(bases).slice(inputShift(place), bits(place));
  }
  void setBasis(Place place, unsigned bit, uint32_t packed) { bases[inputShift(place) + bit] = packed; }
  uint32_t packInput(const Position &position) const;
  Position unpackInput(uint32_t input) const;

  // --- As a linear map, from packed inputs to packed coordinates.
  uint32_t apply(const Position &position) const { return apply(packInput(position)); }
  uint32_t apply(uint32_t input) const;
  BitMatrix matrix() const { return BitMatrix(outputBits(), bases); }
  bool isSurjective() const { return matrix().isSurjective(); }
  bool isInjective() const { return matrix().isInjective(); }
  // First this, then a map of coordinates to those of a tile with other axes.
  LinearLayout compose(const BitMatrix &outer, llvm::ArrayRef<unsigned> newAxisBits) const;

  // --- Tiling. Both have the same axes; this is the inner, repeated part: along each axis its bits are the low ones,
  // and at each place its bases come first.
  LinearLayout product(const LinearLayout &outer) const;
  // The layout R with tile.product(R) == *this, where there is one.
  std::optional<LinearLayout> quotient(const LinearLayout &tile) const;
  // The same where this layout's registers may be renumbered first: register bit i of the result is bit order[i] of
  // this layout's.
  struct Fit;
  std::optional<Fit> fit(const LinearLayout &tile) const;

  // --- Operations on shapes: the same values in the same registers (but where said otherwise) under new coordinates.
  // The same row-major order in another shape with as many elements.
  LinearLayout reshape(llvm::ArrayRef<unsigned> newAxisBits) const;
  // Axis i of the result is axis order[i].
  LinearLayout permute(llvm::ArrayRef<unsigned> order) const;
  // A new axis of extent 1 before axis `axis`.
  LinearLayout expand(unsigned axis) const;
  // An axis of extent 1 becomes one of 2^bits: new, highest register bits that all hold the same values.
  LinearLayout broadcast(unsigned axis, unsigned bits) const;
  // The other direction: what a tile of extent 1 along the axis has to be like so that its broadcast is this layout,
  // registers with equal values being one.
  LinearLayout collapse(unsigned axis) const;
  // The same with the axis gone: the layout of a reduction's result, and of what `expand` makes this layout of.
  LinearLayout slice(unsigned axis) const;
  // A new last axis of extent 2 in a new lowest register bit; and back, where such a bit exists and no other input
  // moves along the last axis: the bit is given as its number.
  LinearLayout join() const;
  struct Split;
  std::optional<Split> split() const;
  // The axis twice as long, the second tile in a new highest register bit.
  LinearLayout concatenate(unsigned axis) const;

  // --- Registers.
  // Register bit i of the result is bit order[i].
  LinearLayout withRegisterOrder(llvm::ArrayRef<unsigned> order) const;
  // The register bits whose bases are 1, 2, 4, ... along the axis while nothing else moves within them: two to the
  // power of their number neighbours can be loaded at once.
  llvm::SmallVector<unsigned> contiguousRegisters(unsigned axis) const;
  unsigned contiguity(unsigned axis) const { return 1u << contiguousRegisters(axis).size(); }
  // The register bits whose bases are no sum of lower ones' : the rest only repeats values of the same lane.
  llvm::SmallVector<unsigned> distinctRegisters() const;
  LinearLayout withoutDuplicateRegisters() const;
  // Only what depends on the thread: the place of its register 0.
  LinearLayout withoutRegisters() const;

  // --- Copies: the bits of a place that only repeat elements which lower bits (of this place or of one before) reach.
  // An element has exactly one holder with all of these bits 0: it alone stores, counts or prints.
  uint32_t copies(Place place) const { return matrix().freeInputs() >> inputShift(place) & (count(place) - 1); }
  // The inputs of the holder of an element, copies 0.
  Position holder(uint32_t packed) const;

  // --- Blocks of a cluster.
  // Whether blocks have different parts of the tile; of an axis.
  bool isSplitOverBlocks() const {
    return llvm::any_of(basesOf(Place::Block), [](uint32_t basis) { return basis; });
  }
  bool isSplitOverBlocks(unsigned axis) const {
    return llvm::any_of(basesOf(Place::Block), [&](uint32_t basis) { return basis & maskOf(axis); });
  }
  // What each block has, as a smaller tile: without the bits of coordinates that blocks, and they alone, move along.
  // None: something else moves along such a bit too.
  std::optional<LinearLayout> ofOneBlock() const;
  // Which block has which part, in units of what one block has: where that is a tile of its own, the layout is
  // ofOneBlock()->product(parts()).
  LinearLayout parts() const;
  // The threads of all blocks as those of one: a block's number is the high bits of the warp's.
  LinearLayout withBlocksAsWarps() const;

  // --- Text.
  void print(llvm::raw_ostream &stream) const;
  std::string text() const;
  // None, with a reason, where the text is no layout.
  static std::optional<LinearLayout> parse(llvm::StringRef text, std::string *error = nullptr);

  bool operator==(const LinearLayout &other) const = default;
  friend llvm::hash_code hash_value(const LinearLayout &layout) {
    return llvm::hash_combine(llvm::hash_combine_range(layout.widths.begin(), layout.widths.end()),
                              llvm::hash_combine_range(layout.counts.begin(), layout.counts.end()),
                              llvm::hash_combine_range(layout.bases.begin(), layout.bases.end()));
  }

private:
  llvm::SmallVector<unsigned> widths;
  std::array<uint8_t, placeCount> counts{};
  llvm::SmallVector<uint32_t, 16> bases;
};

struct LinearLayout::Fit {
  llvm::SmallVector<unsigned> order;
  LinearLayout rest;
};

struct LinearLayout::Split {
  LinearLayout half;
  unsigned registerBit;
};

} // namespace nacre
