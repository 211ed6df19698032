// Arithmetic, comparisons, casts and selection, over the types and the corners of each.
#include "compiler/reference/test/Tiles.h"
#include <cmath>
#include <limits>

using namespace nacre;

namespace {
EagerBuilder builder;
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

// Applies an operation to every pair of corner numbers and compares with `expected` computed in C++.
template <typename T, typename Expected>
void checkPairs(BinaryOp op, Type type, const std::vector<T> &corners, Expected expected) {
  std::vector<T> left, right;
  for (T a : corners)
    for (T b : corners) {
      left.push_back(a);
      right.push_back(b);
    }
  auto count = static_cast<int64_t>(left.size());
  std::vector<T> found = numbers<T>(builder.binary(op, tile<T>(type, {count}, left), tile<T>(type, {count}, right)));
  for (size_t i = 0; i < left.size(); ++i)
    ASSERT_EQ(found[i], static_cast<T>(expected(left[i], right[i])))
        << type.str() << " op " << static_cast<int>(op) << ": " << +left[i] << ", " << +right[i];
}

template <typename S> void checkIntegers(Type signedType, Type unsignedType) {
  using U = std::make_unsigned_t<S>;
  using Wide = __int128;
  constexpr int bits = sizeof(S) * 8;
  std::vector<S> corners = {0,
                            1,
                            -1,
                            2,
                            -2,
                            3,
                            7,
                            -7,
                            100,
                            std::numeric_limits<S>::max(),
                            std::numeric_limits<S>::min(),
                            static_cast<S>(std::numeric_limits<S>::min() + 1)};
  std::vector<U> unsignedCorners(corners.begin(), corners.end());
  checkPairs<S>(BinaryOp::AddI, signedType, corners, [](Wide a, Wide b) { return a + b; });
  checkPairs<S>(BinaryOp::SubI, signedType, corners, [](Wide a, Wide b) { return a - b; });
  checkPairs<S>(BinaryOp::MulI, signedType, corners,
                [](Wide a, Wide b) { return static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b); });
  checkPairs<S>(BinaryOp::DivS, signedType, corners, [](Wide a, Wide b) { return b == 0 ? Wide(-1) : a / b; });
  checkPairs<S>(BinaryOp::RemS, signedType, corners, [](Wide a, Wide b) { return b == 0 ? a : a % b; });
  checkPairs<U>(BinaryOp::DivU, unsignedType, unsignedCorners,
                [](Wide a, Wide b) { return b == 0 ? Wide(-1) : a / b; });
  checkPairs<U>(BinaryOp::RemU, unsignedType, unsignedCorners, [](Wide a, Wide b) { return b == 0 ? a : a % b; });
  checkPairs<S>(BinaryOp::And, signedType, corners, [](Wide a, Wide b) { return a & b; });
  checkPairs<S>(BinaryOp::Or, signedType, corners, [](Wide a, Wide b) { return a | b; });
  checkPairs<S>(BinaryOp::Xor, signedType, corners, [](Wide a, Wide b) { return a ^ b; });
  checkPairs<S>(BinaryOp::MinS, signedType, corners, [](Wide a, Wide b) { return std::min(a, b); });
  checkPairs<S>(BinaryOp::MaxS, signedType, corners, [](Wide a, Wide b) { return std::max(a, b); });
  checkPairs<U>(BinaryOp::MinU, unsignedType, unsignedCorners, [](Wide a, Wide b) { return std::min(a, b); });
  checkPairs<U>(BinaryOp::MaxU, unsignedType, unsignedCorners, [](Wide a, Wide b) { return std::max(a, b); });
  checkPairs<U>(BinaryOp::Shl, unsignedType, unsignedCorners, [](Wide a, Wide b) {
    return b < bits ? static_cast<Wide>(static_cast<unsigned __int128>(a) << b) : Wide(0);
  });
  checkPairs<U>(BinaryOp::ShrU, unsignedType, unsignedCorners,
                [](Wide a, Wide b) { return b < bits ? a >> b : Wide(0); });
  checkPairs<S>(BinaryOp::ShrS, signedType, corners,
                [](Wide a, Wide b) { return b >= 0 && b < bits ? a >> b : Wide(a < 0 ? -1 : 0); });
  checkPairs<S>(BinaryOp::MulHighS, signedType, corners, [](Wide a, Wide b) { return (a * b) >> bits; });
  checkPairs<U>(BinaryOp::MulHighU, unsignedType, unsignedCorners, [](Wide a, Wide b) {
    return static_cast<Wide>((static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b)) >> bits);
  });
  std::vector<S> complements, magnitudes;
  for (S corner : corners) {
    complements.push_back(static_cast<S>(~corner));
    magnitudes.push_back(corner < 0 ? static_cast<S>(-static_cast<U>(corner)) : corner);
  }
  Value all = tile<S>(signedType, {static_cast<int64_t>(corners.size())}, corners);
  EXPECT_EQ(numbers<S>(builder.unary(UnaryOp::Not, all)), complements);
  EXPECT_EQ(numbers<S>(builder.unary(UnaryOp::AbsI, all)), magnitudes);
}

TEST(Elementwise, Integers) {
  checkIntegers<int8_t>(int8(), uint8());
  checkIntegers<int16_t>(int16(), uint16());
  checkIntegers<int32_t>(int32(), uint32());
  checkIntegers<int64_t>(int64(), uint64());
}

TEST(Elementwise, OneBit) {
  Value a = masks({0, 0, 1, 1}), b = masks({0, 1, 0, 1});
  auto binary = [&](BinaryOp op) { return numbers<uint8_t>(builder.binary(op, a, b)); };
  using List = std::vector<uint8_t>;
  EXPECT_EQ(binary(BinaryOp::AddI), (List{0, 1, 1, 0}));
  EXPECT_EQ(binary(BinaryOp::SubI), (List{0, 1, 1, 0}));
  EXPECT_EQ(binary(BinaryOp::MulI), (List{0, 0, 0, 1}));
  EXPECT_EQ(binary(BinaryOp::And), (List{0, 0, 0, 1}));
  EXPECT_EQ(binary(BinaryOp::Or), (List{0, 1, 1, 1}));
  EXPECT_EQ(binary(BinaryOp::Xor), (List{0, 1, 1, 0}));
  EXPECT_EQ(binary(BinaryOp::MaxU), (List{0, 1, 1, 1}));
  EXPECT_EQ(binary(BinaryOp::MaxS), (List{0, 0, 0, 1})); // 1 is -1
  EXPECT_EQ(numbers<uint8_t>(builder.compare(CompareOp::LtU, a, b)), (List{0, 1, 0, 0}));
  EXPECT_EQ(numbers<uint8_t>(builder.compare(CompareOp::LtS, a, b)), (List{0, 0, 1, 0}));
  EXPECT_EQ(numbers<uint8_t>(builder.unary(UnaryOp::Not, a)), (List{1, 1, 0, 0}));
}

template <typename T> void checkFloats(Type type) {
  T inf = std::numeric_limits<T>::infinity();
  std::vector<T> corners = {0,
                            -T(0),
                            1,
                            -1,
                            T(0.1),
                            3,
                            -7,
                            inf,
                            -inf,
                            std::numeric_limits<T>::max(),
                            std::numeric_limits<T>::denorm_min(),
                            T(1e-3)};
  checkPairs<T>(BinaryOp::MinimumF, type, corners, [](T a, T b) { return std::min(a, b); });
  checkPairs<T>(BinaryOp::MaximumF, type, corners, [](T a, T b) { return std::max(a, b); });
  std::vector<T> finite = {
      1, -1, T(0.1), 3, -7, std::numeric_limits<T>::denorm_min(), T(1e-3), std::numeric_limits<T>::max()};
  checkPairs<T>(BinaryOp::AddF, type, finite, [](T a, T b) { return a + b; });
  checkPairs<T>(BinaryOp::SubF, type, finite, [](T a, T b) { return a - b; });
  checkPairs<T>(BinaryOp::MulF, type, finite, [](T a, T b) { return a * b; });
  checkPairs<T>(BinaryOp::DivF, type, finite, [](T a, T b) { return a / b; });
  checkPairs<T>(BinaryOp::RemF, type, finite, [](T a, T b) { return std::fmod(a, b); });
  checkPairs<T>(BinaryOp::CopySign, type, finite, [](T a, T b) { return std::copysign(a, b); });
}

TEST(Elementwise, Floats) {
  checkFloats<float>(float32());
  checkFloats<double>(float64());
}

TEST(Elementwise, NanInMinimumAndMaximum) {
  Value a = floats({nan, 1, nan, -0.0f}), b = floats({1, nan, nan, 0.0f});
  std::vector<float> ignored = numbers<float>(builder.binary(BinaryOp::MaxNumF, a, b));
  EXPECT_EQ(ignored[0], 1);
  EXPECT_EQ(ignored[1], 1);
  EXPECT_TRUE(std::isnan(ignored[2]));
  EXPECT_FALSE(std::signbit(ignored[3]));
  EXPECT_TRUE(std::signbit(numbers<float>(builder.binary(BinaryOp::MinNumF, a, b))[3]));
  std::vector<float> kept = numbers<float>(builder.binary(BinaryOp::MinimumF, a, b));
  EXPECT_TRUE(std::isnan(kept[0]) && std::isnan(kept[1]) && std::isnan(kept[2]));
}

TEST(Elementwise, Comparisons) {
  Value a = floats({1, 2, nan, 2}), b = floats({2, 2, 2, nan});
  auto compare = [&](CompareOp op) { return numbers<uint8_t>(builder.compare(op, a, b)); };
  using List = std::vector<uint8_t>;
  EXPECT_EQ(compare(CompareOp::EqF), (List{0, 1, 0, 0}));
  EXPECT_EQ(compare(CompareOp::NeF), (List{1, 0, 1, 1}));
  EXPECT_EQ(compare(CompareOp::LtF), (List{1, 0, 0, 0}));
  EXPECT_EQ(compare(CompareOp::LeF), (List{1, 1, 0, 0}));
  EXPECT_EQ(compare(CompareOp::GtF), (List{0, 0, 0, 0}));
  EXPECT_EQ(compare(CompareOp::GeF), (List{0, 1, 0, 0}));
  Value x = ints({-1, 0}), y = ints({1, 0});
  EXPECT_EQ(numbers<uint8_t>(builder.compare(CompareOp::LtS, x, y)), (List{1, 0}));
  EXPECT_EQ(numbers<uint8_t>(builder.compare(CompareOp::LtU, x, y)), (List{0, 0}));
  EXPECT_EQ(numbers<uint8_t>(builder.compare(CompareOp::GeU, x, y)), (List{1, 1}));
}

// fp16, bf16 and fp8 arithmetic is float arithmetic, rounded once.
TEST(Elementwise, NarrowFloats) {
  for (ScalarKind kind : {ScalarKind::Float16, ScalarKind::BFloat16, ScalarKind::Float8E4NV, ScalarKind::Float8E5,
                          ScalarKind::Float8E4B15}) {
    std::vector<float> a = wide(narrow(kind, {1, 0.3f, -1.2f, 0.01f, 0.7f})),
                       b = wide(narrow(kind, {0.125f, 0.3f, 0.9f, -0.3f, 0.6f}));
    std::vector<float> sums, products;
    for (size_t i = 0; i < a.size(); ++i) {
      sums.push_back(a[i] + b[i]);
      products.push_back(a[i] * b[i]);
    }
    EXPECT_EQ(wide(builder.binary(BinaryOp::AddF, narrow(kind, a), narrow(kind, b))), wide(narrow(kind, sums)));
    EXPECT_EQ(wide(builder.binary(BinaryOp::MulF, narrow(kind, a), narrow(kind, b))), wide(narrow(kind, products)));
  }
  // 2048 + 1 is halfway between two numbers of fp16 and goes to the even one.
  EXPECT_EQ(wide(builder.binary(BinaryOp::AddF, narrow(ScalarKind::Float16, {2048, 2050}),
                                narrow(ScalarKind::Float16, {1, 1}))),
            (std::vector<float>{2048, 2052}));
}

TEST(Elementwise, MathIsRoundedFromDouble) {
  std::vector<float> x = {-0.75f, 0.1f, 0.5f, 3.25f, 20.0f};
  auto check = [&](UnaryOp op, double (*function)(double)) {
    std::vector<float> found = numbers<float>(builder.unary(op, floats(x)));
    for (size_t i = 0; i < x.size(); ++i) {
      float expected = static_cast<float>(function(x[i]));
      if (std::isnan(expected))
        EXPECT_TRUE(std::isnan(found[i]));
      else
        EXPECT_EQ(found[i], expected) << static_cast<int>(op) << " of " << x[i];
    }
  };
  check(UnaryOp::Exp, std::exp);
  check(UnaryOp::Exp2, std::exp2);
  check(UnaryOp::Log, std::log);
  check(UnaryOp::Log2, std::log2);
  check(UnaryOp::Sin, std::sin);
  check(UnaryOp::Cos, std::cos);
  check(UnaryOp::Tan, std::tan);
  check(UnaryOp::Sqrt, std::sqrt);
  check(UnaryOp::Erf, std::erf);
  check(UnaryOp::Floor, std::floor);
  check(UnaryOp::Ceil, std::ceil);
  check(UnaryOp::Trunc, std::trunc);
  check(UnaryOp::Round, std::round);
  check(UnaryOp::Tanh, std::tanh);
  check(UnaryOp::Log1p, std::log1p);
  EXPECT_EQ(numbers<float>(builder.unary(UnaryOp::RoundEven, floats({0.5f, 1.5f, 2.5f, -0.5f}))),
            (std::vector<float>{0, 2, 2, -0.0f}));
  EXPECT_EQ(numbers<float>(builder.unary(UnaryOp::NegF, floats({1, -2}))), (std::vector<float>{-1, 2}));
  EXPECT_EQ(numbers<float>(builder.unary(UnaryOp::AbsF, floats({-infinity, -2}))), (std::vector<float>{infinity, 2}));
}

TEST(Elementwise, FmaRoundsOnce) {
  float a = 1.0f + std::ldexp(1.0f, -12), expected = std::fma(a, a, -1.0f);
  Value x = floats({a}), one = floats({-1});
  EXPECT_EQ(numbers<float>(builder.fma(x, x, one))[0], expected);
  EXPECT_NE(a * a - 1.0f, expected);
}

TEST(Elementwise, IntegerCasts) {
  Value bytes = tile<int8_t>(int8(), {3}, {-1, 0, 127});
  EXPECT_EQ(numbers<int32_t>(builder.cast(CastOp::ExtendSigned, bytes, Type::block(int32(), {3}))),
            (std::vector<int32_t>{-1, 0, 127}));
  EXPECT_EQ(numbers<int32_t>(builder.cast(CastOp::ExtendUnsigned, bytes, Type::block(int32(), {3}))),
            (std::vector<int32_t>{255, 0, 127}));
  EXPECT_EQ(numbers<int8_t>(builder.cast(CastOp::Truncate, ints({256 + 5, -3, 128}), Type::block(int8(), {3}))),
            (std::vector<int8_t>{5, -3, -128}));
  Value bits = masks({0, 1});
  EXPECT_EQ(numbers<int32_t>(builder.cast(CastOp::ExtendUnsigned, bits, Type::block(int32(), {2}))),
            (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(numbers<int32_t>(builder.cast(CastOp::ExtendSigned, bits, Type::block(int32(), {2}))),
            (std::vector<int32_t>{0, -1}));
  EXPECT_EQ(numbers<uint8_t>(builder.cast(CastOp::Truncate, ints({2, 3}), Type::block(int1(), {2}))),
            (std::vector<uint8_t>{0, 1}));
}

TEST(Elementwise, FloatCasts) {
  Value x = floats({1.9f, -1.9f, 3e9f, nan});
  EXPECT_EQ(numbers<int32_t>(builder.cast(CastOp::FloatToSigned, x, Type::block(int32(), {4}))),
            (std::vector<int32_t>{1, -1, INT32_MIN, INT32_MIN}));
  EXPECT_EQ(numbers<uint32_t>(builder.cast(CastOp::FloatToUnsigned, floats({3e9f, 1.5f}), Type::block(uint32(), {2}))),
            (std::vector<uint32_t>{3000000000u, 1}));
  EXPECT_EQ(numbers<uint64_t>(builder.cast(CastOp::FloatToUnsigned, floats({1e19f, 7}), Type::block(uint64(), {2}))),
            (std::vector<uint64_t>{9999999980506447872u, 7}));
  EXPECT_EQ(numbers<float>(builder.cast(CastOp::UnsignedToFloat, ints({-1, 1}), Type::block(float32(), {2}))),
            (std::vector<float>{4294967296.0f, 1}));
  EXPECT_EQ(numbers<float>(builder.cast(CastOp::SignedToFloat, ints({-1, 1}), Type::block(float32(), {2}))),
            (std::vector<float>{-1, 1}));
  Value doubles = tile<double>(float64(), {2}, {1.0 + std::ldexp(1.0, -24) * 1.5, -1.0 - std::ldexp(1.0, -24) * 1.5});
  float next = std::nextafter(1.0f, 2.0f);
  EXPECT_EQ(numbers<float>(builder.cast(CastOp::FloatTruncate, doubles, Type::block(float32(), {2}))),
            (std::vector<float>{next, -next}));
  EXPECT_EQ(
      numbers<float>(builder.cast(CastOp::FloatTruncate, doubles, Type::block(float32(), {2}), Rounding::TowardZero)),
      (std::vector<float>{1, -1}));
  Type half = Type::block(float16(), {2});
  EXPECT_EQ(wide(builder.cast(CastOp::FloatTruncate, floats({2049, 2051}), half)), (std::vector<float>{2048, 2052}));
  EXPECT_EQ(wide(builder.cast(CastOp::FloatTruncate, floats({2049, 2051}), half, Rounding::TowardZero)),
            (std::vector<float>{2048, 2050}));
  Type fp8 = Type::block(Type::scalar(ScalarKind::Float8E5), {2});
  EXPECT_EQ(wide(builder.cast(CastOp::FloatTruncate, floats({infinity, -1e9f}), fp8)),
            (std::vector<float>{57344, -57344}));
  EXPECT_EQ(numbers<double>(
                builder.cast(CastOp::FloatExtend, narrow(ScalarKind::BFloat16, {1.5f}), Type::block(float64(), {1}))),
            (std::vector<double>{1.5}));
  EXPECT_EQ(numbers<uint32_t>(builder.cast(CastOp::Bitcast, floats({1}), Type::block(uint32(), {1}))),
            (std::vector<uint32_t>{0x3F800000}));
}

TEST(Elementwise, SelectAndSplats) {
  Value condition = masks({1, 0, 1});
  Value seven = builder.splat(builder.scalarFromBits(int32(), 7), {3});
  EXPECT_EQ(numbers<int32_t>(builder.select(condition, ints({1, 2, 3}), seven)), (std::vector<int32_t>{1, 7, 3}));
  Value fourteen = builder.binary(BinaryOp::AddI, seven, seven);
  EXPECT_TRUE(bufferOf(fourteen).isUniform()); // splats stay splats
  EXPECT_EQ(numbers<int32_t>(fourteen), (std::vector<int32_t>{14, 14, 14}));
}

// Long tiles, so that vector loops, their tails and the staging of strided operands are all met.
TEST(Elementwise, LongStridedTiles) {
  int64_t rows = 37, columns = 1031;
  std::vector<float> list(rows * columns);
  for (size_t i = 0; i < list.size(); ++i)
    list[i] = static_cast<float>(i % 1013);
  Value matrix = tile<float>(float32(), {rows, columns}, list);
  std::vector<float> ramp(columns);
  for (int64_t i = 0; i < columns; ++i)
    ramp[i] = static_cast<float>(i);
  Value row = builder.broadcast(builder.expandDims(floats(ramp), 0), {rows, columns});
  std::vector<float> sums = numbers<float>(builder.binary(BinaryOp::AddF, matrix, row));
  std::vector<float> transposed =
      numbers<float>(builder.binary(BinaryOp::AddF, builder.permute(matrix, {1, 0}), builder.permute(row, {1, 0})));
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) {
      ASSERT_EQ(sums[r * columns + c], list[r * columns + c] + ramp[c]);
      ASSERT_EQ(transposed[c * rows + r], list[r * columns + c] + ramp[c]);
    }
}
} // namespace
