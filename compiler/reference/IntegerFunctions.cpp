// Integer arithmetic: it wraps. Where the language leaves the result undefined, this is what comes out: division by
// zero gives all ones and its remainder the dividend; the most negative number over -1 gives itself, remainder 0; a
// shift by the width or more gives 0, or the sign for an arithmetic shift to the right.
#include "compiler/reference/ChunkLoops.h"
#include <type_traits>

using namespace nacre;
using namespace nacre::detail;

namespace {
template <typename T> using Signed = std::make_signed_t<T>;
// Arithmetic of narrow types happens in int; this keeps 16-bit products from overflowing it.
template <typename T> using Wide = std::conditional_t<(sizeof(T) < 4), uint32_t, T>;
template <typename T> constexpr unsigned bits = sizeof(T) * 8;

#define NACRE_INTEGER_OP(name, expression)                                                                             \
  template <typename T> struct name {                                                                                  \
    using S = Signed<T>;                                                                                               \
    [[gnu::always_inline]] static T apply(T a, T b) { return static_cast<T>(expression); }                             \
  };
NACRE_INTEGER_OP(Add, Wide<T>(a) + Wide<T>(b))
NACRE_INTEGER_OP(Sub, Wide<T>(a) - Wide<T>(b))
NACRE_INTEGER_OP(Mul, Wide<T>(a) * Wide<T>(b))
NACRE_INTEGER_OP(And, a &b)
NACRE_INTEGER_OP(Or, a | b)
NACRE_INTEGER_OP(Xor, a ^ b)
NACRE_INTEGER_OP(MinU, a < b ? a : b)
NACRE_INTEGER_OP(MaxU, a > b ? a : b)
NACRE_INTEGER_OP(MinS, S(a) < S(b) ? a : b)
NACRE_INTEGER_OP(MaxS, S(a) > S(b) ? a : b)
NACRE_INTEGER_OP(DivU, b == 0 ? T(~T(0)) : T(a / b))
NACRE_INTEGER_OP(RemU, b == 0 ? a : T(a % b))
NACRE_INTEGER_OP(DivS, b == 0 ? T(~T(0)) : S(b) == -1 ? T(Wide<T>(0) - Wide<T>(a)) : T(S(a) / S(b)))
NACRE_INTEGER_OP(RemS, b == 0 ? a : S(b) == -1 ? T(0) : T(S(a) % S(b)))
NACRE_INTEGER_OP(Shl, b < bits<T> ? T(Wide<T>(a) << (b & (bits<T> - 1))) : T(0))
NACRE_INTEGER_OP(ShrU, b < bits<T> ? T(a >> (b & (bits<T> - 1))) : T(0))
NACRE_INTEGER_OP(ShrS, S(a) >> (b < bits<T> ? b : bits<T> - 1))
#undef NACRE_INTEGER_OP

template <typename T> struct MulHighU {
  [[gnu::always_inline]] static T apply(T a, T b) {
    if constexpr (sizeof(T) == 8)
      return static_cast<T>((static_cast<unsigned __int128>(a) * b) >> 64);
    else
      return static_cast<T>((static_cast<uint64_t>(a) * b) >> bits<T>);
  }
};
template <typename T> struct MulHighS {
  [[gnu::always_inline]] static T apply(T a, T b) {
    if constexpr (sizeof(T) == 8)
      return static_cast<T>((static_cast<__int128>(Signed<T>(a)) * Signed<T>(b)) >> 64);
    else
      return static_cast<T>((static_cast<int64_t>(Signed<T>(a)) * Signed<T>(b)) >> bits<T>);
  }
};

template <typename T> struct Complement {
  [[gnu::always_inline]] static T apply(T a) { return static_cast<T>(~a); }
};
template <typename T> struct Absolute {
  [[gnu::always_inline]] static T apply(T a) { return Signed<T>(a) < 0 ? static_cast<T>(Wide<T>(0) - Wide<T>(a)) : a; }
};
struct LogicalNot {
  [[gnu::always_inline]] static uint8_t apply(uint8_t a) { return a ^ 1; }
};
struct Itself {
  [[gnu::always_inline]] static uint8_t apply(uint8_t a) { return a; }
};

// int1 as the one-bit integer it is: 1 is -1 when read as signed.
template <uint8_t F00, uint8_t F01, uint8_t F10, uint8_t F11>
struct Bit { // result for (a, b) = (0,0), (0,1), (1,0), (1,1)
  [[gnu::always_inline]] static uint8_t apply(uint8_t a, uint8_t b) {
    constexpr unsigned table = F00 | F01 << 1 | F10 << 2 | F11 << 3;
    return (table >> (a * 2 + b)) & 1;
  }
};

template <typename F> ChunkFunction bit() { return binaryLoop<uint8_t, uint8_t, F>; }

ChunkFunction bitFunction(BinaryOp op) {
  switch (op) {
  case BinaryOp::AddI:
  case BinaryOp::SubI:
  case BinaryOp::Xor:
    return bit<Bit<0, 1, 1, 0>>();
  case BinaryOp::MulI:
  case BinaryOp::And:
  case BinaryOp::MinU:
  case BinaryOp::MaxS:
    return bit<Bit<0, 0, 0, 1>>();
  case BinaryOp::Or:
  case BinaryOp::MaxU:
  case BinaryOp::MinS:
    return bit<Bit<0, 1, 1, 1>>();
  case BinaryOp::DivS:
  case BinaryOp::DivU:
    return bit<Bit<1, 0, 1, 1>>();
  case BinaryOp::RemS:
  case BinaryOp::RemU:
    return bit<Bit<0, 0, 1, 0>>();
  case BinaryOp::Shl:
  case BinaryOp::ShrU:
    return bit<Bit<0, 0, 1, 0>>();
  case BinaryOp::ShrS:
    return bit<Bit<0, 0, 1, 1>>();
  case BinaryOp::MulHighU:
  case BinaryOp::MulHighS:
    return bit<Bit<0, 0, 0, 0>>();
  default:
    return nullptr;
  }
}

template <typename T> ChunkFunction wordFunction(BinaryOp op) {
  switch (op) {
#define NACRE_CASE(op, function)                                                                                       \
  case BinaryOp::op:                                                                                                   \
    return binaryLoop<T, T, function<T>>;
    NACRE_CASE(AddI, Add)
    NACRE_CASE(SubI, Sub)
    NACRE_CASE(MulI, Mul)
    NACRE_CASE(And, And)
    NACRE_CASE(Or, Or)
    NACRE_CASE(Xor, Xor)
    NACRE_CASE(MinS, MinS)
    NACRE_CASE(MinU, MinU)
    NACRE_CASE(MaxS, MaxS)
    NACRE_CASE(MaxU, MaxU)
    NACRE_CASE(Shl, Shl)
    NACRE_CASE(ShrS, ShrS)
    NACRE_CASE(ShrU, ShrU)
    NACRE_CASE(MulHighU, MulHighU)
    NACRE_CASE(MulHighS, MulHighS)
#undef NACRE_CASE
  case BinaryOp::DivS:
    return scalarBinaryLoop<T, T, DivS<T>>;
  case BinaryOp::DivU:
    return scalarBinaryLoop<T, T, DivU<T>>;
  case BinaryOp::RemS:
    return scalarBinaryLoop<T, T, RemS<T>>;
  case BinaryOp::RemU:
    return scalarBinaryLoop<T, T, RemU<T>>;
  default:
    return nullptr;
  }
}

template <typename T> ChunkFunction wordUnaryFunction(UnaryOp op) {
  switch (op) {
  case UnaryOp::Not:
    return unaryLoop<T, T, Complement<T>>;
  case UnaryOp::AbsI:
    return unaryLoop<T, T, Absolute<T>>;
  default:
    return nullptr;
  }
}
} // namespace

ChunkFunction nacre::integerBinaryFunction(BinaryOp op, ScalarKind kind) {
  switch (kind) {
  case ScalarKind::Int1:
    return bitFunction(op);
  case ScalarKind::Int8:
  case ScalarKind::UInt8:
    return wordFunction<uint8_t>(op);
  case ScalarKind::Int16:
  case ScalarKind::UInt16:
    return wordFunction<uint16_t>(op);
  case ScalarKind::Int32:
  case ScalarKind::UInt32:
    return wordFunction<uint32_t>(op);
  case ScalarKind::Int64:
  case ScalarKind::UInt64:
    return wordFunction<uint64_t>(op);
  default:
    return nullptr;
  }
}

ChunkFunction nacre::integerUnaryFunction(UnaryOp op, ScalarKind kind) {
  switch (kind) {
  case ScalarKind::Int1:
    return op == UnaryOp::Not ? ChunkFunction(unaryLoop<uint8_t, uint8_t, LogicalNot>)
                              : unaryLoop<uint8_t, uint8_t, Itself>;
  case ScalarKind::Int8:
  case ScalarKind::UInt8:
    return wordUnaryFunction<uint8_t>(op);
  case ScalarKind::Int16:
  case ScalarKind::UInt16:
    return wordUnaryFunction<uint16_t>(op);
  case ScalarKind::Int32:
  case ScalarKind::UInt32:
    return wordUnaryFunction<uint32_t>(op);
  case ScalarKind::Int64:
  case ScalarKind::UInt64:
    return wordUnaryFunction<uint64_t>(op);
  default:
    return nullptr;
  }
}
