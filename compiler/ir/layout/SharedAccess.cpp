#include "compiler/ir/layout/SharedAccess.h"
#include "compiler/ir/layout/Constructors.h"
#include "compiler/ir/layout/ConversionLayouts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include <algorithm>
#include <cassert>

namespace nacre {
namespace {

using Vectors = llvm::SmallVector<uint32_t>;

// The offsets that the bits of registers, lanes and warps contribute.
struct Contributions {
  Contributions(const LinearLayout &registerLayout, const LinearLayout &shared) {
    BitMatrix offsetOf = *BitMatrix(shared.outputBits(), shared.basesOf(Place::Offset)).inverse();
    auto of = [&](Place place) {
      return llvm::map_to_vector(registerLayout.basesOf(place), [&](uint32_t basis) { return offsetOf.apply(basis); });
    };
    registers = of(Place::Register), lanes = of(Place::Lane), warps = of(Place::Warp);
  }
  Vectors registers, lanes, warps;
};

// The accesses that take the registers of `inner` at once, for every choice of the other register bits.
llvm::SmallVector<SharedAccessPlan::Access> accessesOf(llvm::ArrayRef<uint32_t> offsets, llvm::ArrayRef<unsigned> inner,
                                                       const DistinctLayout &side) {
  llvm::SmallVector<unsigned> outer;
  for (unsigned bit = 0; bit < offsets.size(); ++bit)
    if (!llvm::is_contained(inner, bit))
      outer.push_back(bit);
  llvm::SmallVector<SharedAccessPlan::Access> result;
  for (uint32_t number = 0; number < uint32_t(1) << outer.size(); ++number) {
    uint32_t first = 0, offset = 0;
    for (auto [i, bit] : llvm::enumerate(outer))
      if (number >> i & 1)
        first |= uint32_t(1) << bit, offset ^= offsets[bit];
    SharedAccessPlan::Access access{{}, offset};
    for (uint32_t within = 0; within < uint32_t(1) << inner.size(); ++within) {
      uint32_t reg = first;
      for (auto [i, bit] : llvm::enumerate(inner))
        reg |= (within >> i & 1) << bit;
      access.registers.push_back(side.full(reg));
    }
    result.push_back(std::move(access));
  }
  return result;
}

// The register bits that contribute exactly these offsets, in their order, as many as there are from the first on.
llvm::SmallVector<unsigned> bitsWith(llvm::ArrayRef<uint32_t> offsets, llvm::ArrayRef<uint32_t> wanted) {
  llvm::SmallVector<unsigned> bits;
  for (uint32_t offset : wanted) {
    const auto *found = llvm::find(offsets, offset);
    if (found == offsets.end())
      break;
    bits.push_back(static_cast<unsigned>(found - offsets.begin()));
  }
  return bits;
}

// Whether nothing else moves along the lowest `low` bits of offsets: all contributions but those named.
bool othersAreAligned(const Contributions &moves, uint32_t low, llvm::ArrayRef<unsigned> registers,
                      llvm::ArrayRef<unsigned> lanes) {
  for (auto [bit, offset] : llvm::enumerate(moves.registers))
    if (offset & low && !llvm::is_contained(registers, bit))
      return false;
  for (auto [bit, offset] : llvm::enumerate(moves.lanes))
    if (offset & low && !llvm::is_contained(lanes, bit))
      return false;
  return llvm::none_of(moves.warps, [&](uint32_t offset) { return offset & low; });
}

constexpr unsigned rowBits = 4, wordBits = 2, matrixLaneBits = 5; // bytes of a row and of a word, as logarithms

bool planMatrices(const Contributions &moves, unsigned elementBits, bool isTransposed, const DistinctLayout &side,
                  SharedAccessPlan &plan) {
  if (moves.lanes.size() != matrixLaneBits || elementBits > wordBits || (isTransposed && elementBits != 1))
    return false;
  unsigned inRow = rowBits - elementBits, inWord = wordBits - elementBits;
  uint32_t low = (uint32_t(1) << inRow) - 1;
  llvm::SmallVector<unsigned> word, rowLanes;
  Vectors rows;
  if (!isTransposed) {
    for (unsigned bit = 0; bit < inWord; ++bit) {
      llvm::SmallVector<unsigned> found = bitsWith(moves.registers, uint32_t(1) << bit);
      if (found.empty())
        return false;
      word.push_back(found.front());
    }
    rowLanes = {0, 1};
    if (moves.lanes[0] != uint32_t(1) << inWord || moves.lanes[1] != uint32_t(2) << inWord)
      return false;
    rows = {moves.lanes[2], moves.lanes[3], moves.lanes[4]};
  } else {
    rowLanes = {2, 3, 4};
    if (moves.lanes[2] != 1 || moves.lanes[3] != 2 || moves.lanes[4] != 4 || moves.registers.empty())
      return false;
    word = {0}; // the layout's own lowest register: two neighbours of a column are one word
    rows = {moves.registers[0], moves.lanes[0], moves.lanes[1]};
  }
  if (!othersAreAligned(moves, low, isTransposed ? llvm::ArrayRef<unsigned>() : llvm::ArrayRef<unsigned>(word),
                        rowLanes))
    return false;
  // Up to four matrices at once.
  llvm::SmallVector<unsigned> inner = word;
  for (unsigned bit = 0; bit < moves.registers.size() && inner.size() < word.size() + 2; ++bit)
    if (!llvm::is_contained(word, bit)) {
      inner.push_back(bit);
      rows.push_back(moves.registers[bit]);
    }
  rows.resize(matrixLaneBits, 0);
  plan.kind = isTransposed ? SharedAccessPlan::Kind::TransposedMatrices : SharedAccessPlan::Kind::Matrices;
  plan.lane = BitMatrix(plan.offsetBits, rows);
  plan.accesses = accessesOf(moves.registers, inner, side);
  return true;
}

} // namespace

SharedAccessPlan planSharedAccess(const LinearLayout &registers, const LinearLayout &shared, unsigned elementBits,
                                  bool mayUseMatrices, const SharedMemoryModel &model) {
  assert(registers.axisBits() == shared.axisBits() && "one tile");
  DistinctLayout side(registers);
  Contributions moves(side.layout, shared);
  SharedAccessPlan plan;
  plan.offsetBits = shared.bits(Place::Offset);
  plan.warp = BitMatrix(plan.offsetBits, moves.warps);
  plan.laneCopies = side.layout.copies(Place::Lane);
  plan.warpCopies = side.layout.copies(Place::Warp);
  for (uint32_t reg = 0; reg < registers.count(Place::Register); ++reg)
    if (uint32_t of = side.full(side.distinct(reg)); of != reg)
      plan.copies.push_back({reg, of});
  if (mayUseMatrices)
    for (bool isTransposed : {false, true})
      if (planMatrices(moves, elementBits, isTransposed, side, plan))
        return plan;
  plan.lane = BitMatrix(plan.offsetBits, moves.lanes);
  Vectors wanted;
  for (unsigned bit = 0; bit + elementBits < model.accessBits; ++bit)
    wanted.push_back(uint32_t(1) << bit);
  llvm::SmallVector<unsigned> vector = bitsWith(moves.registers, wanted);
  while (!othersAreAligned(moves, (uint32_t(1) << vector.size()) - 1, vector, {}))
    vector.pop_back();
  plan.accesses = accessesOf(moves.registers, vector, side);
  return plan;
}

std::optional<SharedAccessPlan> planTransposedBytes(const LinearLayout &registers, const LinearLayout &shared) {
  DistinctLayout side(registers);
  Contributions moves(side.layout, shared);
  constexpr unsigned taken = 4; // bits of the registers of an access
  if (moves.lanes.size() != matrixLaneBits || moves.registers.size() < taken ||
      side.layout.count(Place::Register) != registers.count(Place::Register) || side.layout.copies(Place::Lane))
    return std::nullopt;
  bool isPaired = moves.registers[2] == 1 && moves.lanes[2] == 2 && moves.lanes[3] == 4 && moves.lanes[4] == 8;
  if (!isPaired || !othersAreAligned(moves, (1u << rowBits) - 1, {2u}, {2u, 3u, 4u}))
    return std::nullopt;
  SharedAccessPlan plan;
  plan.kind = SharedAccessPlan::Kind::TransposedBytes;
  plan.offsetBits = shared.bits(Place::Offset);
  // A matrix has rows of two neighbours of each lane's four; the second one has the other two.
  Vectors rows{moves.registers[0], moves.lanes[0], moves.lanes[1], moves.registers[1], moves.registers[3]};
  plan.lane = BitMatrix(plan.offsetBits, rows);
  plan.warp = BitMatrix(plan.offsetBits, moves.warps);
  plan.laneCopies = side.layout.copies(Place::Lane);
  plan.warpCopies = side.layout.copies(Place::Warp);
  plan.accesses = accessesOf(moves.registers, {0u, 1u, 2u, 3u}, side);
  return plan;
}

LinearLayout sharedInRows(llvm::ArrayRef<unsigned> axisBits, llvm::ArrayRef<unsigned> order, unsigned elementBits) {
  unsigned row = axisBits[order.front()] + elementBits;
  if (row < 5)
    return sharedInOrder(axisBits, order);
  return sharedSwizzled(axisBits, order, std::min(row, 7u), elementBits);
}

LinearLayout sharedInRowsFor(const LinearLayout &reader, llvm::ArrayRef<unsigned> axisBits,
                             llvm::ArrayRef<unsigned> order, unsigned elementBits) {
  LinearLayout layout = sharedInRows(axisBits, order, elementBits);
  constexpr unsigned pieceBits = 4, rowBits = 7; // of bytes
  unsigned firstPiece = pieceBits - elementBits, firstRow = rowBits - elementBits;
  if (axisBits[order.front()] + elementBits < rowBits || layout.bits(Place::Offset) <= firstRow)
    return layout;
  Vectors plain(layout.basesOf(Place::Offset));
  for (unsigned i = 0; i < rowBits - pieceBits && firstRow + i < plain.size(); ++i)
    plain[firstRow + i] ^= plain[firstPiece + i];
  // Lanes that read different rows are to read different pieces: places of pieces that no lane moves along are for
  // them.
  auto isOfLane = [&](uint32_t direction) { return llvm::is_contained(reader.basesOf(Place::Lane), direction); };
  llvm::SmallVector<unsigned> pieces, rows;
  for (bool first : {true, false}) {
    for (unsigned piece = firstPiece; piece < firstRow; ++piece)
      if (isOfLane(plain[piece]) != first)
        pieces.push_back(piece);
    for (unsigned row = firstRow; row < plain.size(); ++row)
      if (isOfLane(plain[row]) == first)
        rows.push_back(row);
  }
  for (unsigned row = firstRow; row < plain.size(); ++row)
    layout.setBasis(Place::Offset, row, plain[row]);
  for (auto [piece, row] : llvm::zip(pieces, rows))
    layout.setBasis(Place::Offset, row, plain[row] ^ plain[piece]);
  return layout;
}

} // namespace nacre
