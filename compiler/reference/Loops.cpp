// Merged loops, strided copies, staging.
#include "compiler/reference/Loops.h"
#include "compiler/reference/FloatFormats.h"
#include "compiler/reference/Vectorized.h"
#include "llvm/Support/ErrorHandling.h"

using namespace nacre;

Loops::Loops(Shape shape, llvm::ArrayRef<llvm::ArrayRef<int64_t>> operandStrides) {
  size_t operands = operandStrides.size();
  innerStrides.assign(operands, 1);
  bool first = true;
  // From the innermost axis outwards: `extents` and `strides` are filled in reverse and turned around at the end.
  for (int axis = static_cast<int>(shape.size()) - 1; axis >= 0; --axis) {
    if (shape[axis] == 1)
      continue;
    if (first) {
      length = shape[axis];
      for (size_t operand = 0; operand < operands; ++operand)
        innerStrides[operand] = operandStrides[operand][axis];
      first = false;
      continue;
    }
    int64_t &lastExtent = extents.empty() ? length : extents.back();
    llvm::SmallVector<int64_t, 4> &lastStrides = extents.empty() ? innerStrides : strides.back();
    bool merges = true;
    for (size_t operand = 0; operand < operands; ++operand)
      merges &= operandStrides[operand][axis] == lastStrides[operand] * lastExtent;
    if (merges) {
      lastExtent *= shape[axis];
      continue;
    }
    extents.push_back(shape[axis]);
    strides.emplace_back();
    for (size_t operand = 0; operand < operands; ++operand)
      strides.back().push_back(operandStrides[operand][axis]);
  }
  std::reverse(extents.begin(), extents.end());
  std::reverse(strides.begin(), strides.end());
}

template <typename T>
static void copyAs(const std::byte *source, int64_t sourceStride, std::byte *target, int64_t targetStride,
                   int64_t count) {
  auto *from = reinterpret_cast<const T *>(source);
  auto *to = reinterpret_cast<T *>(target);
  if (targetStride == 1 && sourceStride == 0)
    std::fill_n(to, count, *from);
  else if (targetStride == 1 && sourceStride == 1)
    std::memcpy(to, from, count * sizeof(T));
  else
    for (int64_t i = 0; i < count; ++i)
      to[i * targetStride] = from[i * sourceStride];
}

void nacre::copyStrided(const std::byte *source, int64_t sourceStride, std::byte *target, int64_t targetStride,
                        int size, int64_t count) {
  switch (size) {
  case 1:
    return copyAs<uint8_t>(source, sourceStride, target, targetStride, count);
  case 2:
    return copyAs<uint16_t>(source, sourceStride, target, targetStride, count);
  case 4:
    return copyAs<uint32_t>(source, sourceStride, target, targetStride, count);
  case 8:
    return copyAs<uint64_t>(source, sourceStride, target, targetStride, count);
  default:
    llvm_unreachable("element sizes are 1, 2, 4 and 8");
  }
}

void nacre::copyOver(const Buffer &source, const Buffer &target) {
  int size = source.elementSize();
  llvm::ArrayRef<int64_t> strides[] = {source.strides, target.strides};
  Loops loops(source.shape(), strides);
  loops.forEachRun([&](llvm::ArrayRef<int64_t> offsets) {
    copyStrided(source.data + offsets[0] * size, loops.runStride(0), target.data + offsets[1] * size,
                loops.runStride(1), size, loops.runLength());
  });
}

void nacre::copyElements(const Buffer &source, std::byte *target) {
  int size = source.elementSize();
  llvm::ArrayRef<int64_t> strides = source.strides;
  Loops loops(source.shape(), strides);
  loops.forEachRun([&](llvm::ArrayRef<int64_t> offsets) {
    copyStrided(source.data + offsets[0] * size, loops.runStride(0), target, 1, size, loops.runLength());
    target += loops.runLength() * size;
  });
}

ChunkReader::ChunkReader(const Buffer &buffer, int64_t runStride, bool asFloat)
    : base(buffer.data), stride(runStride), size(buffer.elementSize()), kind(storedKind(buffer.type)),
      decode(asFloat && isNarrowFloat(kind)), direct(!decode && stride == 1) {}

void ChunkReader::startRun(int64_t offset) {
  const std::byte *start = base + offset * size;
  if (start != run)
    repeated = 0;
  run = start;
}

const void *ChunkReader::read(int64_t at, int64_t count) {
  if (direct)
    return run + at * size;
  if (stride == 0 && repeated >= count)
    return staging;
  repeated = count;
  if (!decode) {
    copyStrided(run + at * stride * size, stride, staging, 1, size, count);
    return staging;
  }
  auto *floats = reinterpret_cast<float *>(staging);
  if (stride == 1) {
    decodeFloats(kind, run + at * size, floats, count);
  } else if (stride == 0) {
    decodeFloats(kind, run, floats, 1);
    std::fill_n(floats + 1, count - 1, floats[0]);
  } else {
    std::byte *narrow = staging + chunk * 4;
    copyStrided(run + at * stride * size, stride, narrow, 1, size, count);
    decodeFloats(kind, narrow, floats, count);
  }
  return staging;
}

// One element stands for all.
static BufferRef uniformResult(ChunkFunction function, llvm::ArrayRef<const Buffer *> operands, Type type,
                               bool throughFloat) {
  llvm::SmallVector<ChunkReader, 3> readers;
  llvm::SmallVector<const void *, 3> inputs;
  readers.reserve(operands.size());
  for (const Buffer *operand : operands) {
    readers.emplace_back(*operand, 1, throughFloat);
    readers.back().startRun(0);
    inputs.push_back(readers.back().read(0, 1));
  }
  bool encode = throughFloat && isNarrowFloat(storedKind(type));
  alignas(8) std::byte wide[8] = {}, element[8] = {};
  function(inputs.data(), wide, 1);
  if (encode)
    encodeFloats(storedKind(type), reinterpret_cast<float *>(wide), element, 1);
  return makeUniform(type, encode ? element : wide);
}

BufferRef nacre::elementwise(ChunkFunction function, llvm::ArrayRef<const Buffer *> operands, Type type,
                             bool throughFloat) {
  if (llvm::all_of(operands, [](const Buffer *operand) { return operand->isUniform(); }))
    return uniformResult(function, operands, type, throughFloat);

  ScalarKind resultKind = storedKind(type);
  bool encode = throughFloat && isNarrowFloat(resultKind);
  BufferRef result = makeBuffer(type);
  int size = result->elementSize();
  std::byte *target = result->data;
  alignas(64) float wide[ChunkReader::chunk];
  forEachChunk(operands, throughFloat, encode ? ChunkReader::chunk : std::numeric_limits<int64_t>::max() / 2,
               [&](llvm::ArrayRef<const void *> inputs, int64_t count) {
                 function(inputs.data(), encode ? static_cast<void *>(wide) : target, count);
                 if (encode)
                   encodeFloats(resultKind, wide, target, count);
                 target += count * size;
               });
  return result;
}
