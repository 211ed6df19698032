#include "compiler/ir/layout/Scan.h"
#include "compiler/ir/layout/Constructors.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <bit>

namespace nacre {

std::optional<ScanPlan> planScan(const LinearLayout &layout, unsigned axis) {
  llvm::SmallVector<std::optional<ScanPlan::InputBit>> found(layout.axisBits(axis));
  for (Place place : {Place::Register, Place::Lane, Place::Warp})
    for (auto [bit, basis] : llvm::enumerate(layout.basesOf(place))) {
      if (!(basis & layout.maskOf(axis)))
        continue;
      if (!std::has_single_bit(basis))
        return std::nullopt;
      unsigned position = static_cast<unsigned>(std::countr_zero(basis)) - layout.shiftOf(axis);
      if (found[position])
        return std::nullopt;
      found[position] = ScanPlan::InputBit{place, static_cast<unsigned>(bit)};
    }
  ScanPlan plan{layout, axis, {}, 0, {}};
  for (const std::optional<ScanPlan::InputBit> &input : found) {
    if (!input)
      return std::nullopt;
    plan.inputs.push_back(*input);
  }
  uint32_t within = 0;
  while (plan.chunkBits < plan.inputs.size() && plan.inputs[plan.chunkBits].place == Place::Register)
    within |= uint32_t(1) << plan.inputs[plan.chunkBits++].bit;
  for (unsigned bit = 0; bit < layout.bits(Place::Register); ++bit)
    if (!(within >> bit & 1))
      plan.chunkRegisters.push_back(bit);
  return plan;
}

LinearLayout scanLayout(const LinearLayout &layout, unsigned axis) {
  if (planScan(layout, axis))
    return layout;
  llvm::SmallVector<unsigned> order{axis};
  for (unsigned other = layout.rank(); other-- > 0;)
    if (other != axis)
      order.push_back(other);
  return blocked(layout.axisBits(),
                 blockingFor(layout.axisBits(), order, 2, layout.bits(Place::Lane), layout.bits(Place::Warp)));
}

llvm::SmallVector<uint32_t> ScanPlan::registersOf(uint32_t chunk) const {
  uint32_t base = 0;
  for (auto [i, bit] : llvm::enumerate(chunkRegisters))
    base |= (chunk >> i & 1) << bit;
  llvm::SmallVector<uint32_t> result;
  for (uint32_t position = 0; position < uint32_t(1) << chunkBits; ++position) {
    uint32_t reg = base;
    for (unsigned i = 0; i < chunkBits; ++i)
      reg |= (position >> i & 1) << inputs[i].bit;
    result.push_back(reg);
  }
  return result;
}

ScanPlan::WarpExchange ScanPlan::warpExchange(unsigned doneBits, uint64_t mostTotals) const {
  WarpExchange result;
  for (const InputBit &input : llvm::ArrayRef(inputs).take_front(doneBits))
    if (input.place != Place::Register)
      (input.place == Place::Lane ? result.silentLanes : result.silentWarps) |= uint32_t(1) << input.bit;
  for (auto [place, silent] :
       {std::pair(Place::Lane, &result.silentLanes), std::pair(Place::Warp, &result.silentWarps)})
    for (auto [bit, basis] : llvm::enumerate(layout.basesOf(place)))
      if (!basis)
        *silent |= uint32_t(1) << bit;
  // Neighbouring lanes have neighbouring offsets.
  unsigned lanes = layout.bits(Place::Lane), warps = layout.bits(Place::Warp), offset = 0;
  llvm::SmallVector<uint32_t> laneBases, chunkBases, warpBases;
  for (unsigned bit = 0; bit < lanes; ++bit)
    laneBases.push_back(result.silentLanes >> bit & 1 ? 0 : uint32_t(1) << offset++);
  unsigned chunkBitsAtOnce = static_cast<unsigned>(chunkRegisters.size());
  unsigned threadBits =
      lanes + warps - static_cast<unsigned>(std::popcount(result.silentLanes) + std::popcount(result.silentWarps));
  while (chunkBitsAtOnce && uint64_t(1) << (threadBits + chunkBitsAtOnce) > mostTotals)
    --chunkBitsAtOnce;
  result.chunksAtOnce = uint32_t(1) << chunkBitsAtOnce;
  for (unsigned bit = 0; bit < chunkRegisters.size(); ++bit)
    chunkBases.push_back(bit < chunkBitsAtOnce ? uint32_t(1) << offset++ : 0);
  for (unsigned bit = 0; bit < warps; ++bit)
    warpBases.push_back(result.silentWarps >> bit & 1 ? 0 : uint32_t(1) << offset++);
  result.offsets = LinearLayout({offset});
  for (auto [place, bases] : {std::pair(Place::Register, &chunkBases), std::pair(Place::Lane, &laneBases),
                              std::pair(Place::Warp, &warpBases)})
    for (uint32_t basis : *bases)
      result.offsets.add(place, basis);
  return result;
}

unsigned ScanPlan::warpRun(unsigned first) const {
  unsigned count = 0;
  while (first + count < inputs.size() && inputs[first + count].place == Place::Warp)
    ++count;
  return count;
}

uint32_t ScanPlan::exchangeCount(uint64_t mostTotals) const {
  uint32_t most = 0;
  for (unsigned bit = chunkBits; bit < inputs.size(); ++bit)
    if (inputs[bit].place == Place::Warp)
      most = std::max(most, warpExchange(bit, mostTotals).count());
  return most;
}

} // namespace nacre
