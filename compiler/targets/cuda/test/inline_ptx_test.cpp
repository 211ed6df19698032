// The constraints of inline PTX: which register each value travels in, which results may share an operand's, which hold
// a value before.
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "compiler/targets/cuda/InlinePtx.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace nacre;
using namespace nacre::cuda;

namespace {

class InlinePtxTest : public testing::Test {
protected:
  InlinePtxTest() : b(UnknownLoc::get(&context), &context) {
    context.loadDialect<LLVM::LLVMDialect>();
    b.setInsertionPointToStart(&block);
  }

  Value value(Type type) { return block.addArgument(type, b.getLoc()); }
  Value i32() { return value(b.getI32Type()); }
  Value f32() { return value(b.getF32Type()); }
  Value pointer(unsigned space) { return value(LLVM::LLVMPointerType::get(&context, space)); }

  // Of the one text that was emitted.
  LLVM::InlineAsmOp code() {
    auto found = block.getOps<LLVM::InlineAsmOp>();
    EXPECT_TRUE(llvm::hasSingleElement(found));
    return *found.begin();
  }
  std::string constraints() { return code().getConstraints().str(); }

  MLIRContext context;
  Block block;
  simt::Builder b;
};

} // namespace

TEST_F(InlinePtxTest, EachTypeHasItsRegister) {
  InlinePtx ptx(b);
  std::string result = ptx.result(b.getF64Type());
  EXPECT_EQ(result, "$0");
  unsigned number = 1;
  for (Type type : {Type(b.getI1Type()), Type(b.getIntegerType(8)), Type(b.getIntegerType(16)), Type(b.getI32Type()),
                    Type(b.getI64Type()), Type(b.getF32Type()), Type(b.getF64Type())})
    EXPECT_EQ(ptx.operand(value(type)), "$" + std::to_string(number++));
  ptx.operand(pointer(1));
  ptx.operand(pointer(3)); // shared memory has addresses of 32 bits
  ptx.emit("some.instruction;");
  EXPECT_EQ(constraints(), "=d,b,h,h,r,l,f,d,l,r");
}

TEST_F(InlinePtxTest, OneInstructionMayWriteWhereItRead) {
  InlinePtx ptx(b);
  std::string old = ptx.result(b.getI32Type()), place = ptx.operand(pointer(1)), operand = ptx.operand(i32());
  std::string guard = ptx.guard(value(b.getI1Type()));
  EXPECT_EQ(guard, "@$3 ");
  SmallVector<Value> results =
      ptx.emit(guard + "atom.relaxed.gpu.global.add.u32 " + old + ", [" + place + "], " + operand + ";");
  EXPECT_EQ(constraints(), "=r,l,r,b");
  EXPECT_TRUE(code().getHasSideEffects());
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results.front().getType(), b.getI32Type());
}

TEST_F(InlinePtxTest, ResultsOfSeveralInstructionsAreEarlyClobbers) {
  InlinePtx ptx(b);
  std::string first = ptx.result(b.getI32Type()), second = ptx.result(b.getF32Type());
  std::string operand = ptx.operand(i32());
  SmallVector<Value> results =
      ptx.emit("mov.b32 " + first + ", " + operand + "; cvt.rn.f32.u32 " + second + ", " + operand + ";");
  EXPECT_EQ(constraints(), "=&r,=&f,r");
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].getType(), b.getI32Type());
  EXPECT_EQ(results[1].getType(), b.getF32Type());
}

TEST_F(InlinePtxTest, WhatStartsWithAValueIsTiedToIt) {
  // An instruction that is done when the next one starts.
  InlinePtx ptx(b);
  Value sums[] = {f32(), f32()};
  EXPECT_EQ(ptx.result(sums[0]), "$0");
  EXPECT_EQ(ptx.result(sums[1]), "$1");
  EXPECT_EQ(ptx.operand(i32()), "$4") << "the values that results start with come first among the operands";
  ptx.emit("mma.sync {$0, $1}, {$4}, {$4}, {$0, $1};");
  EXPECT_EQ(constraints(), "=f,=f,0,1,r");
  EXPECT_EQ(code().getOperands()[0], sums[0]);
  EXPECT_EQ(code().getOperands()[1], sums[1]);
}

TEST_F(InlinePtxTest, SumsUnderWayShareNoRegister) {
  // An asynchronous product writes its sums long after it was issued: a word of the left operand that equals one of the
  // sums must not be in the same register.
  InlinePtx ptx(b);
  Value sum = f32();
  ptx.result(sum);
  std::string word = ptx.operand(i32()), descriptor = ptx.operand(value(b.getI64Type()));
  ptx.emit("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0}, {" + word + "}, " + descriptor + ", 1, 1, 1, 0;");
  EXPECT_EQ(constraints(), "=&f,0,r,l");
}

TEST_F(InlinePtxTest, TiedResultsWithoutOperandsHaveTheirValues) {
  // A wait: it names its sums, and nothing else.
  InlinePtx ptx(b);
  Value sums[] = {f32(), i32()};
  for (Value sum : sums)
    ptx.result(sum);
  ptx.emit("wgmma.wait_group.sync.aligned 0;");
  EXPECT_EQ(constraints(), "=f,=r,0,1");
  EXPECT_EQ(code().getNumOperands(), 2u);
}

TEST_F(InlinePtxTest, BytesTravelInRegistersOf16Bits) {
  InlinePtx ptx(b);
  Type i8 = b.getIntegerType(8);
  std::string result = ptx.result(i8), operand = ptx.operand(value(i8));
  SmallVector<Value> results = ptx.emit("mov.b16 " + result + ", " + operand + ";", /*hasEffects=*/false);
  EXPECT_EQ(constraints(), "=h,h");
  EXPECT_FALSE(code().getHasSideEffects());
  EXPECT_TRUE(code().getOperands()[0].getType().isInteger(16));
  EXPECT_EQ(results.front().getType(), i8);
}

TEST_F(InlinePtxTest, CodeWithoutResultsHasOperandsAlone) {
  InlinePtx ptx(b);
  std::string place = ptx.operand(pointer(3)), operand = ptx.operand(i32());
  EXPECT_TRUE(ptx.emit("st.shared.b32 [" + place + "], " + operand + ";").empty());
  EXPECT_EQ(constraints(), "r,r");
}

TEST(ResultsMayShare, OnlyOfOneInstructionThatIsDone) {
  EXPECT_TRUE(resultsMayShare("add.s32 $0, $1, $2;"));
  EXPECT_TRUE(resultsMayShare("  @$3 ld.global.b32 $0, [$1];\n"));
  EXPECT_TRUE(resultsMayShare("wgmma.wait_group.sync.aligned 0;"));
  for (const char *text :
       {"add.s32 $0, $1, $2; add.s32 $0, $0, $2;", "{ add.s32 $0, $1, $2; }", "mov.b32 $0, $1;\nmov.b32 $2, $3;",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0}, $1, $2, 1, 1, 1, 0, 0;", "add.s32 $0, $1, $2"})
    EXPECT_FALSE(resultsMayShare(text)) << text;
}
