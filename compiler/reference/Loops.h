// Walking strided tiles as few long runs, and the elementwise driver built on it.
//
// A function sees contiguous chunks only: `void (*)(const void *const *inputs, void *output, int64_t count)`. The
// driver brings operands that are strided, repeated or of a narrow float type to that form in a small staging area.
#pragma once

#include "compiler/reference/Buffer.h"

namespace nacre {

// The loops over a shape shared by several operands, merged where every operand steps evenly over two axes.
class Loops {
public:
  Loops(Shape shape, llvm::ArrayRef<llvm::ArrayRef<int64_t>> operandStrides);

  int64_t runLength() const { return length; }
  int64_t runStride(int operand) const { return innerStrides[operand]; }
  // Calls body(offsets) for each run in row-major order; offsets in elements, one an operand.
  template <typename Body> void forEachRun(Body body) const {
    llvm::SmallVector<int64_t, 4> offsets(innerStrides.size(), 0);
    llvm::SmallVector<int64_t, 4> index(extents.size(), 0);
    while (true) {
      body(llvm::ArrayRef<int64_t>(offsets));
      int axis = static_cast<int>(extents.size()) - 1;
      for (; axis >= 0; --axis) {
        ++index[axis];
        for (size_t operand = 0; operand < offsets.size(); ++operand)
          offsets[operand] += strides[axis][operand];
        if (index[axis] < extents[axis])
          break;
        for (size_t operand = 0; operand < offsets.size(); ++operand)
          offsets[operand] -= strides[axis][operand] * extents[axis];
        index[axis] = 0;
      }
      if (axis < 0)
        return;
    }
  }

private:
  int64_t length = 1;
  llvm::SmallVector<int64_t, 4> innerStrides;
  llvm::SmallVector<int64_t, 4> extents;                       // outer loops, outermost first
  llvm::SmallVector<llvm::SmallVector<int64_t, 4>, 4> strides; // [axis][operand]
};

// Writes the elements of `source` in row-major order.
void copyElements(const Buffer &source, std::byte *target);

// Writes the elements of `source` over those of `target`, a window of the same shape on a buffer that was not handed
// out yet.
void copyOver(const Buffer &source, const Buffer &target);

// Copies `count` elements of `size` bytes; strides in elements, a source stride of 0 repeats the first.
void copyStrided(const std::byte *source, int64_t sourceStride, std::byte *target, int64_t targetStride, int size,
                 int64_t count);

// Hands out an operand of an elementwise operation chunk by chunk.
class ChunkReader {
public:
  static constexpr int64_t chunk = 512;
  // `asFloat`: a narrow float is handed out as float.
  ChunkReader(const Buffer &buffer, int64_t runStride, bool asFloat);
  bool isDirect() const { return direct; }
  void startRun(int64_t offset);
  // The elements from `at` on within the run; count <= chunk unless isDirect().
  const void *read(int64_t at, int64_t count);

private:
  const std::byte *base, *run = nullptr;
  int64_t stride;
  int size;
  ScalarKind kind;
  bool decode, direct;
  int64_t repeated = 0; // how many copies of a repeated element are staged
  alignas(64) std::byte staging[chunk * 8];
};

// Walks operands of one shape side by side, in row-major order: body(inputs, count), where inputs[k] points at `count`
// contiguous elements of operand k. With `throughFloat`, narrow floats are handed out as float. `limit` bounds `count`.
template <typename Body>
void forEachChunk(llvm::ArrayRef<const Buffer *> operands, bool throughFloat, int64_t limit, Body body) {
  llvm::SmallVector<llvm::ArrayRef<int64_t>, 3> strides;
  for (const Buffer *operand : operands)
    strides.push_back(operand->strides);
  Loops loops(operands.front()->shape(), strides);
  llvm::SmallVector<ChunkReader, 3> readers;
  readers.reserve(operands.size());
  for (auto [i, operand] : llvm::enumerate(operands)) {
    readers.emplace_back(*operand, loops.runStride(static_cast<int>(i)), throughFloat);
    if (!readers.back().isDirect())
      limit = std::min(limit, ChunkReader::chunk);
  }
  llvm::SmallVector<const void *, 3> inputs(operands.size());
  loops.forEachRun([&](llvm::ArrayRef<int64_t> offsets) {
    for (auto [reader, offset] : llvm::zip(readers, offsets))
      reader.startRun(offset);
    for (int64_t at = 0; at < loops.runLength(); at += limit) {
      int64_t count = std::min(limit, loops.runLength() - at);
      for (auto [input, reader] : llvm::zip(inputs, readers))
        input = reader.read(at, count);
      body(llvm::ArrayRef<const void *>(inputs), count);
    }
  });
}

using ChunkFunction = void (*)(const void *const *inputs, void *output, int64_t count);

// result[i] = function(operands[0][i], ...) over operands of one shape. With `throughFloat`, narrow float operands and
// results are computed in float.
BufferRef elementwise(ChunkFunction function, llvm::ArrayRef<const Buffer *> operands, Type result,
                      bool throughFloat = false);

} // namespace nacre
