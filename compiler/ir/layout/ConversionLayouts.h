// What the ways of a conversion share: layouts without duplicate registers, and numbers of registers in either form.
#pragma once

#include "compiler/ir/layout/LinearLayout.h"

namespace nacre {

struct DistinctLayout {
  explicit DistinctLayout(const LinearLayout &full)
      : bits(full.distinctRegisters()), layout(full.withoutDuplicateRegisters()) {
    BitMatrix distinct(layout.outputBits(), layout.basesOf(Place::Register));
    for (uint32_t basis : full.basesOf(Place::Register))
      numbers.push_back(*distinct.solve(basis));
  }

  // The register of the full layout that stands for one of the distinct ones; and the distinct one of any full one.
  uint32_t full(uint32_t distinct) const {
    uint32_t result = 0;
    for (unsigned i = 0; i < bits.size(); ++i)
      result |= (distinct >> i & 1) << bits[i];
    return result;
  }
  uint32_t distinct(uint32_t full) const { return BitMatrix(static_cast<unsigned>(bits.size()), numbers).apply(full); }

  llvm::SmallVector<unsigned> bits;
  LinearLayout layout;

private:
  llvm::SmallVector<uint32_t> numbers;
};

} // namespace nacre
