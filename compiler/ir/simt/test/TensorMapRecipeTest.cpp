// Recipes of tensor maps as text and as numbers, and the boxes of a tile.
#include "compiler/ir/layout/SharedAccess.h"
#include "compiler/ir/simt/Boxes.h"
#include <gtest/gtest.h>

using namespace nacre;
using namespace nacre::simt;

TEST(TensorMapRecipe, IsTheSameAfterItsText) {
  for (const char *text : {"type=f16 base=a0 shape=a2:s32,a3 strides=a3:s32:2:*:s32 box=64,32 swizzle=64 fill=nan",
                           "type=u8 base=a1:16:-3:*:+ shape=a0:z16:7:min:1:max box=256"}) {
    std::optional<TensorMapRecipe> recipe = TensorMapRecipe::parse(text);
    ASSERT_TRUE(recipe) << text;
    EXPECT_EQ(recipe->text(), text);
  }
}

TEST(TensorMapRecipe, RefusesOtherTexts) {
  for (const char *text : {"", "type=f16", "type=f7 base=a0 shape=1 box=1", "type=f16 base=a0 shape=1,1 box=1,1",
                           "type=f16 base=+ shape=1 box=1", "type=f16 base=a0:a1 shape=1 box=1",
                           "type=f16 base=a0 shape=1:s65 box=1", "type=f16 base=a0 shape=x box=1",
                           "type=f16 base=a0 shape=1 box=1 colour=red", "type=f16 base=a-1 shape=1 box=1"})
    EXPECT_FALSE(TensorMapRecipe::parse(text)) << text;
}

TEST(TensorMapRecipe, IsEvaluatedAsTheKernelWould) {
  auto value = [](const char *text, llvm::ArrayRef<uint64_t> arguments) {
    return LaunchExpression::parse(text)->evaluate(arguments);
  };
  EXPECT_EQ(value("a0:s32", {0xffffffff}), -1);
  EXPECT_EQ(value("a0:z32", {0xffffffffffffffff}), 0xffffffff);
  EXPECT_EQ(value("a0:a1:*:s32", {65536, 65536}), 0); // wraps, as a product of 32 bits
  EXPECT_EQ(value("a0:3:-", {1}), -2);
  EXPECT_EQ(value("a0:5:min:a1:max", {7, 6}), 6);
}

TEST(TensorMapRecipe, GivesTheNumbersOfTheHardware) {
  auto recipe = *TensorMapRecipe::parse("type=f32 base=a0 shape=a1,a2 strides=a3 box=8,32 swizzle=128");
  TensorMapRecipe::Numbers numbers;
  EXPECT_EQ(recipe.evaluate({4096, 10, 100, 128}, numbers), "");
  EXPECT_EQ(numbers.address, 4096u);
  EXPECT_EQ(numbers.sizes[0], 100u); // the innermost first
  EXPECT_EQ(numbers.sizes[1], 10u);
  EXPECT_EQ(numbers.strides[0], 512u); // bytes
  EXPECT_EQ(numbers.box[0], 32u);
  EXPECT_EQ(numbers.box[1], 8u);
  // Nothing in it, and no memory.
  EXPECT_EQ(recipe.evaluate({0, 0, static_cast<uint64_t>(-5), 128}, numbers), "");
  EXPECT_NE(numbers.address, 0u);
  EXPECT_EQ(numbers.sizes[0], 1u);
  EXPECT_EQ(numbers.sizes[1], 1u);
  // What no map can have.
  EXPECT_NE(recipe.evaluate({4096, 10, 100, static_cast<uint64_t>(-128)}, numbers), "");
  EXPECT_NE(recipe.evaluate({4096, 10, 100, 130}, numbers), "");
  EXPECT_NE(recipe.evaluate({4096, 10, 100, uint64_t(1) << 40}, numbers), "");
  EXPECT_NE(recipe.evaluate({4100, 10, 100, 128}, numbers), "");
}

static TensorMapRecipe withBox(llvm::ArrayRef<int64_t> box, unsigned swizzle) {
  TensorMapRecipe recipe;
  recipe.element = TensorMapRecipe::Element::F16;
  recipe.box.assign(box.begin(), box.end());
  recipe.swizzle = swizzle;
  return recipe;
}

TEST(Boxes, LieAsMatrixInstructionsReadThem) {
  EXPECT_EQ(boxLayout(withBox({64, 64}, 128), {64, 64}), sharedInRows({6, 6}, {1, 0}, 1));
  EXPECT_EQ(boxLayout(withBox({64, 64}, 128), {64, 256}), sharedInRows({6, 8}, {1, 0}, 1));
  EXPECT_EQ(boxLayout(withBox({64, 32}, 64), {64, 32}), sharedInRows({6, 5}, {1, 0}, 1));
  EXPECT_EQ(boxLayout(withBox({256, 64}, 128), {512, 128}), sharedInRows({9, 7}, {1, 0}, 1));
}

TEST(Boxes, CoverTheTileOneAfterTheOther) {
  llvm::SmallVector<BoxPiece> pieces = boxPieces(withBox({256, 64}, 128), {512, 128});
  ASSERT_EQ(pieces.size(), 4u);
  int64_t offset = 0;
  for (const BoxPiece &piece : pieces) {
    EXPECT_EQ(piece.offset, offset);
    offset += 256 * 64;
  }
  EXPECT_EQ(pieces[1].coordinates, (llvm::SmallVector<int64_t>{256, 0}));
  EXPECT_EQ(pieces[2].coordinates, (llvm::SmallVector<int64_t>{0, 64}));
  // Every element of a box is where the hardware puts it: row-major from the box's start, the swizzle aside.
  LinearLayout layout = boxLayout(withBox({2, 4, 8}, 0), {4, 4, 16});
  for (const BoxPiece &piece : boxPieces(withBox({2, 4, 8}, 0), {4, 4, 16}))
    for (uint32_t i = 0; i < 64; ++i) {
      llvm::SmallVector<uint32_t> at =
          layout.unpack(layout.apply(Position{.offset = static_cast<uint32_t>(piece.offset) + i}));
      EXPECT_EQ(at[0], piece.coordinates[0] + i / 32);
      EXPECT_EQ(at[1], piece.coordinates[1] + i / 8 % 4);
      EXPECT_EQ(at[2], piece.coordinates[2] + i % 8);
    }
}
