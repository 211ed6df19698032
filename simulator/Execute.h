// Loops over the lanes of a warp, for handlers.
//
// A function object is applied to rows of typed elements. With all lanes active the loop has no conditions, so the host
// compiler makes vector code of it; otherwise every lane is computed and the active ones are kept.
#pragma once

#include "simulator/Decoder.h"
#include "simulator/Formats.h"
#include "simulator/Machine.h"
#include <type_traits>

namespace nacre::simulator {

template <typename T> using Element = std::conditional_t<(sizeof(T) <= 4), uint32_t, uint64_t>;

template <typename T> inline T fromElement(Element<T> bits) {
  if constexpr (sizeof(T) == sizeof(Element<T>))
    return std::bit_cast<T>(bits);
  else if constexpr (sizeof(T) == 2)
    return std::bit_cast<T>(static_cast<uint16_t>(bits));
  else
    return std::bit_cast<T>(static_cast<uint8_t>(bits));
}
template <typename T> inline Element<T> toElement(T value) {
  if constexpr (sizeof(T) == sizeof(Element<T>))
    return std::bit_cast<Element<T>>(value);
  else if constexpr (sizeof(T) == 2)
    return std::bit_cast<uint16_t>(value);
  else
    return std::bit_cast<uint8_t>(value);
}

struct Half {
  uint16_t bits;
};
struct Bfloat {
  uint16_t bits;
};
// Two of 16 bits in one register.
struct Half2 {
  Half low, high;
};
struct Bfloat2 {
  Bfloat low, high;
};

template <typename E, typename F> inline void keepActive(uint32_t mask, E *destination, F &&value) {
  if (mask == allLanes) {
    for (unsigned i = 0; i < laneCount; ++i)
      destination[i] = value(i);
  } else {
    E all[laneCount];
    for (unsigned i = 0; i < laneCount; ++i)
      all[i] = value(i);
    for (unsigned i = 0; i < laneCount; ++i)
      destination[i] = (mask >> i & 1) ? all[i] : destination[i];
  }
}

template <typename D, typename A, typename F> Status unaryHandler(Warp &warp, const Op &op, uint32_t mask) {
  const Element<A> *a = warp.at<Element<A>>(op.a);
  keepActive(mask, warp.at<Element<D>>(op.d), [&](unsigned i) { return toElement<D>(F()(fromElement<A>(a[i]))); });
  return Status::Next;
}
template <typename D, typename A, typename B, typename F>
Status binaryHandler(Warp &warp, const Op &op, uint32_t mask) {
  const Element<A> *a = warp.at<Element<A>>(op.a);
  const Element<B> *b = warp.at<Element<B>>(op.b);
  keepActive(mask, warp.at<Element<D>>(op.d),
             [&](unsigned i) { return toElement<D>(F()(fromElement<A>(a[i]), fromElement<B>(b[i]))); });
  return Status::Next;
}
template <typename D, typename A, typename B, typename C, typename F>
Status ternaryHandler(Warp &warp, const Op &op, uint32_t mask) {
  const Element<A> *a = warp.at<Element<A>>(op.a);
  const Element<B> *b = warp.at<Element<B>>(op.b);
  const Element<C> *c = warp.at<Element<C>>(op.c);
  keepActive(mask, warp.at<Element<D>>(op.d), [&](unsigned i) {
    return toElement<D>(F()(fromElement<A>(a[i]), fromElement<B>(b[i]), fromElement<C>(c[i])));
  });
  return Status::Next;
}

// Calls f with a value of the C++ type that stands for the PTX type; refuses others.
template <typename F> Handler forInteger(Decoder &decoder, ScalarType type, F &&f) {
  switch (type) {
  case ScalarType::U16:
    return f(uint16_t());
  case ScalarType::S16:
    return f(int16_t());
  case ScalarType::U32:
    return f(uint32_t());
  case ScalarType::S32:
    return f(int32_t());
  case ScalarType::U64:
    return f(uint64_t());
  case ScalarType::S64:
    return f(int64_t());
  default:
    decoder.refuse(std::string("its type cannot be .") + nameOf(type));
  }
}
template <typename F> Handler forBits(Decoder &decoder, ScalarType type, F &&f) {
  switch (bitsOf(type)) {
  case 16:
    return f(uint16_t());
  case 32:
    return f(uint32_t());
  case 64:
    return f(uint64_t());
  default:
    decoder.refuse(std::string("its type cannot be .") + nameOf(type));
  }
}

} // namespace nacre::simulator
