#include "compiler/ir/layout/Constructors.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <bit>
#include <cassert>

namespace nacre {
namespace {

unsigned logarithm(unsigned power) {
  assert(std::has_single_bit(power));
  return static_cast<unsigned>(std::countr_zero(power));
}

// Deals out the bits of a tile's axes from the lowest on.
class Dealer {
public:
  explicit Dealer(llvm::ArrayRef<unsigned> axisBits) : layout(axisBits), used(axisBits.size(), 0) {}

  // The next bit of an axis goes to a place. Where the axis is used up, threads get a copy and registers nothing.
  void deal(Place place, unsigned axis) {
    if (axis != copyAxis && used[axis] < layout.axisBits(axis))
      layout.add(place, axis, uint32_t(1) << used[axis]++);
    else if (place != Place::Register)
      layout.add(place, 0);
  }
  void deal(Place place, unsigned axis, unsigned bits) {
    for (unsigned bit = 0; bit < bits; ++bit)
      deal(place, axis);
  }
  // All that is left, axis by axis.
  void dealRest(Place place, llvm::ArrayRef<unsigned> order) {
    for (unsigned axis : order)
      deal(place, axis, layout.axisBits(axis) - used[axis]);
  }

  LinearLayout layout;
  llvm::SmallVector<unsigned> used;
};

} // namespace

LinearLayout blocked(llvm::ArrayRef<unsigned> axisBits, const Blocking &blocking) {
  Dealer dealer(axisBits);
  for (unsigned axis : blocking.order)
    dealer.deal(Place::Register, axis, blocking.registerBits[axis]);
  for (unsigned axis : blocking.order)
    dealer.deal(Place::Lane, axis, blocking.laneBits[axis]);
  for (unsigned axis : blocking.order)
    dealer.deal(Place::Warp, axis, blocking.warpBits[axis]);
  dealer.dealRest(Place::Register, blocking.order);
  return std::move(dealer.layout);
}

Blocking blockingFor(llvm::ArrayRef<unsigned> axisBits, llvm::ArrayRef<unsigned> order, unsigned vectorBits,
                     unsigned laneBits, unsigned warpBits) {
  Blocking result;
  result.order.assign(order.begin(), order.end());
  for (auto *bits : {&result.registerBits, &result.laneBits, &result.warpBits})
    bits->assign(axisBits.size(), 0);
  llvm::SmallVector<unsigned> left(axisBits);
  auto take = [&](llvm::SmallVectorImpl<unsigned> &bits, unsigned axis, unsigned wanted) {
    unsigned taken = std::min(wanted, left[axis]);
    bits[axis] += taken;
    left[axis] -= taken;
    return wanted - taken;
  };
  if (!order.empty())
    take(result.registerBits, order.front(), vectorBits);
  for (unsigned axis : order)
    laneBits = take(result.laneBits, axis, laneBits);
  for (unsigned axis : order)
    warpBits = take(result.warpBits, axis, warpBits);
  // What no axis has room for is given to the slowest one, where `blocked` makes copies of it.
  if (!order.empty()) {
    result.laneBits[order.back()] += laneBits;
    result.warpBits[order.back()] += warpBits;
  }
  return result;
}

LinearLayout tileOver(const LinearLayout &instruction, llvm::ArrayRef<unsigned> axisBits,
                      llvm::ArrayRef<unsigned> warpAxes, llvm::ArrayRef<unsigned> order) {
  llvm::SmallVector<unsigned> rest;
  for (unsigned axis = 0; axis < axisBits.size(); ++axis) {
    assert(axisBits[axis] >= instruction.axisBits(axis) && "a tile holds at least one instruction");
    rest.push_back(axisBits[axis] - instruction.axisBits(axis));
  }
  Dealer dealer(rest);
  for (unsigned axis : warpAxes)
    dealer.deal(Place::Warp, axis);
  dealer.dealRest(Place::Register, order);
  return instruction.product(dealer.layout);
}

LinearLayout fragmentA(unsigned m, unsigned k, unsigned perRegister) {
  LinearLayout result({logarithm(m), logarithm(k)});
  for (unsigned i = 1; i < perRegister; i *= 2)
    result.add(Place::Register, 1, i);
  if (m > 8)
    result.add(Place::Register, 0, 8);
  for (unsigned i = 4 * perRegister; i < k; i *= 2)
    result.add(Place::Register, 1, i);
  for (unsigned i : {perRegister, 2 * perRegister})
    result.add(Place::Lane, 1, i);
  for (unsigned i : {1, 2, 4})
    result.add(Place::Lane, 0, i);
  for (unsigned i = 16; i < m; i *= 2)
    result.add(Place::Warp, 0, i);
  return result;
}

LinearLayout fragmentB(unsigned k, unsigned n, unsigned perRegister) {
  LinearLayout result({logarithm(k), logarithm(n)});
  for (unsigned i = 1; i < perRegister; i *= 2)
    result.add(Place::Register, 0, i);
  for (unsigned i = 4 * perRegister; i < k; i *= 2)
    result.add(Place::Register, 0, i);
  for (unsigned i : {perRegister, 2 * perRegister})
    result.add(Place::Lane, 0, i);
  for (unsigned i : {1, 2, 4})
    result.add(Place::Lane, 1, i);
  return result;
}

LinearLayout fragmentC(unsigned m, unsigned n) {
  LinearLayout result({logarithm(m), logarithm(n)});
  result.add(Place::Register, 1, 1);
  if (m > 8)
    result.add(Place::Register, 0, 8);
  for (unsigned i = 8; i < n; i *= 2)
    result.add(Place::Register, 1, i);
  for (unsigned i : {2, 4})
    result.add(Place::Lane, 1, i);
  for (unsigned i : {1, 2, 4})
    result.add(Place::Lane, 0, i);
  for (unsigned i = 16; i < m; i *= 2)
    result.add(Place::Warp, 0, i);
  return result;
}

LinearLayout matrixLoad(unsigned perRegister, bool transposed) {
  assert(!transposed || perRegister == 2);
  LinearLayout rows = fragmentA(8, 4 * perRegister, perRegister);
  return transposed ? rows.permute({1, 0}) : rows;
}

LinearLayout sharedInOrder(llvm::ArrayRef<unsigned> axisBits, llvm::ArrayRef<unsigned> order) {
  Dealer dealer(axisBits);
  dealer.dealRest(Place::Offset, order);
  return std::move(dealer.layout);
}

LinearLayout sharedSwizzled(llvm::ArrayRef<unsigned> axisBits, llvm::ArrayRef<unsigned> order, unsigned spanBits,
                            unsigned elementBits) {
  assert(spanBits >= 5 && spanBits <= 7 && "rows have 32, 64 or 128 bytes");
  assert(!order.empty() && axisBits[order.front()] + elementBits >= spanBits && "the axis is at least one row long");
  Dealer dealer(axisBits);
  dealer.deal(Place::Offset, order.front(), spanBits - elementBits);
  for (unsigned axis : order.drop_front())
    dealer.deal(Place::Offset, axis, axisBits[axis]);
  dealer.dealRest(Place::Offset, order);
  // Address bit 7 + i is added to bit 4 + i: an address with it holds what lies in the piece with that bit changed.
  llvm::SmallVector<uint32_t> plain(dealer.layout.basesOf(Place::Offset));
  for (unsigned i = 0; i < spanBits - 4; ++i)
    if (7 + i - elementBits < plain.size())
      dealer.layout.setBasis(Place::Offset, 7 + i - elementBits,
                             plain[7 + i - elementBits] ^ plain[4 + i - elementBits]);
  return std::move(dealer.layout);
}

std::optional<SwizzledRows> matchSwizzledRows(const LinearLayout &shared, unsigned elementBits) {
  if (shared.rank() != 2)
    return std::nullopt;
  for (unsigned fastest : {0u, 1u})
    for (unsigned spanBits : {7u, 6u, 5u})
      if (shared.axisBits(fastest) + elementBits >= spanBits &&
          sharedSwizzled(shared.axisBits(), {fastest, 1 - fastest}, spanBits, elementBits) == shared)
        return SwizzledRows{fastest, spanBits};
  return std::nullopt;
}

} // namespace nacre
