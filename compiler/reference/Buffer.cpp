// Storage, its free list, and views.
#include "compiler/reference/Buffer.h"
#include "compiler/reference/Loops.h"
#include <array>
#include <bit>
#include <new>
#include <vector>

using namespace nacre;

namespace {
// Blocks by power-of-two size, from 64 bytes to 1 MiB; larger ones go straight to the allocator.
class FreeList {
public:
  static constexpr int smallest = 6, largest = 20;
  static constexpr size_t keptBytesPerSize = 4 << 20;

  ~FreeList() {
    for (auto &blocks : bySize)
      for (void *block : blocks)
        ::operator delete(block, std::align_val_t(64));
    alive = false;
  }
  void *take(int size) {
    auto &blocks = bySize[size - smallest];
    if (blocks.empty())
      return ::operator new(size_t(1) << size, std::align_val_t(64));
    void *block = blocks.back();
    blocks.pop_back();
    return block;
  }
  void give(void *block, int size) {
    auto &blocks = bySize[size - smallest];
    if ((blocks.size() + 1) << size > keptBytesPerSize)
      ::operator delete(block, std::align_val_t(64));
    else
      blocks.push_back(block);
  }
  // A buffer may outlive its thread's list (a Python object freed at exit).
  static thread_local bool alive;

private:
  std::array<std::vector<void *>, largest - smallest + 1> bySize;
};
thread_local bool FreeList::alive = true;
thread_local FreeList freeList;

int sizeClass(size_t bytes) { return std::max<int>(FreeList::smallest, std::bit_width(bytes - 1)); }

// For std::allocate_shared.
template <typename T> struct BlockAllocator {
  using value_type = T;
  BlockAllocator() = default;
  template <typename U> BlockAllocator(const BlockAllocator<U> &) {}
  T *allocate(size_t count) { return static_cast<T *>(takeBlock(count * sizeof(T))); }
  void deallocate(T *block, size_t count) { giveBlock(block, count * sizeof(T)); }
  template <typename U> bool operator==(const BlockAllocator<U> &) const { return true; }
};
} // namespace

void *nacre::takeBlock(size_t bytes) {
  int size = sizeClass(bytes);
  if (size > FreeList::largest)
    return ::operator new(bytes, std::align_val_t(64));
  return FreeList::alive ? freeList.take(size) : ::operator new(size_t(1) << size, std::align_val_t(64));
}

void nacre::giveBlock(void *block, size_t bytes) {
  int size = sizeClass(bytes);
  if (size > FreeList::largest || !FreeList::alive)
    ::operator delete(block, std::align_val_t(64));
  else
    freeList.give(block, size);
}

Storage::Storage(size_t bytes) : header(static_cast<Header *>(takeBlock(bytes + 64))) {
  new (header) Header{1, bytes + 64};
}

void Storage::release() {
  if (header && header->owners.fetch_sub(1, std::memory_order_acq_rel) == 1)
    giveBlock(header, header->bytes);
}

// Block types by element and shape, in a table of the thread where a newer one takes the place of an older.
static Type blockType(Type element, Shape shape) {
  constexpr size_t places = 256;
  static thread_local std::array<Type, places> known;
  size_t hash = reinterpret_cast<uintptr_t>(element.opaque()) >> 4;
  for (int64_t extent : shape)
    hash = hash * 0x9E3779B97F4A7C15u + static_cast<size_t>(extent);
  Type &place = known[(hash ^ (hash >> 32)) % places];
  if (!place || place.element() != element || place.shape() != shape)
    place = Type::block(element, shape);
  return place;
}

Type nacre::withShape(Type type, Shape shape) {
  Type element = type.scalarType();
  return shape.empty() ? element : blockType(element, shape);
}

Type nacre::withScalar(Type type, Type scalar) { return type.isBlock() ? blockType(scalar, type.shape()) : scalar; }

Buffer::Buffer(Type type) : type(type), extents(type.shape()), size(type.scalarType().byteSize()) {
  total = 1;
  for (int64_t extent : extents)
    total *= extent;
}

bool Buffer::isUniform() const {
  for (auto [stride, extent] : llvm::zip(strides, shape()))
    if (stride != 0 && extent != 1)
      return false;
  return true;
}

bool Buffer::isContiguous() const {
  int64_t expected = 1;
  Shape extents = shape();
  for (int64_t axis = static_cast<int64_t>(extents.size()) - 1; axis >= 0; --axis) {
    if (extents[axis] != 1 && strides[axis] != expected)
      return false;
    expected *= extents[axis];
  }
  return true;
}

ScalarKind nacre::storedKind(Type type) {
  Type scalar = type.scalarType();
  return scalar.isScalar() ? scalar.scalarKind() : ScalarKind::UInt64;
}

static void setRowMajor(Buffer &buffer) {
  Shape extents = buffer.shape();
  buffer.strides.resize(extents.size());
  int64_t stride = 1;
  for (int64_t axis = static_cast<int64_t>(extents.size()) - 1; axis >= 0; --axis) {
    buffer.strides[axis] = stride;
    stride *= extents[axis];
  }
}

BufferRef nacre::makeBuffer(Type type) {
  auto buffer = std::allocate_shared<Buffer>(BlockAllocator<Buffer>(), type);
  if (type.isBlock()) {
    setRowMajor(*buffer);
    buffer->storage = Storage(static_cast<size_t>(buffer->count()) * buffer->elementSize());
    buffer->data = buffer->storage.get();
  } else {
    buffer->data = buffer->element;
  }
  return buffer;
}

BufferRef nacre::makeUniform(Type type, const void *element) {
  auto buffer = std::allocate_shared<Buffer>(BlockAllocator<Buffer>(), type);
  buffer->strides.assign(type.shape().size(), 0);
  std::memcpy(buffer->element, element, buffer->elementSize());
  buffer->data = buffer->element;
  return buffer;
}

BufferRef nacre::makeUniform(Type type, const Buffer &source, const std::byte *element) {
  BufferRef buffer = makeUniform(type, element);
  buffer->array = source.array;
  return buffer;
}

BufferRef nacre::makeView(const Buffer &source, Type type, std::byte *data, llvm::ArrayRef<int64_t> strides) {
  if (!source.storage)
    return makeUniform(type, source, data);
  auto buffer = std::allocate_shared<Buffer>(BlockAllocator<Buffer>(), type);
  buffer->data = data;
  buffer->strides.assign(strides.begin(), strides.end());
  buffer->storage = source.storage;
  buffer->array = source.array;
  return buffer;
}

BufferRef nacre::contiguous(const BufferRef &source) {
  if (source->isContiguous())
    return source;
  BufferRef result = makeBuffer(source->type);
  copyElements(*source, result->data);
  result->array = source->array;
  return result;
}

BufferRef nacre::slice(const Buffer &source, int axis, int64_t begin, int64_t extent, int64_t step) {
  llvm::SmallVector<int64_t> shape(source.shape());
  shape[axis] = extent;
  llvm::SmallVector<int64_t, 4> strides(source.strides);
  std::byte *data = source.data + begin * strides[axis] * source.elementSize();
  strides[axis] *= step;
  return makeView(source, withShape(source.type, shape), data, strides);
}
