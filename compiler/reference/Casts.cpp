// Conversions. Float to integer truncates; out of range (undefined in the language) it gives what x86 gives: the most
// negative number of the 32- or 64-bit conversion, cut to the width. Integers become narrow floats through float.
#include "compiler/reference/ChunkLoops.h"
#include "compiler/reference/EagerBuilder.h"
#include "compiler/reference/FloatFormats.h"
#include "llvm/Support/ErrorHandling.h"
#include <cmath>
#include <limits>

using namespace nacre;
using namespace nacre::detail;

namespace {
template <typename To, typename From> [[gnu::always_inline]] inline To truncated(From value) {
  constexpr From limit = static_cast<From>(std::numeric_limits<To>::max() / 2 + 1) * 2; // 2^(width - 1)
  return value >= -limit && value < limit ? static_cast<To>(value) : std::numeric_limits<To>::min();
}

template <typename From, typename To> struct FloatToInteger {
  [[gnu::always_inline]] static To apply(From value) {
    if constexpr (std::is_signed_v<To>) {
      if constexpr (sizeof(To) <= 4)
        return static_cast<To>(truncated<int32_t>(value));
      else
        return truncated<int64_t>(value);
    } else if constexpr (sizeof(To) <= 2) {
      return static_cast<To>(truncated<int32_t>(value));
    } else if constexpr (sizeof(To) == 4) {
      return static_cast<To>(truncated<int64_t>(value));
    } else {
      constexpr From half = 9223372036854775808.0; // 2^63
      return value >= half ? static_cast<To>(truncated<int64_t>(value - half)) ^ (To(1) << 63)
                           : static_cast<To>(truncated<int64_t>(value));
    }
  }
};
template <typename From, typename To> struct Convert {
  [[gnu::always_inline]] static To apply(From value) { return static_cast<To>(value); }
};
template <typename To> struct BitExtend { // int1 sign-extended
  [[gnu::always_inline]] static To apply(uint8_t value) { return static_cast<To>(-static_cast<int>(value)); }
};
template <typename From> struct LowestBit {
  [[gnu::always_inline]] static uint8_t apply(From value) { return value & 1; }
};
template <typename From> struct FloatToBit {
  [[gnu::always_inline]] static uint8_t apply(From value) {
    return static_cast<uint8_t>(truncated<int32_t>(value)) & 1;
  }
};

// Calls `use` with a value of the C++ type that holds the kind, integers with the given sign.
template <typename Use> ChunkFunction withInteger(ScalarKind kind, bool isSigned, Use use) {
  switch (kind) {
  case ScalarKind::Int1:
    return use(uint8_t());
  case ScalarKind::Int8:
  case ScalarKind::UInt8:
    return isSigned ? use(int8_t()) : use(uint8_t());
  case ScalarKind::Int16:
  case ScalarKind::UInt16:
    return isSigned ? use(int16_t()) : use(uint16_t());
  case ScalarKind::Int32:
  case ScalarKind::UInt32:
    return isSigned ? use(int32_t()) : use(uint32_t());
  case ScalarKind::Int64:
  case ScalarKind::UInt64:
    return isSigned ? use(int64_t()) : use(uint64_t());
  default:
    return nullptr;
  }
}

template <typename Use> ChunkFunction withFloat(ScalarKind kind, Use use) {
  return kind == ScalarKind::Float64 ? use(double()) : use(float());
}

ChunkFunction integerToInteger(ScalarKind from, ScalarKind to, bool isSigned) {
  if (to == ScalarKind::Int1)
    return withInteger(from, false, [](auto source) -> ChunkFunction {
      return unaryLoop<decltype(source), uint8_t, LowestBit<decltype(source)>>;
    });
  if (from == ScalarKind::Int1 && isSigned)
    return withInteger(to, false, [](auto target) -> ChunkFunction {
      return unaryLoop<uint8_t, decltype(target), BitExtend<decltype(target)>>;
    });
  return withInteger(from, isSigned, [&](auto source) {
    return withInteger(to, false, [](auto target) -> ChunkFunction {
      return unaryLoop<decltype(source), decltype(target), Convert<decltype(source), decltype(target)>>;
    });
  });
}
} // namespace

ChunkFunction nacre::convertFunction(CastOp op, ScalarKind from, ScalarKind to) {
  switch (op) {
  case CastOp::Truncate:
  case CastOp::ExtendUnsigned:
    return integerToInteger(from, to, false);
  case CastOp::ExtendSigned:
    return integerToInteger(from, to, true);
  case CastOp::SignedToFloat:
  case CastOp::UnsignedToFloat: {
    bool isSigned = op == CastOp::SignedToFloat;
    if (from == ScalarKind::Int1 && isSigned)
      return withFloat(to, [](auto target) -> ChunkFunction {
        return unaryLoop<uint8_t, decltype(target), BitExtend<decltype(target)>>;
      });
    return withFloat(to, [&](auto target) {
      return withInteger(from, isSigned, [](auto source) -> ChunkFunction {
        return unaryLoop<decltype(source), decltype(target), Convert<decltype(source), decltype(target)>>;
      });
    });
  }
  case CastOp::FloatToSigned:
  case CastOp::FloatToUnsigned:
    return withFloat(from, [&](auto source) {
      if (to == ScalarKind::Int1)
        return ChunkFunction(unaryLoop<decltype(source), uint8_t, FloatToBit<decltype(source)>>);
      return withInteger(to, op == CastOp::FloatToSigned, [](auto target) -> ChunkFunction {
        return unaryLoop<decltype(source), decltype(target), FloatToInteger<decltype(source), decltype(target)>>;
      });
    });
  case CastOp::FloatExtend:
  case CastOp::FloatTruncate:
    return withFloat(from, [&](auto source) {
      return withFloat(to, [](auto target) -> ChunkFunction {
        return unaryLoop<decltype(source), decltype(target), Convert<decltype(source), decltype(target)>>;
      });
    });
  case CastOp::Bitcast:
  case CastOp::PointerToInt:
  case CastOp::IntToPointer:
    return nullptr; // views
  }
  llvm_unreachable("all casts are named");
}

// double -> float or narrow, float -> narrow, as the rounding says. Wide to float toward zero: round, then step back.
static BufferRef narrowFloat(const BufferRef &source, Type type, bool towardZero) {
  BufferRef from = contiguous(source);
  BufferRef result = makeBuffer(type);
  ScalarKind fromKind = storedKind(from->type), toKind = storedKind(type);
  int64_t count = from->count();
  if (toKind == ScalarKind::Float32) {
    auto *in = from->as<double>();
    auto *out = result->as<float>();
    for (int64_t i = 0; i < count; ++i) {
      float rounded = static_cast<float>(in[i]);
      if (towardZero && std::abs(static_cast<double>(rounded)) > std::abs(in[i]))
        rounded = std::nextafter(rounded, 0.0f);
      out[i] = rounded;
    }
  } else if (fromKind == ScalarKind::Float64) {
    encodeFloats(toKind, from->as<double>(), result->data, count, towardZero);
  } else if (fromKind == ScalarKind::Float32) {
    encodeFloats(toKind, from->as<float>(), result->data, count, towardZero);
  } else {
    for (int64_t at = 0; at < count; at += ChunkReader::chunk) {
      float wide[ChunkReader::chunk];
      int64_t length = std::min(ChunkReader::chunk, count - at);
      decodeFloats(fromKind, from->data + at * from->elementSize(), wide, length);
      encodeFloats(toKind, wide, result->data + at * result->elementSize(), length, towardZero);
    }
  }
  return result;
}

Value EagerBuilder::cast(CastOp op, Value value, Type type, Rounding rounding) {
  BufferRef source = bufferRef(value);
  if (op == CastOp::IntToPointer)
    program.leadsAnywhere = true;
  if (op == CastOp::Bitcast || op == CastOp::PointerToInt || op == CastOp::IntToPointer) {
    ScalarKind from = storedKind(source->type), to = storedKind(type);
    int fromSize = source->elementSize(), toSize = type.scalarType().byteSize();
    if (fromSize == toSize)
      return valueOf(makeView(*source, type, source->data, source->strides));
    return valueOf(elementwise(convertFunction(CastOp::ExtendUnsigned, from, to), source.get(),
                               type)); // address to or from a narrower integer
  }
  bool isUniform = source->isUniform() && source->type.isBlock();
  if (isUniform) // convert the one element
    source = makeUniform(source->type.scalarType(), source->data);
  Type target = isUniform ? type.scalarType() : type;
  BufferRef result;
  ScalarKind from = storedKind(source->type), to = storedKind(type);
  if (op == CastOp::FloatTruncate && (isNarrowFloat(to) || rounding == Rounding::TowardZero))
    result = narrowFloat(source, target, rounding == Rounding::TowardZero);
  else if (from == to)
    result = source;
  else
    result = elementwise(convertFunction(op, isNarrowFloat(from) ? ScalarKind::Float32 : from,
                                         isNarrowFloat(to) ? ScalarKind::Float32 : to),
                         source.get(), target, true);
  return valueOf(isUniform ? makeUniform(type, result->data) : result);
}
