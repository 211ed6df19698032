// Shorthand for the evaluator's tests: tiles from lists of numbers, and lists from tiles.
#pragma once

#include "compiler/reference/Buffer.h"
#include "compiler/reference/EagerBuilder.h"
#include "compiler/reference/FloatFormats.h"
#include <gtest/gtest.h>
#include <vector>

namespace nacre {

// `T` is the C++ type of the elements in memory.
template <typename T> Value tile(Type element, std::vector<int64_t> shape, const std::vector<T> &numbers) {
  BufferRef buffer = makeBuffer(Type::block(element, shape));
  EXPECT_EQ(static_cast<size_t>(buffer->count()), numbers.size());
  EXPECT_EQ(buffer->elementSize(), static_cast<int>(sizeof(T)));
  std::memcpy(buffer->data, numbers.data(), numbers.size() * sizeof(T));
  return valueOf(buffer);
}

template <typename T> std::vector<T> numbers(const Value &value) {
  EXPECT_EQ(bufferOf(value).elementSize(), static_cast<int>(sizeof(T)));
  BufferRef buffer = contiguous(bufferRef(value));
  return std::vector<T>(buffer->as<T>(), buffer->as<T>() + buffer->count());
}

inline Value floats(std::vector<float> list) {
  return tile<float>(float32(), {static_cast<int64_t>(list.size())}, list);
}
inline Value ints(std::vector<int32_t> list) {
  return tile<int32_t>(int32(), {static_cast<int64_t>(list.size())}, list);
}
inline Value masks(std::vector<uint8_t> list) {
  return tile<uint8_t>(int1(), {static_cast<int64_t>(list.size())}, list);
}

// A tile of a narrow float type, and its numbers.
inline Value narrow(ScalarKind kind, const std::vector<float> &list) {
  BufferRef buffer = makeBuffer(Type::block(Type::scalar(kind), {static_cast<int64_t>(list.size())}));
  encodeFloats(kind, list.data(), buffer->data, list.size());
  return valueOf(buffer);
}
inline std::vector<float> wide(const Value &value) {
  BufferRef buffer = contiguous(bufferRef(value));
  std::vector<float> result(buffer->count());
  decodeFloats(storedKind(value.type()), buffer->data, result.data(), result.size());
  return result;
}

// A tile of the addresses of an array's elements.
template <typename T> Value pointersTo(EagerBuilder &builder, Type element, T *array, int64_t count) {
  Value base = builder.scalarFromBits(Type::pointer(element), reinterpret_cast<uint64_t>(array));
  return builder.addPointer(builder.splat(base, {count}), builder.arange(0, count));
}

} // namespace nacre
