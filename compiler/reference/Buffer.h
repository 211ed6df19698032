// A tile on the host: the evaluator's handle of a Value. A Buffer is a strided window on refcounted storage, so that
// splats, broadcasts, transpositions and slices cost nothing; what is computed is written to fresh, contiguous storage.
//
// An int1 takes a byte that is 0 or 1, a pointer takes 8 bytes. A Buffer is not written to after it has been handed
// out.
#pragma once

#include "compiler/language/meaning/Builder.h"
#include <atomic>
#include <cstddef>
#include <cstring>

namespace nacre {

// Blocks of memory by size, kept in a small free list of the thread once released: tiles come and go in few sizes.
void *takeBlock(size_t bytes);
void giveBlock(void *block, size_t bytes); // with the size it was taken with

// Refcounted memory for elements, 64-byte aligned.
class Storage {
public:
  Storage() = default;
  explicit Storage(size_t bytes);
  Storage(const Storage &other) : header(other.header) { retain(); }
  Storage(Storage &&other) noexcept : header(other.header) { other.header = nullptr; }
  Storage &operator=(Storage other) noexcept {
    std::swap(header, other.header);
    return *this;
  }
  ~Storage() { release(); }
  explicit operator bool() const { return header != nullptr; }
  bool operator==(const Storage &other) const = default;
  std::byte *get() const { return reinterpret_cast<std::byte *>(header) + 64; }

private:
  struct Header {
    std::atomic<int64_t> owners;
    size_t bytes; // of the whole block
  };
  void retain() {
    if (header)
      header->owners.fetch_add(1, std::memory_order_relaxed);
  }
  void release();
  Header *header = nullptr;
};

struct Buffer {
  explicit Buffer(Type type);
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;

  Type type;
  std::byte *data = nullptr;             // the element at index 0, 0, ...
  llvm::SmallVector<int64_t, 4> strides; // in elements, one an axis; 0 repeats, negative runs backwards
  Storage storage;                       // null: the one element is in `element`
  uint32_t array = 0;                    // of pointers made from one of a launch's arrays: its number (MemoryMap.h)
  alignas(8) std::byte element[8] = {};

  int64_t count() const { return total; }
  Shape shape() const { return extents; }
  int elementSize() const { return size; }
  // Every element is the same one (a scalar is such a buffer).
  bool isUniform() const;
  bool isContiguous() const;

  template <typename T> T *as() const { return reinterpret_cast<T *>(data); }

private:
  // Facts of the type, asked for often.
  Shape extents;
  int64_t total;
  int size;
};

using BufferRef = std::shared_ptr<Buffer>;

// Type::withShape and Type::withScalar through a small cache of the thread: the same few types are asked for all the
// time.
Type withShape(Type type, Shape shape);
Type withScalar(Type type, Type scalar);

// The kind that says how a scalar type's element lies in memory: pointers as UInt64.
ScalarKind storedKind(Type type);

BufferRef makeBuffer(Type type);                       // fresh, contiguous, not initialized
BufferRef makeUniform(Type type, const void *element); // every element a copy of this one
BufferRef makeView(const Buffer &source, Type type, std::byte *data, llvm::ArrayRef<int64_t> strides);
// The same elements, contiguous in row-major order (a copy only where they are not).
BufferRef contiguous(const BufferRef &source);
// Every element a copy of one of `source`, and a pointer into the same array.
BufferRef makeUniform(Type type, const Buffer &source, const std::byte *element);
// Elements [begin, begin + extent) along an axis; a view.
BufferRef slice(const Buffer &source, int axis, int64_t begin, int64_t extent, int64_t step = 1);

inline Buffer &bufferOf(const Value &value) { return *static_cast<Buffer *>(value.get()); }
inline BufferRef bufferRef(const Value &value) { return std::static_pointer_cast<Buffer>(value.shared()); }
inline Value valueOf(BufferRef buffer) {
  Type type = buffer->type;
  return Value(type, std::move(buffer));
}

// A scalar's element, read as T (which must have its size).
template <typename T> T scalarOf(const Value &value) {
  T result;
  std::memcpy(&result, bufferOf(value).data, sizeof(T));
  return result;
}

} // namespace nacre
