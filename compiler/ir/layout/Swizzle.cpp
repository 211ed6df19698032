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

} // namespace

Swizzle chooseSwizzle(unsigned bits, llvm::ArrayRef<uint32_t> within, const AccessPattern &write,
                      const AccessPattern &read, unsigned elementBits, const SharedMemoryModel &model) {
  unsigned size = Span(within).dimension();
  Vectors threads;
  for (const AccessPattern *side : {&write, &read}) {
    llvm::append_range(threads, side->lanes);
    llvm::append_range(threads, side->warps);
  }
  // The vector: registers of both sides, independent of where threads are.
  Swizzle result;
  Span occupied(threads);
  result.vector = takeIndependent(occupied, intersection(intersection(write.registers, read.registers), within));
  unsigned widest = model.accessBits > elementBits ? model.accessBits - elementBits : 0;
  if (result.vector.size() > widest)
    result.vector.truncate(widest);
  const Vectors &vector = result.vector;
  // Everything else is chosen from a complement of the vector that holds all threads' directions.
  BitMatrix coordinates = *BitMatrix(bits, completed(joined(vector, Span(threads).basis()), bits)).inverse();
  auto project = [&](llvm::ArrayRef<uint32_t> directions) {
    Vectors projected;
    for (uint32_t direction : directions) {
      uint32_t along = coordinates.apply(direction);
      for (unsigned i = 0; i < vector.size(); ++i)
        if (along >> i & 1)
          direction ^= vector[i];
      projected.push_back(direction);
    }
    return projected;
  };

  // How many bits each part has.
  unsigned accessBits = static_cast<unsigned>(vector.size()) + elementBits; // bytes of an access
  unsigned wordsBits = accessBits > model.wordBits ? accessBits - model.wordBits : 0;
  unsigned wavefrontBits = model.bankBits > wordsBits ? model.bankBits - wordsBits : 0;
  unsigned left = size - static_cast<unsigned>(vector.size());
  unsigned subWordBits = std::min(left, accessBits < model.wordBits ? model.wordBits - accessBits : 0);
  unsigned bankBits = std::min(left - subWordBits, wavefrontBits);
  unsigned segmentBits = left - subWordBits - bankBits;

  auto wavefront = [&](const AccessPattern &side) {
    return llvm::ArrayRef<uint32_t>(side.lanes).take_front(std::min<size_t>(wavefrontBits, side.lanes.size()));
  };
  Vectors writer(wavefront(write)), reader(wavefront(read));
  Vectors both = project(intersection(joined(vector, writer), joined(vector, reader)));

  // Directions modulo the vector: those of both sides, of one side only, of neither.
  Span span(vector);
  Vectors common = takeIndependent(span, both);
  Vectors writerOnly = takeIndependent(span, writer);
  Vectors readerOnly = takeIndependent(span, reader);
  Vectors neither = takeIndependent(span, project(within));
  assert(common.size() + writerOnly.size() + readerOnly.size() + neither.size() == left);

  Vectors segments, subWords, banks, unused = common;
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
