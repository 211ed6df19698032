// Array forms of the float conversions, one loop a format.
#include "compiler/reference/FloatFormats.h"
#include "compiler/language/meaning/Type.h"
#include "compiler/reference/Vectorized.h"
#include "llvm/Support/ErrorHandling.h"

using namespace nacre;

// Calls `use` with the format of a narrow kind.
template <typename Use> static void withFormat(ScalarKind kind, Use use) {
  switch (kind) {
  case ScalarKind::Float16:
    return use(Float16Format());
  case ScalarKind::BFloat16:
    return use(BFloat16Format());
  case ScalarKind::Float8E4NV:
    return use(Float8E4NVFormat());
  case ScalarKind::Float8E5:
    return use(Float8E5Format());
  case ScalarKind::Float8E4B15:
    return use(Float8E4B15Format());
  case ScalarKind::Float8E4B8:
    return use(Float8E4B8Format());
  case ScalarKind::Float8E5B16:
    return use(Float8E5B16Format());
  default:
    llvm_unreachable("not a narrow float kind");
  }
}

bool nacre::isNarrowFloat(ScalarKind kind) { return kind >= ScalarKind::Float8E4NV && kind <= ScalarKind::BFloat16; }

void nacre::decodeFloats(ScalarKind kind, const void *source, float *target, size_t count) {
  withFormat(kind, [&](auto format) {
    using Format = decltype(format);
    auto *from = static_cast<const typename Format::Bits *>(source);
    vectorized([=]() NACRE_LOOP {
      for (size_t i = 0; i < count; ++i)
        target[i] = decodeFloat<Format>(from[i]);
    });
  });
}

template <typename Wide>
static void encodeArray(ScalarKind kind, const Wide *source, void *target, size_t count, bool towardZero) {
  withFormat(kind, [&](auto format) {
    using Format = decltype(format);
    auto *to = static_cast<typename Format::Bits *>(target);
    if (towardZero)
      vectorized([=]() NACRE_LOOP {
        for (size_t i = 0; i < count; ++i)
          to[i] = encodeFloat<Format, true>(source[i]);
      });
    else
      vectorized([=]() NACRE_LOOP {
        for (size_t i = 0; i < count; ++i)
          to[i] = encodeFloat<Format, false>(source[i]);
      });
  });
}

void nacre::encodeFloats(ScalarKind kind, const float *source, void *target, size_t count, bool towardZero) {
  encodeArray(kind, source, target, count, towardZero);
}

void nacre::encodeFloats(ScalarKind kind, const double *source, void *target, size_t count, bool towardZero) {
  encodeArray(kind, source, target, count, towardZero);
}
