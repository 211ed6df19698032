// A tile on the host: the evaluator's handle of a Value. A Buffer is a strided window on refcounted storage, so that splats,
// broadcasts, transpositions and slices cost nothing; what is computed is written to fresh, contiguous storage.
//
// An int1 takes a byte that is 0 or 1, a pointer takes 8 bytes. A Buffer is not written to after it has been handed out.
#pragma once

#include "compiler/language/Builder.h"
#include <cstddef>
#include <cstring>

namespace nacre {

// Memory for elements, kept in a small free list of the thread once released: tiles come and go in few sizes.
std::shared_ptr<std::byte> allocateStorage(size_t bytes);

struct Buffer {
  Type type;
  std::byte *data = nullptr;            // the element at index 0, 0, ...
  llvm::SmallVector<int64_t, 4> strides; // in elements, one an axis; 0 repeats, negative runs backwards
  std::shared_ptr<std::byte> storage;   // null: the one element is in `element`
  alignas(8) std::byte element[8] = {};

  Buffer() = default;
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;

  int64_t count() const { return type.elementCount(); }
  Shape shape() const { return type.shape(); }
  int elementSize() const { return type.scalarType().byteSize(); }
  // Every element is the same one (a scalar is such a buffer).
  bool isUniform() const;
  bool isContiguous() const;

  template <typename T> T *as() const { return reinterpret_cast<T *>(data); }
};

using BufferRef = std::shared_ptr<Buffer>;

// The kind that says how a scalar type's element lies in memory: pointers as UInt64.
ScalarKind storedKind(Type type);

BufferRef makeBuffer(Type type);                                 // fresh, contiguous, not initialised
BufferRef makeUniform(Type type, const void *element);            // every element a copy of this one
BufferRef makeView(const Buffer &source, Type type, std::byte *data, llvm::ArrayRef<int64_t> strides);
// The same elements, contiguous in row-major order (a copy only where they are not).
BufferRef contiguous(const BufferRef &source);
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
