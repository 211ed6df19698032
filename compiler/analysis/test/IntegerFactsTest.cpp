// Ranges, wrapping and divisibility, asked of the values that a small kernel names.
#include "compiler/analysis/IntegerFacts.h"
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

class Facts : public testing::Test {
protected:
  void read(const char *body) {
    context.loadDialect<tile::TileDialect, arith::ArithDialect, scf::SCFDialect, func::FuncDialect>();
    std::string text = std::string("func.func @k(%n: i32 {tile.divisibility = 16 : i64}, %m: i32, %w: i64, %b: i8) "
                                   "attributes {tile.kernel} {\n") +
                       body + "\n  return\n}";
    module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module);
  }
  // The operation that carries the attribute `name`.
  Operation *op(StringRef name) {
    Operation *found = nullptr;
    module->walk([&](Operation *candidate) {
      if (candidate->hasAttr(name))
        found = candidate;
    });
    assert(found);
    return found;
  }
  IntegerRange range(StringRef name) { return facts.range(op(name)->getResult(0)); }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  IntegerFacts facts;
};

TEST_F(Facts, SumsAndProductsOfKnownRanges) {
  read(R"(
  %i = tile.arange 3 : tensor<8xi32>
  %c = arith.constant dense<-4> : tensor<8xi32>
  %sum = arith.addi %i, %c {sum} : tensor<8xi32>
  %difference = arith.subi %c, %i {difference} : tensor<8xi32>
  %product = arith.muli %i, %c {product} : tensor<8xi32>
  %two = arith.constant dense<2> : tensor<8xi32>
  %shifted = arith.shli %i, %two {shifted} : tensor<8xi32>)");
  EXPECT_EQ(range("sum"), (IntegerRange{-1, 6}));
  EXPECT_EQ(range("difference"), (IntegerRange{-14, -7}));
  EXPECT_EQ(range("product"), (IntegerRange{-40, -12}));
  EXPECT_EQ(range("shifted"), (IntegerRange{12, 40}));
  for (StringRef name : {"sum", "difference", "product", "shifted"})
    EXPECT_TRUE(facts.neverWraps(op(name)));
}

TEST_F(Facts, WhatMayWrapIsAnything) {
  read(R"(
  %one = arith.constant 1 : i32
  %sum = arith.addi %m, %one {sum} : i32
  %square = arith.muli %m, %m {square} : i32
  %wide = arith.addi %w, %w {wide} : i64
  %i = tile.arange 0 : tensor<256xi32>
  %narrow = arith.trunci %i {narrow} : tensor<256xi32> to tensor<256xi8>
  %j = tile.arange 0 : tensor<128xi32>
  %fits = arith.trunci %j {fits} : tensor<128xi32> to tensor<128xi8>)");
  EXPECT_EQ(range("sum"), (IntegerRange{INT32_MIN, INT32_MAX}));
  for (StringRef name : {"sum", "square", "wide", "narrow"})
    EXPECT_FALSE(facts.neverWraps(op(name))) << name.str();
  EXPECT_EQ(range("narrow"), (IntegerRange{-128, 127}));
  EXPECT_TRUE(facts.neverWraps(op("fits")));
  EXPECT_EQ(range("fits"), (IntegerRange{0, 127}));
}

TEST_F(Facts, RemaindersQuotientsAndMasks) {
  read(R"(
  %d = arith.constant 10 : i32
  %rest = arith.remsi %m, %d {rest} : i32
  %by_unknown = arith.divsi %d, %m {by_unknown} : i32
  %quotient = arith.divsi %rest, %d {quotient} : i32
  %low = arith.andi %m, %d {low} : i32
  %byte = arith.extui %b {byte} : i8 to i32
  %signed = arith.extsi %b {signed} : i8 to i32
  %pid = tile.program_id 0 {pid}
  %positive = arith.remsi %pid, %d {positive} : i32)");
  EXPECT_EQ(range("rest"), (IntegerRange{-9, 9}));
  EXPECT_EQ(range("by_unknown"), (IntegerRange{-10, 10})); // by zero it is -1
  EXPECT_EQ(range("quotient"), (IntegerRange{0, 0}));
  EXPECT_EQ(range("low"), (IntegerRange{0, 10}));
  EXPECT_EQ(range("byte"), (IntegerRange{0, 255}));
  EXPECT_EQ(range("signed"), (IntegerRange{-128, 127}));
  EXPECT_EQ(range("pid"), (IntegerRange{0, INT32_MAX}));
  EXPECT_EQ(range("positive"), (IntegerRange{0, 9}));
}

TEST_F(Facts, LoopsCountUpWithinTheirBounds) {
  read(R"(
  %zero = arith.constant 0 : i32
  %ten = arith.constant 10 : i32
  %r = scf.for %i = %zero to %ten step %m iter_args(%c = %zero) -> (i32) : i32 {
    %next = arith.addi %i, %ten {next} : i32
    %carried = arith.addi %c, %ten {carried} : i32
    scf.yield %carried : i32
  })");
  EXPECT_EQ(range("next"), (IntegerRange{10, 19}));
  EXPECT_EQ(range("carried"), (IntegerRange{INT32_MIN, INT32_MAX}));
}

TEST_F(Facts, AssumptionsInTheBlockThatMakesTheValue) {
  read(R"(
  %zero = arith.constant 0 : i32
  %hundred = arith.constant 100 : i32
  %positive = arith.cmpi sgt, %m, %zero : i32
  %small = arith.cmpi sge, %hundred, %m : i32
  %both = arith.andi %positive, %small : i1
  tile.assume %both
  %known = arith.addi %m, %zero {known} : i32
  scf.if %positive {
    %here = arith.cmpi sgt, %n, %zero : i32
    tile.assume %here
  }
  %elsewhere = arith.addi %n, %zero {elsewhere} : i32)");
  EXPECT_EQ(range("known"), (IntegerRange{1, 100}));
  EXPECT_EQ(range("elsewhere"), (IntegerRange{INT32_MIN, INT32_MAX}));
}

TEST_F(Facts, DivisibilityOutlivesWrapping) {
  read(R"(
  %zero = arith.constant 0 : i32
  %twelve = arith.constant 12 : i32
  %product = arith.muli %n, %twelve {product} : i32
  %sum = arith.addi %product, %n {sum} : i32
  %unknown = arith.addi %product, %m {unknown} : i32
  %r = scf.for %i = %zero to %m step %n iter_args(%c = %product) -> (i32) : i32 {
    %index = arith.addi %i, %zero {index} : i32
    %carried = arith.addi %c, %n {carried} : i32
    scf.yield %carried : i32
  })");
  AxisAnalysis axes(*module);
  auto divisor = [&](StringRef name) { return axes.info(op(name)->getResult(0)).divisibility(); };
  EXPECT_EQ(divisor("product"), 64);
  EXPECT_EQ(divisor("sum"), 16);
  EXPECT_EQ(divisor("unknown"), 1);
  EXPECT_EQ(divisor("index"), 16);
  EXPECT_EQ(divisor("carried"), 16);
  EXPECT_EQ(IntegerFacts::powerOfTwoIn(0), IntegerFacts::mostDivisor);
  EXPECT_EQ(IntegerFacts::powerOfTwoIn(INT64_MIN), IntegerFacts::mostDivisor);
  EXPECT_EQ(IntegerFacts::powerOfTwoIn(-24), 8);
  EXPECT_EQ(IntegerFacts::product(IntegerFacts::mostDivisor, 2), IntegerFacts::mostDivisor);
}

// Sixty rounds of s = s * s + s: every value is asked for twice by the next.
TEST_F(Facts, DeepGraphsAreWalkedOnce) {
  std::string body;
  for (int i = 0; i < 60; ++i) {
    std::string last = i == 0 ? "%m" : "%s" + std::to_string(i - 1);
    body += "%p" + std::to_string(i) + " = arith.muli " + last + ", " + last + " : i32\n";
    body += "%s" + std::to_string(i) + " = arith.addi %p" + std::to_string(i) + ", " + last +
            (i == 59 ? " {last}" : "") + " : i32\n";
  }
  read(body.c_str());
  EXPECT_EQ(AxisAnalysis(*module).info(op("last")->getResult(0)).divisibility(), 1);
  EXPECT_EQ(range("last"), (IntegerRange{INT32_MIN, INT32_MAX}));
}

} // namespace
