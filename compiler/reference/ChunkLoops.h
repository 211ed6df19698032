// The loops behind the kernels: one function of elements, applied to contiguous arrays.
#pragma once

#include "compiler/reference/ChunkFunctions.h"
#include "compiler/reference/Vectorized.h"

namespace nacre::detail {

template <typename In, typename Out, typename Function>
void unaryLoop(const void *const *inputs, void *output, int64_t count) {
  auto *a = static_cast<const In *>(inputs[0]);
  auto *out = static_cast<Out *>(output);
  vectorized([=]() NACRE_LOOP {
    for (int64_t i = 0; i < count; ++i)
      out[i] = Function::apply(a[i]);
  });
}

template <typename In, typename Out, typename Function>
void binaryLoop(const void *const *inputs, void *output, int64_t count) {
  auto *a = static_cast<const In *>(inputs[0]);
  auto *b = static_cast<const In *>(inputs[1]);
  auto *out = static_cast<Out *>(output);
  vectorized([=]() NACRE_LOOP {
    for (int64_t i = 0; i < count; ++i)
      out[i] = Function::apply(a[i], b[i]);
  });
}

// For functions that are calls: nothing to gain from compiling the loop twice.
template <typename In, typename Out, typename Function>
void scalarLoop(const void *const *inputs, void *output, int64_t count) {
  auto *a = static_cast<const In *>(inputs[0]);
  auto *out = static_cast<Out *>(output);
  for (int64_t i = 0; i < count; ++i)
    out[i] = Function::apply(a[i]);
}
template <typename In, typename Out, typename Function>
void scalarBinaryLoop(const void *const *inputs, void *output, int64_t count) {
  auto *a = static_cast<const In *>(inputs[0]);
  auto *b = static_cast<const In *>(inputs[1]);
  auto *out = static_cast<Out *>(output);
  for (int64_t i = 0; i < count; ++i)
    out[i] = Function::apply(a[i], b[i]);
}

} // namespace nacre::detail
