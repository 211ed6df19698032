#include "compiler/ir/layout/LinearLayout.h"
#include "llvm/ADT/STLExtras.h"
#include <bit>
#include <cassert>

namespace nacre {
namespace {

// The bits of a word that belong to axes of one tiling, moved to where another tiling has the axes; each axis may be
// shifted further along itself.
uint32_t moveAxes(const LinearLayout &from, const LinearLayout &to, uint32_t packed, llvm::ArrayRef<unsigned> up) {
  uint32_t result = 0;
  for (unsigned axis = 0; axis < from.rank(); ++axis)
    result |= from.coordinate(packed, axis) << (to.shiftOf(axis) + (up.empty() ? 0 : up[axis]));
  return result;
}

} // namespace

llvm::StringRef nameOf(Place place) {
  static constexpr const char *names[] = {"register", "lane", "warp", "offset", "block"};
  return names[static_cast<unsigned>(place)];
}

LinearLayout::LinearLayout(llvm::ArrayRef<unsigned> axisBits) : widths(axisBits.begin(), axisBits.end()) {
  assert(outputBits() <= 32 && "a tile has at most 2^32 elements");
}

llvm::SmallVector<unsigned> LinearLayout::paddedBits(llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<unsigned> result;
  for (int64_t extent : shape)
    result.push_back(extent <= 1 ? 0 : static_cast<unsigned>(std::bit_width(static_cast<uint64_t>(extent - 1))));
  return result;
}

void LinearLayout::add(Place place, uint32_t packed) {
  assert((outputBits() == 32 || packed >> outputBits() == 0) && "a basis outside of the tile");
  bases.insert(bases.begin() + inputShift(place) + bits(place), packed);
  ++counts[static_cast<unsigned>(place)];
}

unsigned LinearLayout::outputBits() const { return llvm::sum_of(widths, 0u); }

unsigned LinearLayout::shiftOf(unsigned axis) const {
  return llvm::sum_of(llvm::ArrayRef<unsigned>(widths).drop_front(axis + 1), 0u);
}

llvm::SmallVector<uint32_t> LinearLayout::unpack(uint32_t packed) const {
  llvm::SmallVector<uint32_t> result;
  for (unsigned axis = 0; axis < rank(); ++axis)
    result.push_back(coordinate(packed, axis));
  return result;
}

uint32_t LinearLayout::pack(llvm::ArrayRef<uint32_t> coordinates) const {
  uint32_t result = 0;
  for (unsigned axis = 0; axis < rank(); ++axis)
    result |= coordinates[axis] << shiftOf(axis);
  return result;
}

unsigned LinearLayout::inputShift(Place place) const {
  unsigned result = 0;
  for (unsigned i = 0; i < static_cast<unsigned>(place); ++i)
    result += counts[i];
  return result;
}

uint32_t LinearLayout::packInput(const Position &position) const {
  return position.reg | position.lane << inputShift(Place::Lane) | position.warp << inputShift(Place::Warp) |
         position.offset << inputShift(Place::Offset) | position.block << inputShift(Place::Block);
}

Position LinearLayout::unpackInput(uint32_t input) const {
  auto at = [&](Place place) { return input >> inputShift(place) & (count(place) - 1); };
  return {at(Place::Register), at(Place::Lane), at(Place::Warp), at(Place::Offset), at(Place::Block)};
}

uint32_t LinearLayout::apply(uint32_t input) const {
  uint32_t result = 0;
  for (; input; input &= input - 1)
    result ^= bases[static_cast<unsigned>(std::countr_zero(input))];
  return result;
}

LinearLayout LinearLayout::compose(const BitMatrix &outer, llvm::ArrayRef<unsigned> newAxisBits) const {
  LinearLayout result(newAxisBits);
  assert(outer.inputBits() == outputBits() && outer.outputBits() == result.outputBits());
  result.counts = counts;
  for (uint32_t basis : bases)
    result.bases.push_back(outer.apply(basis));
  return result;
}

LinearLayout LinearLayout::product(const LinearLayout &outer) const {
  assert(rank() == outer.rank() && "factors have the same axes");
  llvm::SmallVector<unsigned> sums;
  for (unsigned axis = 0; axis < rank(); ++axis)
    sums.push_back(widths[axis] + outer.widths[axis]);
  LinearLayout result(sums);
  for (Place place : allPlaces) {
    for (uint32_t basis : basesOf(place))
      result.add(place, moveAxes(*this, result, basis, {}));
    for (uint32_t basis : outer.basesOf(place))
      result.add(place, moveAxes(outer, result, basis, widths));
  }
  return result;
}

std::optional<LinearLayout> LinearLayout::quotient(const LinearLayout &tile) const {
  if (rank() != tile.rank())
    return std::nullopt;
  llvm::SmallVector<unsigned> rest;
  uint32_t inner = 0;
  for (unsigned axis = 0; axis < rank(); ++axis) {
    if (widths[axis] < tile.widths[axis])
      return std::nullopt;
    rest.push_back(widths[axis] - tile.widths[axis]);
    inner |= (tile.extent(axis) - 1) << shiftOf(axis);
  }
  LinearLayout result(rest);
  for (Place place : allPlaces) {
    if (bits(place) < tile.bits(place))
      return std::nullopt;
    for (auto [bit, basis] : llvm::enumerate(basesOf(place))) {
      if (bit < tile.bits(place)) {
        if (basis != moveAxes(tile, *this, tile.basesOf(place)[bit], {}))
          return std::nullopt;
        continue;
      }
      if (basis & inner)
        return std::nullopt;
      uint32_t moved = 0;
      for (unsigned axis = 0; axis < rank(); ++axis)
        moved |= coordinate(basis, axis) >> tile.widths[axis] << result.shiftOf(axis);
      result.add(place, moved);
    }
  }
  return result;
}

std::optional<LinearLayout::Fit> LinearLayout::fit(const LinearLayout &tile) const {
  if (rank() != tile.rank())
    return std::nullopt;
  llvm::ArrayRef<uint32_t> registers = basesOf(Place::Register);
  llvm::SmallVector<unsigned> order;
  for (uint32_t basis : tile.basesOf(Place::Register)) {
    uint32_t wanted = moveAxes(tile, *this, basis, {});
    unsigned bit = 0;
    while (bit < registers.size() && (registers[bit] != wanted || llvm::is_contained(order, bit)))
      ++bit;
    if (bit == registers.size())
      return std::nullopt;
    order.push_back(bit);
  }
  for (unsigned bit = 0; bit < bits(Place::Register); ++bit)
    if (!llvm::is_contained(order, bit))
      order.push_back(bit);
  std::optional<LinearLayout> rest = withRegisterOrder(order).quotient(tile);
  if (!rest)
    return std::nullopt;
  return Fit{std::move(order), std::move(*rest)};
}

LinearLayout LinearLayout::reshape(llvm::ArrayRef<unsigned> newAxisBits) const {
  LinearLayout result(newAxisBits);
  assert(result.outputBits() == outputBits() && "a reshape keeps the number of elements");
  result.counts = counts;
  result.bases = bases;
  return result;
}

LinearLayout LinearLayout::permute(llvm::ArrayRef<unsigned> order) const {
  llvm::SmallVector<unsigned> permuted;
  for (unsigned axis : order)
    permuted.push_back(widths[axis]);
  LinearLayout result(permuted);
  result.counts = counts;
  for (uint32_t basis : bases) {
    uint32_t moved = 0;
    for (auto [axis, old] : llvm::enumerate(order))
      moved |= coordinate(basis, old) << result.shiftOf(static_cast<unsigned>(axis));
    result.bases.push_back(moved);
  }
  return result;
}

LinearLayout LinearLayout::expand(unsigned axis) const {
  llvm::SmallVector<unsigned> expanded(widths);
  expanded.insert(expanded.begin() + axis, 0);
  return reshape(expanded);
}

LinearLayout LinearLayout::broadcast(unsigned axis, unsigned bits) const {
  assert(widths[axis] == 0 && "only an axis of extent 1 is broadcast");
  llvm::SmallVector<unsigned> wider(widths);
  wider[axis] = bits;
  LinearLayout result(wider);
  result.counts = counts;
  for (uint32_t basis : bases)
    result.bases.push_back(moveAxes(*this, result, basis, {}));
  for (unsigned bit = 0; bit < bits; ++bit)
    result.add(Place::Register, axis, uint32_t(1) << bit);
  return result;
}

LinearLayout LinearLayout::collapse(unsigned axis) const {
  llvm::SmallVector<unsigned> narrower(widths);
  narrower[axis] = 0;
  LinearLayout result(narrower);
  result.counts = counts;
  for (uint32_t basis : bases)
    result.bases.push_back(moveAxes(*this, result, basis & ~maskOf(axis), {}));
  return result.withoutDuplicateRegisters();
}

LinearLayout LinearLayout::slice(unsigned axis) const {
  LinearLayout result = collapse(axis);
  result.widths.erase(result.widths.begin() + axis);
  return result;
}

LinearLayout LinearLayout::join() const {
  llvm::SmallVector<unsigned> wider(widths);
  wider.push_back(1);
  LinearLayout result(wider);
  result.add(Place::Register, 1);
  for (Place place : allPlaces)
    for (uint32_t basis : basesOf(place))
      result.add(place, basis << 1);
  return result;
}

std::optional<LinearLayout::Split> LinearLayout::split() const {
  assert(rank() && widths.back() == 1 && "only a last axis of extent 2 is split");
  llvm::ArrayRef<uint32_t> registers = basesOf(Place::Register);
  auto found = llvm::find(registers, 1u);
  if (found == registers.end() || llvm::count_if(bases, [](uint32_t basis) { return basis & 1; }) != 1)
    return std::nullopt;
  auto registerBit = static_cast<unsigned>(found - registers.begin());
  LinearLayout half(llvm::ArrayRef<unsigned>(widths).drop_back());
  for (Place place : allPlaces)
    for (auto [bit, basis] : llvm::enumerate(basesOf(place)))
      if (place != Place::Register || bit != registerBit)
        half.add(place, basis >> 1);
  return Split{std::move(half), registerBit};
}

LinearLayout LinearLayout::concatenate(unsigned axis) const {
  llvm::SmallVector<unsigned> wider(widths);
  ++wider[axis];
  LinearLayout result(wider);
  result.counts = counts;
  for (uint32_t basis : bases)
    result.bases.push_back(moveAxes(*this, result, basis, {}));
  result.add(Place::Register, axis, extent(axis));
  return result;
}

LinearLayout LinearLayout::withRegisterOrder(llvm::ArrayRef<unsigned> order) const {
  assert(order.size() == bits(Place::Register));
  LinearLayout result = *this;
  for (auto [bit, old] : llvm::enumerate(order))
    result.bases[bit] = bases[old];
  return result;
}

llvm::SmallVector<unsigned> LinearLayout::contiguousRegisters(unsigned axis) const {
  llvm::SmallVector<unsigned> result;
  llvm::ArrayRef<uint32_t> registers = basesOf(Place::Register);
  for (unsigned bit = 0; bit < widths[axis]; ++bit) {
    uint32_t unit = uint32_t(1) << (shiftOf(axis) + bit);
    auto found = llvm::find(registers, unit);
    if (found == registers.end() || llvm::count_if(bases, [&](uint32_t basis) { return basis & unit; }) != 1)
      break;
    result.push_back(static_cast<unsigned>(found - registers.begin()));
  }
  return result;
}

llvm::SmallVector<unsigned> LinearLayout::distinctRegisters() const {
  llvm::SmallVector<unsigned> result;
  Span seen;
  for (auto [bit, basis] : llvm::enumerate(basesOf(Place::Register)))
    if (seen.insert(basis))
      result.push_back(static_cast<unsigned>(bit));
  return result;
}

LinearLayout LinearLayout::withoutDuplicateRegisters() const {
  LinearLayout result = withoutRegisters();
  for (unsigned bit : distinctRegisters())
    result.add(Place::Register, bases[bit]);
  return result;
}

LinearLayout LinearLayout::withoutRegisters() const {
  LinearLayout result = *this;
  result.bases.erase(result.bases.begin(), result.bases.begin() + bits(Place::Register));
  result.counts[static_cast<unsigned>(Place::Register)] = 0;
  return result;
}

std::optional<LinearLayout> LinearLayout::ofOneBlock() const {
  uint32_t removed = 0;
  for (uint32_t basis : basesOf(Place::Block)) {
    if ((basis && !std::has_single_bit(basis)) || removed & basis)
      return std::nullopt;
    removed |= basis;
  }
  auto squeezed = [&](uint32_t packed) {
    uint32_t result = 0;
    for (unsigned bit = 0, to = 0; bit < outputBits(); ++bit)
      if (!(removed >> bit & 1))
        result |= (packed >> bit & 1) << to++;
    return result;
  };
  llvm::SmallVector<unsigned> narrower(widths);
  for (unsigned axis = 0; axis < rank(); ++axis)
    narrower[axis] -= static_cast<unsigned>(std::popcount(removed & maskOf(axis)));
  LinearLayout result(narrower);
  for (Place place : allPlaces)
    for (uint32_t basis : basesOf(place)) {
      if (place == Place::Block)
        continue;
      if (basis & removed)
        return std::nullopt;
      result.add(place, squeezed(basis));
    }
  return result;
}

LinearLayout LinearLayout::parts() const {
  llvm::SmallVector<unsigned> taken(rank());
  for (uint32_t basis : basesOf(Place::Block))
    for (unsigned axis = 0; axis < rank(); ++axis)
      taken[axis] += (basis & maskOf(axis)) != 0;
  LinearLayout result(taken);
  for (uint32_t basis : basesOf(Place::Block)) {
    uint32_t packed = 0;
    for (unsigned axis = 0; axis < rank(); ++axis)
      packed |= coordinate(basis, axis) >> (widths[axis] - taken[axis]) << result.shiftOf(axis);
    result.add(Place::Block, packed);
  }
  return result;
}

LinearLayout LinearLayout::withBlocksAsWarps() const {
  LinearLayout result(widths);
  for (Place place : allPlaces)
    for (uint32_t basis : basesOf(place))
      result.add(place == Place::Block ? Place::Warp : place, basis);
  return result;
}

Position LinearLayout::holder(uint32_t packed) const {
  std::optional<uint32_t> input = matrix().solve(packed);
  assert(input && "an element that no input reaches");
  return unpackInput(*input);
}

} // namespace nacre
