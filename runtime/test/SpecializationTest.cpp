// What a launch makes of the value of an argument.
#include "runtime/launch/Specialization.h"
#include "runtime/launch/Signature.h"
#include "gtest/gtest.h"

using namespace nacre;

namespace {

ParameterInfo parameter(std::string annotation, bool isConst = false) {
  ParameterInfo info;
  info.name = "p";
  info.annotation = std::move(annotation);
  info.isConst = isConst;
  return info;
}

std::string shown(ArgumentSpec spec) {
  spec.name = "p";
  return signatureText(spec);
}

TEST(Specialization, Integers) {
  auto integer = [](int64_t value, bool isUnsigned = false, const char *annotation = "") {
    return shown(integerArgument(parameter(annotation), value, isUnsigned));
  };
  EXPECT_EQ(integer(7), "p=i32");
  EXPECT_EQ(integer(32), "p=i32:16");
  EXPECT_EQ(integer(-16), "p=i32:16");
  EXPECT_EQ(integer(1), "p=1");
  EXPECT_EQ(integer((int64_t(1) << 31) + 1), "p=i64");
  EXPECT_EQ(integer(-1, true), "p=u64");
  EXPECT_EQ(integer(1, false, "tl.int64"), "p=i64");
  EXPECT_EQ(integer(48, false, "tl.int64"), "p=i64:16");
  EXPECT_EQ(integer(16, false, "tl.int1"), "p=i1");
  EXPECT_EQ(integer(16, false, "tl.float32"), "p=fp32");
  ParameterInfo constant = parameter("tl.constexpr");
  constant.isConstexpr = true;
  EXPECT_EQ(shown(integerArgument(constant, 16, false)), "p=16");
  EXPECT_EQ(shown(integerArgument(constant, -1, true)), "p=18446744073709551615");
}

TEST(Specialization, FloatsAndBools) {
  EXPECT_EQ(shown(floatArgument(parameter(""), 0.5)), "p=fp32");
  EXPECT_EQ(shown(floatArgument(parameter("tl.float64"), 0.5)), "p=fp64");
  EXPECT_EQ(shown(boolArgument(parameter(""), true)), "p=i1");
}

TEST(Specialization, Pointers) {
  EXPECT_EQ(shown(pointerArgument(parameter(""), float32(), 0x1004)), "p=*fp32");
  EXPECT_EQ(shown(pointerArgument(parameter(""), float32(), 0x1010)), "p=*fp32:16");
  EXPECT_EQ(shown(pointerArgument(parameter("tl.const", true), float16(), 8)), "p=*kfp16");
  EXPECT_EQ(shown(pointerArgument(parameter("'*bf16'"), int16(), 8)), "p=*bf16");
}

TEST(Specialization, Annotations) {
  EXPECT_EQ(annotatedType("tl.uint8"), uint8());
  EXPECT_EQ(annotatedType("\"triton.language.bfloat16\""), bfloat16());
  EXPECT_EQ(annotatedType("i1"), int1());
  EXPECT_EQ(annotatedType("int"), int32());
  EXPECT_EQ(annotatedType("float"), float32());
  EXPECT_EQ(annotatedType("tl.double"), float64());
  EXPECT_EQ(annotatedType("*ktorch.float8_e5m2"), Type::pointer(Type::scalar(ScalarKind::Float8E5), true));
  for (const char *other : {"", "tl.constexpr", "tl.const", "integer", "floats", "tl.tensor", "**fp32"})
    EXPECT_FALSE(annotatedType(other)) << other;
}

TEST(Specialization, DefaultsCompleteArguments) {
  auto text = std::make_shared<SourceText>();
  text->fileName = "kernel.py";
  text->text = "@triton.jit\ndef kernel(x, n, BLOCK: tl.constexpr = 64):\n    pass\n";
  FunctionSource kernel = findFunction(*makeFileEmbedder(text), "kernel");
  ArgumentSpec x = pointerArgument(parameter(""), float32(), 4), n = integerArgument(parameter(""), 3, false);
  EXPECT_EQ(signatureText(completeArguments(kernel, {x, n})), "x=*fp32, n=i32, BLOCK=64");
  EXPECT_THROW(completeArguments(kernel, {x}), CompileError);
}

} // namespace
