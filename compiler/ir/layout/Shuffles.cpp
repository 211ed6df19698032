// Conversions within a warp by shuffles.
//
// Let G map the place (register, lane, warp) of a destination value to that of the source value: G = S^-1 D. Copies are
// made different by further, virtual coordinates, so that G is a bijection. In round j a lane does not receive register
// j but j ^ A(thread), with a linear A so chosen that in every round each lane is asked by exactly one lane: with the
// blocks of G as  r' = Rr r + Rl l + Rw w  and  l' = Lr r + Ll l + Lw w,  the asked lane is  Lr j + M l + N w  where M
// = Ll + Lr A  has to be invertible. What a lane is asked for is then register  Q j + B l' + E w:  a renumbering that
// depends on the thread (exchanges before), as is A (exchanges after). If M can be the identity and N zero, lanes ask
// at a fixed distance Lr j, and nothing is sent where that is 0: exchanging one register bit with one lane bit sends
// half of the registers, exchanging k pairs of bits all but one in 2^k.
#include "compiler/ir/layout/Conversion.h"
#include "compiler/ir/layout/ConversionLayouts.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cassert>

namespace nacre {
namespace {

using Vectors = llvm::SmallVector<uint32_t>;

uint32_t lowBits(unsigned bits) { return bits >= 32 ? ~uint32_t(0) : (uint32_t(1) << bits) - 1; }

// Source and destination as bijections of one size: from (register, lane, warp) to coordinates and virtual coordinates
// that tell copies apart. Both have `registerBits` register bits; those that a side itself has not come last.
struct Bijections {
  unsigned registerBits, laneBits, warpBits;
  BitMatrix source, destination;
};

Bijections makeBijections(const LinearLayout &source, const LinearLayout &destination) {
  unsigned lanes = source.bits(Place::Lane), warps = source.bits(Place::Warp), tile = source.outputBits();
  unsigned registers = std::max(source.bits(Place::Register), destination.bits(Place::Register));
  unsigned inputs = registers + lanes + warps;
  auto extended = [&](const LinearLayout &layout) {
    Vectors columns(layout.basesOf(Place::Register));
    columns.resize(registers, 0);
    llvm::append_range(columns, layout.basesOf(Place::Lane));
    llvm::append_range(columns, layout.basesOf(Place::Warp));
    return columns;
  };
  // The source's free bits get a virtual coordinate each.
  Vectors from = extended(source), to = extended(destination);
  uint32_t sourceFree = BitMatrix(tile, from).freeInputs();
  unsigned next = tile;
  for (unsigned bit = 0; bit < inputs; ++bit)
    if (sourceFree >> bit & 1)
      from[bit] |= uint32_t(1) << next++;
  assert(next == inputs && "layouts cover their tile");
  // Threads of the destination ask for the copy that is their own, as far as that tells all apart.
  BitMatrix plain(tile, to);
  uint32_t free = plain.freeInputs();
  Vectors kernel = plain.kernel();
  for (unsigned bit = registers; bit < inputs; ++bit)
    to[bit] |= from[bit] & ~lowBits(tile);
  Span seen;
  Vectors unsettled;
  unsigned index = 0;
  for (unsigned bit = 0; bit < inputs; ++bit)
    if (free >> bit & 1)
      if (!seen.insert(BitMatrix(inputs, to).apply(kernel[index++])))
        unsettled.push_back(bit);
  index = 0;
  Vectors indices(inputs, 0);
  for (unsigned bit = 0; bit < inputs; ++bit)
    if (free >> bit & 1)
      indices[bit] = index++;
  for (unsigned bit : unsettled)
    for (unsigned coordinate = tile; coordinate < inputs; ++coordinate)
      if (uint32_t wanted = uint32_t(1) << coordinate; seen.insert(wanted)) {
        // Only this kernel vector has the bit: its image becomes what is wanted.
        to[bit] ^= wanted ^ BitMatrix(inputs, to).apply(kernel[indices[bit]]);
        break;
      }
  return {registers, lanes, warps, BitMatrix(inputs, from), BitMatrix(inputs, to)};
}

// The blocks of G; all are columns by input bit.
struct Blocks {
  BitMatrix registerOfRegister, registerOfLane, registerOfWarp; // Rr, Rl, Rw
  BitMatrix laneOfRegister, laneOfLane, laneOfWarp;             // Lr, Ll, Lw
};

BitMatrix sum(const BitMatrix &left, const BitMatrix &right) {
  Vectors columns;
  for (auto [x, y] : llvm::zip_equal(left.images(), right.images()))
    columns.push_back(x ^ y);
  return BitMatrix(left.outputBits(), columns);
}

// A renumbering of registers by a linear function of the thread, as exchanges along independent directions.
llvm::SmallVector<ShufflePlan::Exchange> exchanges(const BitMatrix &byLane, const BitMatrix &byWarp) {
  Vectors basis;
  Span span;
  for (const BitMatrix *map : {&byLane, &byWarp})
    for (uint32_t column : map->images())
      if (span.insert(column))
        basis.push_back(column);
  BitMatrix directions(byLane.outputBits(), basis);
  llvm::SmallVector<ShufflePlan::Exchange> result;
  for (uint32_t direction : basis)
    result.push_back({direction, 0, 0});
  for (auto [map, isLane] : {std::pair(&byLane, true), std::pair(&byWarp, false)})
    for (auto [bit, column] : llvm::enumerate(map->images())) {
      uint32_t along = *directions.solve(column);
      for (unsigned i = 0; i < basis.size(); ++i)
        if (along >> i & 1)
          (isLane ? result[i].lanes : result[i].warps) |= uint32_t(1) << bit;
    }
  return result;
}

std::optional<ShufflePlan> planWith(const Blocks &g, const BitMatrix &byLane, const BitMatrix &byWarp,
                                    unsigned destinationBits, unsigned sourceBits) {
  ShufflePlan plan;
  unsigned registerBits = g.registerOfRegister.inputBits();
  plan.laneMap = sum(g.laneOfLane, g.laneOfRegister.compose(byLane));
  plan.warpMap = sum(g.laneOfWarp, g.laneOfRegister.compose(byWarp));
  std::optional<BitMatrix> inverse = plan.laneMap.inverse();
  if (!inverse)
    return std::nullopt;
  BitMatrix b = sum(g.registerOfLane, g.registerOfRegister.compose(byLane)).compose(*inverse);
  BitMatrix q = sum(g.registerOfRegister, b.compose(g.laneOfRegister));
  BitMatrix e = sum(b.compose(plan.warpMap), sum(g.registerOfWarp, g.registerOfRegister.compose(byWarp)));
  plan.registers = uint32_t(1) << registerBits;
  plan.before = exchanges(b, e);
  plan.after = exchanges(byLane, byWarp);
  // Registers that are copies of one another need no exchange.
  llvm::erase_if(plan.before, [&](const ShufflePlan::Exchange &exchange) {
    return (exchange.registers & lowBits(sourceBits)) == 0;
  });
  // What is received and never used: only registers of the destination's own are.
  Span used;
  for (unsigned bit = 0; bit < destinationBits; ++bit)
    used.insert(uint32_t(1) << bit);
  for (const ShufflePlan::Exchange &exchange : plan.after)
    used.insert(exchange.registers);
  llvm::MapVector<uint32_t, ShufflePlan::Round> rounds;
  for (uint32_t j = 0; j < plan.registers; ++j)
    if (used.contains(j)) {
      uint32_t flip = g.laneOfRegister.apply(j);
      rounds[flip].laneFlip = flip;
      rounds[flip].moves.push_back({q.apply(j), j});
    }
  for (auto &[flip, round] : rounds)
    plan.rounds.push_back(std::move(round));
  return plan;
}

} // namespace

bool ShufflePlan::isFlip() const {
  return laneMap.isIdentity() && llvm::all_of(warpMap.images(), [](uint32_t image) { return image == 0; });
}

unsigned ShufflePlan::shuffleCount(unsigned elementBits) const {
  unsigned count = 0;
  for (const Round &round : rounds)
    if (!isFlip() || round.laneFlip)
      count += static_cast<unsigned>(((round.moves.size() << elementBits) + 3) / 4);
  return count;
}

unsigned ShufflePlan::selectCount() const { return static_cast<unsigned>((before.size() + after.size()) * registers); }

std::optional<ShufflePlan> planShuffles(const LinearLayout &fullSource, const LinearLayout &fullDestination,
                                        unsigned elementBits) {
  DistinctLayout source(fullSource), destination(fullDestination);
  Bijections maps = makeBijections(source.layout, destination.layout);
  BitMatrix g = maps.source.inverse()->compose(maps.destination);
  unsigned n = maps.registerBits, lanes = maps.laneBits, warps = maps.warpBits;
  for (auto [bit, column] : llvm::enumerate(g.images()))
    if (column >> (n + lanes) != (bit < n + lanes ? 0 : uint32_t(1) << (bit - n - lanes)))
      return std::nullopt;
  auto block = [&](unsigned first, unsigned count, bool ofLane) {
    Vectors columns;
    for (uint32_t column : g.images().slice(first, count))
      columns.push_back(ofLane ? column >> n & lowBits(lanes) : column & lowBits(n));
    return BitMatrix(ofLane ? lanes : n, columns);
  };
  Blocks blocks{block(0, n, false), block(n, lanes, false), block(n + lanes, warps, false),
                block(0, n, true),  block(n, lanes, true),  block(n + lanes, warps, true)};

  // First choice: M the identity and N zero.
  auto solveAll = [&](const BitMatrix &wanted) -> std::optional<BitMatrix> {
    Vectors columns;
    for (uint32_t column : wanted.images()) {
      std::optional<uint32_t> found = blocks.laneOfRegister.solve(column);
      if (!found)
        return std::nullopt;
      columns.push_back(*found);
    }
    return BitMatrix(n, columns);
  };
  std::optional<ShufflePlan> best;
  auto consider = [&](const BitMatrix &byLane, const BitMatrix &byWarp) {
    std::optional<ShufflePlan> plan =
        planWith(blocks, byLane, byWarp, destination.layout.bits(Place::Register), source.layout.bits(Place::Register));
    auto cost = [&](const ShufflePlan &plan) { return 2 * plan.shuffleCount(elementBits) + plan.selectCount(); };
    if (plan && (!best || cost(*plan) < cost(*best)))
      best = std::move(plan);
  };
  std::optional<BitMatrix> byLane = solveAll(sum(blocks.laneOfLane, BitMatrix::identity(lanes)));
  std::optional<BitMatrix> byWarp = solveAll(blocks.laneOfWarp);
  if (byLane && byWarp)
    consider(*byLane, *byWarp);
  // Second: as few exchanges as make M invertible. The lane bits that Ll maps into the span of lower ones are given
  // registers whose images complete it.
  Vectors columns(lanes, 0);
  Span reached(blocks.laneOfLane.images());
  uint32_t candidate = 0;
  for (unsigned bit = 0; bit < lanes; ++bit)
    if (blocks.laneOfLane.freeInputs() >> bit & 1) {
      while (candidate < n && !reached.insert(blocks.laneOfRegister.images()[candidate]))
        ++candidate;
      assert(candidate < n && "a bijection reaches every lane");
      columns[bit] = uint32_t(1) << candidate++;
    }
  consider(BitMatrix(n, columns), BitMatrix(n, Vectors(warps, 0)));
  assert(best && "the second choice is always possible");

  for (uint32_t reg = 0; reg < best->registers; ++reg)
    best->fromSource.push_back(source.full(reg & lowBits(source.layout.bits(Place::Register))));
  for (uint32_t reg = 0; reg < fullDestination.count(Place::Register); ++reg)
    best->toDestination.push_back(destination.distinct(reg));
  return best;
}

} // namespace nacre
