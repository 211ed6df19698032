// The choice between the ways of a conversion, and the way by registers alone. Shuffles and memory have files of their
// own.
#include "compiler/ir/layout/Conversion.h"
#include "llvm/ADT/STLExtras.h"
#include <cassert>

namespace nacre {

std::optional<llvm::SmallVector<uint32_t>> planRegisters(const LinearLayout &source, const LinearLayout &destination) {
  if (source.basesOf(Place::Lane) != destination.basesOf(Place::Lane) ||
      source.basesOf(Place::Warp) != destination.basesOf(Place::Warp) ||
      source.basesOf(Place::Block) != destination.basesOf(Place::Block))
    return std::nullopt;
  BitMatrix registers(source.outputBits(), source.basesOf(Place::Register));
  llvm::SmallVector<uint32_t> result;
  for (uint32_t reg = 0; reg < destination.count(Place::Register); ++reg) {
    std::optional<uint32_t> found = registers.solve(destination.apply(Position{.reg = reg}));
    if (!found)
      return std::nullopt;
    result.push_back(*found);
  }
  return result;
}

unsigned Conversion::cost(unsigned elementBits, const SharedMemoryModel &model) const {
  switch (kind) {
  case Kind::Registers:
    return 0;
  case Kind::Shuffles:
    return 2 * shuffles.shuffleCount(elementBits) + shuffles.selectCount();
  case Kind::Memory:
    break;
  }
  unsigned result = 0;
  for (const MemoryPlan::Round &round : memory.rounds) {
    result += memory.withinWarp ? 2 : 30;
    for (const auto *accesses : {&round.writes, &round.reads})
      for (const MemoryPlan::Access &access : *accesses)
        result += 1 + static_cast<unsigned>(access.registers.size() << elementBits >> model.wordBits);
  }
  return result;
}

Conversion planConversion(const LinearLayout &source, const LinearLayout &destination, unsigned elementBits,
                          const ConversionLimits &limits) {
  assert(source.outputBits() == destination.outputBits() && source.bits(Place::Lane) == destination.bits(Place::Lane) &&
         source.bits(Place::Warp) == destination.bits(Place::Warp) && "layouts of one tile and one block of threads");
  Conversion result;
  if (std::optional<llvm::SmallVector<uint32_t>> registers = planRegisters(source, destination)) {
    result.registers = std::move(*registers);
    return result;
  }
  if (std::optional<ShufflePlan> shuffles = planShuffles(source, destination, elementBits);
      shuffles && shuffles->shuffleCount(elementBits) <= limits.shuffles) {
    result.kind = Conversion::Kind::Shuffles;
    result.shuffles = std::move(*shuffles);
    return result;
  }
  result.kind = Conversion::Kind::Memory;
  result.memory = planMemory(source, destination, elementBits, limits);
  return result;
}

} // namespace nacre
