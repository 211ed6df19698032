// Reductions, scans, histograms and matrix products against plain loops.
#include "compiler/reference/test/Tiles.h"
#include <cmath>

using namespace nacre;

namespace {
EagerBuilder builder;

int calls = 0;
Values add(llvm::ArrayRef<Value> lhs, llvm::ArrayRef<Value> rhs) {
  ++calls;
  EXPECT_EQ(lhs[0].type(), rhs[0].type());
  return {builder.binary(BinaryOp::AddI, lhs[0], rhs[0])};
}

TEST(Reductions, SumsAlongEveryAxis) {
  for (std::vector<int64_t> shape :
       {std::vector<int64_t>{64}, {1}, {7}, {1000}, {5, 64}, {64, 5}, {100, 37}, {3, 1, 4}, {6, 5, 33}}) {
    int64_t count = 1;
    for (int64_t extent : shape)
      count *= extent;
    std::vector<int32_t> list(count);
    for (int64_t i = 0; i < count; ++i)
      list[i] = static_cast<int32_t>(i * 37 % 101);
    Value value = tile<int32_t>(int32(), shape, list);
    for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis) {
      int64_t inner = 1, extent = shape[axis];
      for (size_t i = axis + 1; i < shape.size(); ++i)
        inner *= shape[i];
      std::vector<int32_t> expected(count / extent);
      for (int64_t i = 0; i < count; ++i)
        expected[i / (inner * extent) * inner + i % inner] += list[i];
      calls = 0;
      Value sum = builder.reduce({value}, axis, add)[0];
      EXPECT_EQ(sum.type().isBlock(), shape.size() > 1);
      EXPECT_EQ(numbers<int32_t>(sum), expected);
      EXPECT_LE(calls, 2 * std::ceil(std::log2(extent)) + 1);
    }
  }
}

// Several operands at once: the largest element and where it is.
TEST(Reductions, LargestWithIndex) {
  auto larger = [](llvm::ArrayRef<Value> lhs, llvm::ArrayRef<Value> rhs) {
    Value greater = builder.compare(CompareOp::GtF, lhs[0], rhs[0]),
          equal = builder.compare(CompareOp::EqF, lhs[0], rhs[0]);
    Value before = builder.compare(CompareOp::LtS, lhs[1], rhs[1]);
    Value left = builder.binary(BinaryOp::Or, greater, builder.binary(BinaryOp::And, equal, before));
    return Values{builder.select(left, lhs[0], rhs[0]), builder.select(left, lhs[1], rhs[1])};
  };
  std::vector<float> list = {3, 9, 1, 9, 2, -1, -5, -1};
  Value values = tile<float>(float32(), {2, 4}, list);
  Value indices = builder.broadcast(builder.expandDims(builder.arange(0, 4), 0), {2, 4});
  Values best = builder.reduce({values, indices}, 1, larger);
  EXPECT_EQ(numbers<float>(best[0]), (std::vector<float>{9, 2}));
  EXPECT_EQ(numbers<int32_t>(best[1]), (std::vector<int32_t>{1, 0}));
}

TEST(Reductions, Scans) {
  for (int64_t extent : {1, 2, 3, 8, 37, 128}) {
    std::vector<int32_t> list(extent * 3), forward(extent * 3), backward(extent * 3);
    for (size_t i = 0; i < list.size(); ++i)
      list[i] = static_cast<int32_t>(i * 7 % 11);
    for (int64_t row = 0; row < 3; ++row) {
      int32_t sum = 0;
      for (int64_t i = 0; i < extent; ++i)
        forward[row * extent + i] = sum += list[row * extent + i];
      sum = 0;
      for (int64_t i = extent - 1; i >= 0; --i)
        backward[row * extent + i] = sum += list[row * extent + i];
    }
    Value value = tile<int32_t>(int32(), {3, extent}, list);
    EXPECT_EQ(numbers<int32_t>(builder.scan({value}, 1, false, add)[0]), forward);
    EXPECT_EQ(numbers<int32_t>(builder.scan({value}, 1, true, add)[0]), backward);
    Value turned = builder.permute(value, {1, 0});
    EXPECT_EQ(numbers<int32_t>(builder.permute(builder.scan({turned}, 0, false, add)[0], {1, 0})), forward);
  }
}

// The running combination keeps its order: `later` is not commutative.
TEST(Reductions, ScansKeepOrder) {
  auto affine = [](llvm::ArrayRef<Value> f, llvm::ArrayRef<Value> g) { // x -> g(f(x)), functions as factor and addend
    return Values{builder.binary(BinaryOp::MulI, f[0], g[0]),
                  builder.binary(BinaryOp::AddI, builder.binary(BinaryOp::MulI, f[1], g[0]), g[1])};
  };
  std::vector<int32_t> factors = {2, 3, 1, 2, 5}, addends = {1, 2, 3, 4, 5}, expected;
  int32_t addend = 0;
  for (size_t i = 0; i < factors.size(); ++i) {
    addend = addend * factors[i] + addends[i];
    expected.push_back(addend);
  }
  EXPECT_EQ(numbers<int32_t>(builder.scan({ints(factors), ints(addends)}, 0, false, affine)[1]), expected);
}

TEST(Reductions, Histogram) {
  Value value = ints({0, 1, 1, 3, -1, 4, 3, 3});
  EXPECT_EQ(numbers<int32_t>(builder.histogram(value, 4, Value())), (std::vector<int32_t>{1, 2, 0, 3}));
  EXPECT_EQ(numbers<int32_t>(builder.histogram(value, 4, masks({1, 1, 0, 1, 1, 1, 0, 1}))),
            (std::vector<int32_t>{1, 1, 0, 2}));
}

TEST(Dot, AnyShape) {
  for (auto [m, n, k] :
       {std::tuple<int64_t, int64_t, int64_t>{1, 1, 1}, {4, 16, 8}, {5, 17, 3}, {33, 40, 20}, {64, 64, 64}}) {
    std::vector<float> a(m * k), b(k * n), c(m * n), expected;
    for (size_t i = 0; i < a.size(); ++i)
      a[i] = static_cast<float>(static_cast<int>(i % 7) - 3);
    for (size_t i = 0; i < b.size(); ++i)
      b[i] = static_cast<float>(static_cast<int>(i % 5) - 2);
    for (size_t i = 0; i < c.size(); ++i)
      c[i] = static_cast<float>(i % 3);
    expected = c;
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j)
        for (int64_t l = 0; l < k; ++l)
          expected[i * n + j] += a[i * k + l] * b[l * n + j];
    Value left = tile<float>(float32(), {m, k}, a), right = tile<float>(float32(), {k, n}, b),
          sum = tile<float>(float32(), {m, n}, c);
    EXPECT_EQ(numbers<float>(builder.dot(left, right, sum, {DotPrecision::IEEE})), expected);
    // From transposed operands, narrow operands, and in integers: these numbers are exact in all of them.
    Value transposed = valueOf(contiguous(bufferRef(builder.permute(left, {1, 0}))));
    EXPECT_EQ(numbers<float>(builder.dot(builder.permute(transposed, {1, 0}), right, sum, {DotPrecision::TF32})),
              expected);
    auto converted = [&](CastOp op, Value value, Type type) {
      return builder.cast(op, value, value.type().withScalar(type));
    };
    Value half = builder.dot(converted(CastOp::FloatTruncate, left, bfloat16()),
                             converted(CastOp::FloatTruncate, right, bfloat16()), sum, {DotPrecision::TF32});
    EXPECT_EQ(numbers<float>(half), expected);
    Value bytes =
        builder.dot(converted(CastOp::FloatToSigned, left, int8()), converted(CastOp::FloatToSigned, right, int8()),
                    converted(CastOp::FloatToSigned, sum, int32()), {DotPrecision::IEEE});
    EXPECT_EQ(numbers<int32_t>(bytes), std::vector<int32_t>(expected.begin(), expected.end()));
  }
}

TEST(Dot, BatchesAndRounding) {
  Value a = tile<float>(float32(), {2, 1, 2}, {1, 2, 3, 4}), b = tile<float>(float32(), {2, 2, 1}, {1, 1, 10, 100}),
        c = tile<float>(float32(), {2, 1, 1}, {0, 1});
  EXPECT_EQ(numbers<float>(builder.dot(a, b, c, {DotPrecision::IEEE})), (std::vector<float>{3, 431}));
  // fp16 results are rounded once, at the end: 2048 + 1 + 1 is exact, 2048 + 1 alone would be lost.
  Value ones = builder.reshape(narrow(ScalarKind::Float16, {1, 1}), {1, 2}),
        column = builder.reshape(narrow(ScalarKind::Float16, {1, 1}), {2, 1});
  Value sum = builder.reshape(narrow(ScalarKind::Float16, {2048}), {1, 1});
  EXPECT_EQ(wide(builder.dot(ones, column, sum, {DotPrecision::IEEE})), (std::vector<float>{2050}));
}
} // namespace
