#include "compiler/ir/layout/Swizzle.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cassert>

namespace nacre {
namespace {

using Vectors = llvm::SmallVector<uint32_t>;

// Those of the candidates that are independent of what `span` holds and of each other; the span grows by them.
Vectors takeIndependent(Span &span, llvm::ArrayRef<uint32_t> candidates) {
  Vectors taken;
  for (uint32_t candidate : candidates)
    if (span.insert(candidate))
      taken.push_back(candidate);
  return taken;
}

Vectors joined(llvm::ArrayRef<uint32_t> left, llvm::ArrayRef<uint32_t> right) {
  Vectors result(left);
  llvm::append_range(result, right);
  return result;
}

// Independent directions completed to a basis of all.
Vectors completed(Vectors basis, unsigned bits) {
  Span span(basis);
  for (unsigned bit = 0; bit < bits; ++bit)
    if (span.insert(uint32_t(1) << bit))
      basis.push_back(uint32_t(1) << bit);
  assert(basis.size() == bits && "independent directions");
  return basis;
}

// A complement of some directions that holds others, and if possible still others: what is left of a direction without
// its share along the first ones.
class Complement {
public:
  Complement(llvm::ArrayRef<uint32_t> removed, llvm::ArrayRef<uint32_t> held, unsigned bits,
             llvm::ArrayRef<uint32_t> preferred = {})
      : removed(removed) {
    Vectors basis = joined(removed, held);
    Span span(basis);
    llvm::append_range(basis, takeIndependent(span, preferred));
    coordinates = *BitMatrix(bits, completed(basis, bits)).inverse();
  }

  Vectors project(llvm::ArrayRef<uint32_t> directions) const {
    Vectors projected;
    for (uint32_t direction : directions) {
      uint32_t along = coordinates.apply(direction);
      for (unsigned i = 0; i < removed.size(); ++i)
        if (along >> i & 1)
          direction ^= removed[i];
      projected.push_back(direction);
    }
    return projected;
  }

private:
  Vectors removed;
  BitMatrix coordinates;
};

} // namespace

Swizzle chooseSwizzle(unsigned bits, llvm::ArrayRef<uint32_t> within, const AccessPattern &write,
                      const AccessPattern &read, unsigned elementBits, const SharedMemoryModel &model) {
  unsigned size = Span(within).dimension();
  Vectors threads;
  for (const AccessPattern *side : {&write, &read}) {
    llvm::append_range(threads, side->lanes);
    llvm::append_range(threads, side->warps);
  }
  // The vector: registers of both sides, independent of where threads are. The rest is chosen from a complement of it
  // that holds all threads' directions.
  unsigned widest = model.accessBits > elementBits ? model.accessBits - elementBits : 0;
  Span occupied(threads);
  Vectors common = takeIndependent(occupied, intersection(intersection(write.registers, read.registers), within));
  if (common.size() > widest)
    common.truncate(widest);
  Complement besideCommon(common, Span(threads).basis(), bits);
  // One side's longer one.
  auto wavefrontOf = [&](const AccessPattern &side, const Vectors &vector) {
    unsigned bytes = static_cast<unsigned>(vector.size()) + elementBits;
    unsigned words = bytes > model.wordBits ? bytes - model.wordBits : 0;
    size_t lanes = model.bankBits > words ? model.bankBits - words : 0;
    return Vectors(llvm::ArrayRef<uint32_t>(side.lanes).take_front(std::min(lanes, side.lanes.size())));
  };
  auto lengthened = [&](const AccessPattern &side, const AccessPattern &other) {
    Span independent(common);
    independent.insert(side.lanes);
    independent.insert(side.warps);
    Vectors candidates = intersection(intersection(side.registers, within), joined(common, wavefrontOf(other, common)));
    Vectors longer = takeIndependent(independent, besideCommon.project(candidates));
    longer.truncate(std::min<size_t>(longer.size(), widest - common.size()));
    return joined(common, longer);
  };
  Swizzle result;
  result.writeVector = lengthened(write, read);
  result.readVector = lengthened(read, write);
  bool readsMore = result.readVector.size() >= result.writeVector.size();
  (readsMore ? result.writeVector : result.readVector) = common;
  const Vectors &vector = readsMore ? result.readVector : result.writeVector;
  const AccessPattern &longerSide = readsMore ? read : write;
  Complement beside(vector, Span(joined(longerSide.lanes, longerSide.warps)).basis(), bits, Span(threads).basis());

  // How many bits each part has.
  unsigned accessBits = static_cast<unsigned>(vector.size()) + elementBits; // bytes of an access
  unsigned left = size - static_cast<unsigned>(vector.size());
  unsigned subWordBits = std::min(left, accessBits < model.wordBits ? model.wordBits - accessBits : 0);
  unsigned rowBits = model.bankBits + model.wordBits; // bytes of a row of all banks
  unsigned inRow = rowBits > accessBits + subWordBits ? rowBits - accessBits - subWordBits : 0;
  unsigned bankBits = std::min(left - subWordBits, inRow);
  unsigned segmentBits = left - subWordBits - bankBits;

  Vectors writer = wavefrontOf(write, result.writeVector), reader = wavefrontOf(read, result.readVector);
  Vectors both = intersection(joined(vector, writer), joined(vector, reader));

  // Directions modulo the vector: those of both sides, of one side only, of neither.
  Span span(vector);
  Vectors ofBoth = takeIndependent(span, beside.project(both));
  Vectors writerOnly = takeIndependent(span, beside.project(writer));
  Vectors readerOnly = takeIndependent(span, beside.project(reader));
  Vectors neither = takeIndependent(span, beside.project(within));
  assert(ofBoth.size() + writerOnly.size() + readerOnly.size() + neither.size() == left);

  Vectors segments, subWords, banks, unused = ofBoth;
  size_t outside = std::min<size_t>(neither.size(), segmentBits), pairs = segmentBits - outside;
  assert(pairs <= writerOnly.size() && pairs <= readerOnly.size() && "wavefronts have no more lanes than banks");
  segments.assign(neither.begin(), neither.begin() + outside);
  for (size_t i = 0; i < pairs; ++i) {
    segments.push_back(writerOnly[i] ^ readerOnly[i]);
    banks.push_back(writerOnly[i]);
  }
  unused.append(writerOnly.begin() + pairs, writerOnly.end());
  unused.append(readerOnly.begin() + pairs, readerOnly.end());
  unused.append(neither.begin() + outside, neither.end());
  subWords.assign(unused.begin(), unused.begin() + subWordBits);
  banks.append(unused.begin() + subWordBits, unused.end());
  assert(banks.size() == bankBits);

  // Coordinates along the basis; what lies outside of memory has none.
  BitMatrix inverse =
      *BitMatrix(bits, completed(joined(joined(vector, subWords), joined(banks, segments)), bits)).inverse();
  Vectors columns;
  for (uint32_t column : inverse.images())
    columns.push_back(size == 32 ? column : column & ((uint32_t(1) << size) - 1));
  result.address = BitMatrix(size, columns);
  return result;
}

} // namespace nacre
