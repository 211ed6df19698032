// Identities of combine regions: of the operations that have one, and none for others.
#include "compiler/analysis/ReductionIdentity.h"
#include "compiler/ir/tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace mlir;

namespace {

// The identity of a reduction whose region is this text, as text; empty: none.
std::string identity(const std::string &type, const std::string &body) {
  MLIRContext context;
  context.loadDialect<nacre::tile::TileDialect, arith::ArithDialect, scf::SCFDialect, func::FuncDialect>();
  std::string text = "func.func @k(%x: tensor<8x" + type + ">) {\n  %r = tile.reduce %x axis 0 {\n  ^bb0(%a: " + type +
                     ", %b: " + type + "):\n" + body + "\n    tile.yield %c : " + type + "\n  } : (tensor<8x" + type +
                     ">) -> " + type + "\n  return\n}";
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  std::string found;
  if (!module)
    return "no module";
  module->walk([&](nacre::tile::ReduceOp op) {
    if (TypedAttr value = nacre::reductionIdentity(op.getCombine())) {
      llvm::raw_string_ostream stream(found);
      value.print(stream);
    }
  });
  return found;
}

TEST(ReductionIdentity, OfKnownOperations) {
  EXPECT_EQ(identity("f32", "%c = arith.addf %a, %b : f32"), "-0.000000e+00 : f32");
  EXPECT_EQ(identity("f16", "%c = arith.mulf %b, %a : f16"), "1.000000e+00 : f16");
  EXPECT_EQ(identity("bf16", "%c = arith.maximumf %a, %b : bf16"), "0xFF80 : bf16");
  EXPECT_EQ(identity("i32", "%c = arith.minsi %a, %b : i32"), "2147483647 : i32");
  EXPECT_EQ(identity("i8", "%c = arith.maxsi %a, %b : i8"), "-128 : i8");
  EXPECT_EQ(identity("i64", "%c = arith.andi %a, %b : i64"), "-1 : i64");
}

TEST(ReductionIdentity, NoneOfOthers) {
  EXPECT_EQ(identity("i32", "%c = arith.subi %a, %b : i32"), "");
  EXPECT_EQ(identity("i32", "%c = arith.addi %a, %a : i32"), "");
  EXPECT_EQ(identity("i32", "%d = arith.addi %a, %b : i32\n%c = arith.addi %d, %b : i32"), "");
}

} // namespace
