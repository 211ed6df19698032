// Views and rearrangements.
#include "compiler/reference/test/Tiles.h"

using namespace nacre;

namespace {
EagerBuilder builder;
using List = std::vector<int32_t>;

Value counting(std::vector<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return builder.reshape(builder.arange(0, count), shape);
}

TEST(Shapes, ViewsShareTheirElements) {
  Value matrix = counting({2, 3});
  EXPECT_EQ(numbers<int32_t>(builder.permute(matrix, {1, 0})), (List{0, 3, 1, 4, 2, 5}));
  Value row = builder.expandDims(builder.arange(0, 3), 0), column = builder.expandDims(builder.arange(0, 2), 1);
  EXPECT_EQ(numbers<int32_t>(builder.broadcast(row, {2, 3})), (List{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(numbers<int32_t>(builder.broadcast(column, {2, 3})), (List{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(bufferOf(builder.broadcast(row, {2, 3})).storage, bufferOf(row).storage);
  EXPECT_EQ(numbers<int32_t>(builder.reshape(builder.permute(matrix, {1, 0}), {6})), (List{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(numbers<int32_t>(builder.permute(counting({2, 2, 2}), {2, 0, 1})), (List{0, 2, 4, 6, 1, 3, 5, 7}));
}

TEST(Shapes, PuttingTogetherAndTakingApart) {
  Value a = counting({2, 2}),
        b = builder.binary(BinaryOp::AddI, a, builder.splat(builder.scalarFromBits(int32(), 10), {2, 2}));
  EXPECT_EQ(numbers<int32_t>(builder.concatenate(a, b, 0)), (List{0, 1, 2, 3, 10, 11, 12, 13}));
  EXPECT_EQ(numbers<int32_t>(builder.concatenate(a, b, 1)), (List{0, 1, 10, 11, 2, 3, 12, 13}));
  Value joined = builder.join(a, b);
  EXPECT_EQ(joined.type().shape(), (Shape{2, 2, 2}));
  EXPECT_EQ(numbers<int32_t>(joined), (List{0, 10, 1, 11, 2, 12, 3, 13}));
  auto [first, second] = builder.split(joined);
  EXPECT_EQ(numbers<int32_t>(first), numbers<int32_t>(a));
  EXPECT_EQ(numbers<int32_t>(second), numbers<int32_t>(b));
  auto [one, other] = builder.split(ints({4, 5}));
  EXPECT_FALSE(one.type().isBlock());
  EXPECT_EQ(scalarOf<int32_t>(one), 4);
  EXPECT_EQ(scalarOf<int32_t>(other), 5);
  EXPECT_EQ(scalarOf<int32_t>(builder.extract(builder.permute(b, {1, 0}), {0, 1})), 12);
}

TEST(Shapes, Gather) {
  Value source = counting({2, 3});
  Value index = tile<int32_t>(int32(), {2, 2}, {2, 0, 1, 1});
  EXPECT_EQ(numbers<int32_t>(builder.gather(source, index, 1)), (List{2, 0, 4, 4}));
  Value rows = tile<int64_t>(int64(), {1, 3}, {1, 0, 1});
  EXPECT_EQ(numbers<int32_t>(builder.gather(source, rows, 0)), (List{3, 1, 5}));
  EXPECT_THROW(builder.gather(source, tile<int32_t>(int32(), {2, 1}, {3, 0}), 1), CompileError);
  EXPECT_THROW(builder.gather(source, tile<int32_t>(int32(), {2, 1}, {-1, 0}), 1), CompileError);
}
} // namespace
