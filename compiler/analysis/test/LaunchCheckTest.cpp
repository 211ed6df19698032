// What a launch proves about a kernel's integers, with the numbers of launches that pass and of launches that do not.
#include "compiler/analysis/AxisInfo.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace nacre;

namespace {

class Checks : public testing::Test {
protected:
  // Of the value whose operation carries the attribute `wanted`.
  std::optional<LaunchCheck> check(const std::string &body) {
    context.loadDialect<tile::TileDialect, arith::ArithDialect, scf::SCFDialect, func::FuncDialect>();
    module = parseSourceString<ModuleOp>(
        "func.func @k(%m: i32, %n: i32, %w: i64, %p: !tile.ptr<i32>) attributes {tile.kernel} {\n" + body +
            "\n  return\n}",
        &context);
    Value value;
    module->walk([&](Operation *op) {
      if (op->hasAttr("wanted"))
        value = op->getResult(0);
    });
    return launchCheckOf(value);
  }
  static bool holds(const LaunchCheck &check, uint32_t programs, int64_t m, int64_t n, int64_t w = 0) {
    uint32_t grid[3] = {programs, 1, 1};
    uint64_t arguments[4] = {static_cast<uint64_t>(m), static_cast<uint64_t>(n), static_cast<uint64_t>(w), 0};
    return check.holds(grid, arguments);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

// The columns of a tile of a matrix product, whose tiles are taken in groups of eight rows.
constexpr const char *columnsOfTiles = R"(
  %pid = tile.program_id 0
  %128 = arith.constant 128 : i32
  %127 = arith.constant 127 : i32
  %8 = arith.constant 8 : i32
  %a = arith.addi %m, %127 : i32
  %rows = arith.divsi %a, %128 : i32
  %b = arith.addi %n, %127 : i32
  %columns = arith.divsi %b, %128 : i32
  %group = arith.muli %columns, %8 : i32
  %number = arith.divsi %pid, %group : i32
  %first = arith.muli %number, %8 : i32
  %left = arith.subi %rows, %first : i32
  %size = arith.minsi %left, %8 : i32
  %within = arith.remsi %pid, %group : i32
  %column = arith.divsi %within, %size : i32
  %start = arith.muli %column, %128 : i32
  %starts = tile.splat %start : i32 -> tensor<128xi32>
  %i = tile.arange 0 : tensor<128xi32>
  %places = arith.addi %starts, %i {wanted} : tensor<128xi32>)";

TEST_F(Checks, TilesOfAMatrixProduct) {
  std::optional<LaunchCheck> found = check(columnsOfTiles);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->arguments(), (llvm::SmallVector<uint32_t, 0>{1, 0}));
  EXPECT_TRUE(holds(*found, 32 * 32, 4096, 4096));
  EXPECT_TRUE(holds(*found, 33 * 65, 4200, 8200)); // the last group has one row
  EXPECT_TRUE(holds(*found, 1, 1, 1));
  EXPECT_FALSE(holds(*found, 33 * 32, 4096, 4096)); // programs beyond the last row: `size` may be 0
  EXPECT_FALSE(holds(*found, 1024, 4096, -4096));
  EXPECT_FALSE(holds(*found, 1024, -4096, 4096));
}

TEST_F(Checks, ProductsThatWrap) {
  std::optional<LaunchCheck> found = check(R"(
  %pid = tile.program_id 0
  %start = arith.muli %pid, %n : i32
  %i = tile.arange 0 : tensor<128xi32>
  %starts = tile.splat %start : i32 -> tensor<128xi32>
  %places = arith.addi %starts, %i {wanted} : tensor<128xi32>)");
  ASSERT_TRUE(found);
  EXPECT_TRUE(holds(*found, 1 << 24, 0, 127));
  EXPECT_TRUE(holds(*found, 1 << 24, 0, 128)); // the last number is the largest that there is
  EXPECT_FALSE(holds(*found, (1 << 24) + 1, 0, 128));
  EXPECT_FALSE(holds(*found, 2, 0, -1));
}

TEST_F(Checks, LoopsAndWideNumbers) {
  std::optional<LaunchCheck> found = check(R"(
  %zero = arith.constant 0 : i64
  %wide = arith.extsi %m : i32 to i64
  %count = tile.num_programs 0
  %countWide = arith.extsi %count : i32 to i64
  scf.for %i = %wide to %w step %countWide : i64 {
    %sum = arith.addi %i, %wide {wanted} : i64
  })");
  ASSERT_TRUE(found);
  EXPECT_TRUE(holds(*found, 4, 3, 0, int64_t(1) << 40));
  EXPECT_FALSE(holds(*found, 4, -3, 0, int64_t(1) << 40));
  EXPECT_FALSE(holds(*found, 4, 3, 0, std::numeric_limits<int64_t>::max()));
}

TEST_F(Checks, WhatMemoryHoldsCannotBeChecked) {
  EXPECT_FALSE(check(R"(
  %x = tile.load %p : !tile.ptr<i32> -> i32
  %sum = arith.addi %x, %n {wanted} : i32)"));
  EXPECT_FALSE(check(R"(
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r = scf.for %i = %zero to %n step %one iter_args(%c = %zero) -> (i32) : i32 {
    %next = arith.addi %c, %i {wanted} : i32
    scf.yield %next : i32
  })"));
}

TEST_F(Checks, AsText) {
  std::optional<LaunchCheck> found = check(columnsOfTiles);
  ASSERT_TRUE(found);
  std::string text = found->text();
  EXPECT_EQ(LaunchCheck::parse(text), found);
  EXPECT_TRUE(LaunchCheck::parse("")->isEmpty());
  for (size_t length = 1; length < text.size(); ++length)
    if (std::optional<LaunchCheck> part = LaunchCheck::parse(llvm::StringRef(text).take_front(length)))
      for (uint32_t step : part->notNegative)
        EXPECT_LT(step, part->steps.size());
  for (const char *damaged : {"x", "0", "99,32,32,0,0,0,0,0:0", "8,32,32,2,0,0,0,0:0", "1,32,32,0,0,0,-1,-1:0",
                              "2,32,32,0,0,0,3,3:0", "0,65,32,0,0,0,0,0:0", "0,32,32,0,0,0,0,0:1"})
    EXPECT_FALSE(LaunchCheck::parse(damaged)) << damaged;
}

} // namespace
