// The meaning of operators on run-time values: promotion, broadcasting, casts, comparisons, subscripts.
#include "compiler/language/test/Literal.h"
#include "compiler/language/test/RecordingBuilder.h"
#include <cmath>
#include <fstream>
#include <gtest/gtest.h>

using namespace nacre;
using namespace nacre::test;

namespace {

Type typeOfName(llvm::StringRef name) {
  for (int kind = 0; kind <= static_cast<int>(ScalarKind::Float64); ++kind)
    if (Type type = Type::scalar(static_cast<ScalarKind>(kind)); type.str() == name)
      return type;
  return Type();
}

class Semantics : public testing::Test {
protected:
  Object x = named("x", float32(), {4}), h = named("h", float16(), {4}), i = named("i", int32(), {4}),
         u = named("u", uint8(), {4});
  Object p = named("p", Type::pointer(float32())), s = named("s", int32());
  RecordingEvaluation evaluation;

  std::string apply(Operator op, const Object &lhs, const Object &rhs) {
    return show(applyOperator(evaluation, op, lhs, rhs));
  }
  std::string compare(Comparison op, const Object &lhs, const Object &rhs) {
    return show(applyComparison(evaluation, op, lhs, rhs));
  }
  std::string castOf(const Object &value, Type type) { return show(castTo(evaluation, value.value(), type)); }
};

TEST_F(Semantics, PromotionAgreesWithTheTable) {
  std::ifstream table(NACRE_LANGUAGE_TABLES "/promotion_cases.txt");
  ASSERT_TRUE(table);
  int count = 0;
  for (std::string line; std::getline(table, line); ++count) {
    llvm::SmallVector<llvm::StringRef> fields;
    llvm::StringRef(line).split(fields, '\t');
    ASSERT_EQ(fields.size(), 4u) << line;
    Object lhs = textValue(typeOfName(fields[0]), "a");
    Object rhs = typeOfName(fields[1]) ? Object(textValue(typeOfName(fields[1]), "b")) : literal(fields[1]);
    for (bool forDivision : {false, true}) {
      std::string result;
      try {
        result = promote(evaluation, lhs, rhs, forDivision).str();
        EXPECT_EQ(promote(evaluation, rhs, lhs, forDivision).str(), result) << "the other way round: " << line;
      } catch (CompileError &) {
        result = "error";
      }
      EXPECT_EQ(result, fields[forDivision ? 3 : 2].str()) << line;
    }
  }
  EXPECT_EQ(count, 18 * 18 + 18 * 11);
}

TEST_F(Semantics, Arithmetic) {
  EXPECT_EQ(apply(Operator::Add, x, i), "AddF(x, SignedToFloat(i)) : fp32[4]");
  EXPECT_EQ(apply(Operator::Mul, h, 2.0), "MulF(h, 2.0) : fp16[4]");
  EXPECT_EQ(apply(Operator::Sub, 1, i), "SubI(1, i) : i32[4]");
  EXPECT_EQ(apply(Operator::Add, u, 255), "AddI(u, 255) : u8[4]");
  EXPECT_EQ(apply(Operator::Mul, u, 0.5), "MulF(UnsignedToFloat(u), 0.5) : fp32[4]");
  EXPECT_EQ(apply(Operator::Div, i, s), "DivF(SignedToFloat(i), SignedToFloat(s)) : fp32[4]");
  EXPECT_EQ(apply(Operator::Div, h, h), "DivF(FloatExtend(h), FloatExtend(h)) : fp32[4]");
  EXPECT_EQ(apply(Operator::FloorDiv, i, 2), "DivS(i, 2) : i32[4]");
  EXPECT_EQ(apply(Operator::Mod, u, u), "RemU(u, u) : u8[4]");
  EXPECT_EQ(apply(Operator::Mod, h, 2.0), "RemF(FloatExtend(h), 2.0) : fp32[4]");
  EXPECT_EQ(apply(Operator::Shr, named("n", int8(), {4}), named("m", uint32(), {4})),
            "ShrS(ExtendSigned(n), m) : u32[4]");
  EXPECT_EQ(apply(Operator::Xor, named("b", int1()), true), "Xor(b, 1) : i1");
  EXPECT_EQ(show(applyUnary(evaluation, UnaryOperator::Minus, i)), "SubI(0, i) : i32[4]");
  EXPECT_EQ(show(applyUnary(evaluation, UnaryOperator::Invert, u)), "Not(u) : u8[4]");
  Type fp8 = Type::scalar(ScalarKind::Float8E5);
  Object f = named("f", fp8);
  EXPECT_EQ(apply(Operator::Add, f, f), "FloatTruncate(AddF(FloatExtend(f), FloatExtend(f))) : fp8e5");
}

TEST_F(Semantics, Broadcasting) {
  Object column = named("c", float32(), {4, 1}), row = named("r", float32(), {8});
  EXPECT_EQ(apply(Operator::Add, column, row), "AddF(broadcast(c), broadcast(expand(r,0))) : fp32[4, 8]");
  EXPECT_EQ(apply(Operator::Add, column, s), "AddF(c, SignedToFloat(s)) : fp32[4, 1]");
}

TEST_F(Semantics, Pointers) {
  EXPECT_EQ(apply(Operator::Add, p, i), "addptr(p, i) : *fp32[4]");
  EXPECT_EQ(apply(Operator::Add, u, p), "addptr(p, ExtendUnsigned(u)) : *fp32[4]");
  EXPECT_EQ(apply(Operator::Sub, p, 3), "addptr(p, SubI(0, 3)) : *fp32");
  EXPECT_EQ(apply(Operator::Add, p, named("n", int16())), "addptr(p, ExtendSigned(n)) : *fp32");
}

TEST_F(Semantics, Comparisons) {
  EXPECT_EQ(compare(Comparison::Lt, i, 7), "LtS(i, 7) : i1[4]");
  EXPECT_EQ(compare(Comparison::Lt, named("a", int32()), named("b", uint32())), "LtU(Bitcast(a), b) : i1");
  EXPECT_EQ(compare(Comparison::Lt, named("a", int64()), named("b", uint32())), "LtS(a, ExtendUnsigned(b)) : i1");
  EXPECT_EQ(compare(Comparison::Ne, x, x), "NeF(x, x) : i1[4]");
  EXPECT_EQ(compare(Comparison::Eq, Object::makeTuple({s, 1}), Object::makeTuple({2, 1})), "And(Eq(s, 2), 1) : i1");
  Object b = named("b", int1(), {4});
  EXPECT_EQ(show(applyLogical(evaluation, true, b, named("q", int1()))), "And(b, q) : i1[4]");
}

TEST_F(Semantics, Casts) {
  Type e4 = Type::scalar(ScalarKind::Float8E4NV), e5 = Type::scalar(ScalarKind::Float8E5);
  EXPECT_EQ(castOf(x, int8()), "FloatToSigned(x) : i8[4]");
  EXPECT_EQ(castOf(x, uint64()), "FloatToUnsigned(x) : u64[4]");
  EXPECT_EQ(castOf(h, int32()), "FloatToSigned(FloatExtend(h)) : i32[4]");
  EXPECT_EQ(castOf(x, int1()), "NeF(x, 0.0) : i1[4]");
  EXPECT_EQ(castOf(i, int1()), "Ne(i, 0) : i1[4]");
  EXPECT_EQ(castOf(i, uint32()), "Bitcast(i) : u32[4]");
  EXPECT_EQ(castOf(i, int64()), "ExtendSigned(i) : i64[4]");
  EXPECT_EQ(castOf(u, int32()), "ExtendUnsigned(u) : i32[4]");
  EXPECT_EQ(castOf(h, bfloat16()), "FloatTruncate(FloatExtend(h)) : bf16[4]");
  EXPECT_EQ(castOf(x, e4), "FloatTruncate(x) : fp8e4nv[4]");
  EXPECT_EQ(castOf(named("f", e4), e5), "FloatTruncate(FloatExtend(f)) : fp8e5");
  EXPECT_EQ(castOf(named("f", e4), float16()), "FloatExtend(f) : fp16");
  EXPECT_EQ(castOf(p, int64()), "PointerToInt(p) : i64");
  EXPECT_EQ(castOf(p, int1()), "Ne(PointerToInt(p), 0) : i1");
  EXPECT_EQ(castOf(named("n", int64()), Type::pointer(float16())), "IntToPointer(n) : *fp16");
  EXPECT_EQ(show(castTo(evaluation, x.value(), float16(), Rounding::TowardZero)), "FloatTruncateRtz(x) : fp16[4]");
  EXPECT_EQ(show(castTo(evaluation, x.value(), int32(), std::nullopt, true)), "Bitcast(x) : i32[4]");
}

TEST_F(Semantics, NumbersBecomeTheSmallestTypeThatHoldsThem) {
  auto typeOf = [&](Object number) { return toValue(evaluation, number).type().str(); };
  Integer two(2);
  EXPECT_EQ(typeOf(true), "int1");
  EXPECT_EQ(typeOf(-1), "int32");
  EXPECT_EQ(typeOf(int64_t(1) << 31), "uint32");
  EXPECT_EQ(typeOf(int64_t(1) << 32), "int64");
  EXPECT_EQ(typeOf(*power(two, Integer(63))), "uint64");
  EXPECT_EQ(typeOf(1.5), "fp32");
  EXPECT_EQ(typeOf(1e300), "fp64");
  EXPECT_EQ(typeOf(1e-40), "fp64");
  EXPECT_EQ(typeOf(std::nan("")), "fp32");
  EXPECT_EQ(show(toValue(evaluation, -1, int8())), "-1 : i8");
  EXPECT_EQ(show(toValue(evaluation, 0.0, int32())), "0 : i32");
}

TEST_F(Semantics, Subscripts) {
  Object everything = Object::makeSlice(Object(), Object(), Object());
  Object m = named("m", float32(), {4, 8});
  auto at = [&](const Object &object, std::vector<Object> index) {
    return show(subscript(evaluation, object, Object::makeTuple(std::move(index))));
  };
  EXPECT_EQ(at(x, {everything, Object()}), "expand(x,1) : fp32[4, 1]");
  EXPECT_EQ(at(x, {Object(), everything}), "expand(x,0) : fp32[1, 4]");
  EXPECT_EQ(at(m, {EllipsisValue(), Object()}), "expand(m,2) : fp32[4, 8, 1]");
  EXPECT_EQ(at(m, {1, -1}), "m[1,7] : fp32");
  EXPECT_EQ(at(m, {0}), "reshape(gather(m, broadcast(reshape(arange(0,1))),0)) : fp32[8]");
  EXPECT_EQ(at(m, {everything, Object::makeSlice(2, 6, 2)}),
            "gather(m, broadcast(reshape(AddI(MulI(arange(0,2), 2), 2))),1) : fp32[4, 2]");
  EXPECT_EQ(show(subscript(evaluation, s, 0)), "s : i32");
  EXPECT_EQ(show(subscript(evaluation, s, Object())), "s : i32[1]");
}

TEST_F(Semantics, Attributes) {
  auto of = [&](const Object &object, const char *name) { return show(*attribute(evaluation, object, name)); };
  Object m = named("m", float32(), {4, 8});
  EXPECT_EQ(of(m, "shape"), "(4, 8)");
  EXPECT_EQ(of(m, "dtype"), "fp32");
  EXPECT_EQ(of(m, "type"), "<['4', '8'], fp32>");
  EXPECT_EQ(of(m, "numel"), "32");
  EXPECT_EQ(of(m, "T"), "permute(m,[1,0]) : fp32[8, 4]");
  EXPECT_EQ(of(bfloat16(), "primitive_bitwidth"), "16");
  EXPECT_EQ(of(bfloat16(), "fp_mantissa_width"), "7");
  EXPECT_EQ(of(Type::pointer(int8()), "element_ty"), "int8");
  EXPECT_EQ(of(3, "value"), "3");
  EXPECT_EQ(of(3, "dtype"), "int32");
  BoundMethod sum = attribute(evaluation, m, "sum")->as<BoundMethod>();
  EXPECT_EQ(sum.builtin, nullptr);
  EXPECT_EQ(sum.name, "sum");
  EXPECT_EQ(attribute(evaluation, m, "to")->as<BoundMethod>().builtin, findMethod("to"));
  EXPECT_FALSE(attribute(evaluation, m, "colour").has_value());
  const Builtin *isFp8 = attribute(evaluation, bfloat16(), "is_fp8")->as<BoundMethod>().builtin;
  EXPECT_EQ(callBuiltin(evaluation, *isFp8, {bfloat16()}, {}).repr(), "False");
}

TEST_F(Semantics, Conditions) {
  EXPECT_TRUE(std::get<bool>(toCondition(evaluation, 3)));
  EXPECT_FALSE(std::get<bool>(toCondition(evaluation, Object())));
  EXPECT_EQ(show(std::get<Value>(toCondition(evaluation, s))), "Ne(s, 0) : i1");
  EXPECT_EQ(show(std::get<Value>(toCondition(evaluation, named("t", int1(), {1, 1})))), "t[0,0] : i1");
}

TEST(Types, ShortNamesReadBack) {
  for (const char *name :
       {"i1", "i8", "u64", "bf16", "fp8e4b15", "*fp32", "*kfp16", "**i8", "fp16[64, 64]", "tensordesc<fp16[64, 64]>"}) {
    Type type = Type::parseShortName(name);
    ASSERT_TRUE(type) << name;
    EXPECT_EQ(type.shortName(), name);
  }
  EXPECT_EQ(Type::parseShortName("u1"), int1());
  for (const char *name : {"", "float", "*", "fp16[0]", "tensordesc<fp16>", "fp16[4"})
    EXPECT_FALSE(Type::parseShortName(name)) << name;
}

} // namespace
