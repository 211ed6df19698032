// Constexprs mean what CPython says: operators against a table it wrote, and texts.
#include "compiler/language/meaning/ConstexprOperators.h"
#include "compiler/language/test/Literal.h"
#include "compiler/language/test/RecordingBuilder.h"
#include <cmath>
#include <fstream>
#include <gtest/gtest.h>

using namespace nacre;
using namespace nacre::test;

namespace {

Object evaluate(Evaluation &evaluation, llvm::StringRef symbol, const Object &lhs, const Object &rhs) {
  static const std::map<std::string, Comparison> comparisons = {
      {"==", Comparison::Eq}, {"!=", Comparison::Ne}, {"<", Comparison::Lt}, {"<=", Comparison::Le},
      {">", Comparison::Gt},  {">=", Comparison::Ge}, {"in", Comparison::In}};
  if (auto found = comparisons.find(symbol.str()); found != comparisons.end())
    return applyComparison(evaluation, found->second, lhs, rhs);
  for (int op = 0; op <= static_cast<int>(Operator::Shr); ++op)
    if (symbol == operatorSymbol(static_cast<Operator>(op)))
      return applyOperator(evaluation, static_cast<Operator>(op), lhs, rhs);
  throw std::invalid_argument("no operator " + symbol.str());
}

TEST(Constexpr, OperatorsAgreeWithPython) {
  std::ifstream table(NACRE_LANGUAGE_TABLES "/constexpr_cases.txt");
  ASSERT_TRUE(table);
  int count = 0;
  for (std::string line; std::getline(table, line); ++count) {
    llvm::SmallVector<llvm::StringRef> fields;
    llvm::StringRef(line).split(fields, '\t');
    ASSERT_EQ(fields.size(), 4u) << line;
    RecordingEvaluation evaluation;
    std::string result;
    try {
      result = evaluate(evaluation, fields[0], literal(fields[1]), literal(fields[2])).repr();
    } catch (CompileError &) {
      result = "error";
    }
    EXPECT_EQ(result, fields[3].str()) << line;
  }
  EXPECT_GT(count, 3000);
}

TEST(Constexpr, FloatsPrintAsPythonPrintsThem) {
  for (const char *text : {"0.1", "1.0", "1e+16", "123456789012345.0", "1e-05", "0.0001", "1.7976931348623157e+308",
                           "5e-324", "3.141592653589793", "-0.0"}) {
    double value = std::strtod(text, nullptr);
    EXPECT_EQ(Object(value).repr(), text);
  }
  EXPECT_EQ(Object(HUGE_VAL).repr(), "inf");
  EXPECT_EQ(Object(std::nan("")).repr(), "nan");
}

TEST(Constexpr, ObjectsPrintAsPythonPrintsThem) {
  EXPECT_EQ(Object::makeTuple({1, "a'b", Object(), true}).repr(), "(1, \"a'b\", None, True)");
  EXPECT_EQ(Object::makeTuple({1}).repr(), "(1,)");
  EXPECT_EQ(Object(std::string("tab\tnew\nline\\")).repr(), "'tab\\tnew\\nline\\\\'");
  EXPECT_EQ(Object(float32()).repr(), "fp32");
  EXPECT_EQ(Object(Type::block(bfloat16(), {4, 2})).repr(), "<['4', '2'], bf16>");
  EXPECT_EQ(Object(Type::pointer(float16(), true)).repr(), "const_pointer<fp16>");
  auto point = std::make_shared<TupleValue>(TupleValue{{1, 2}, {"x", "y"}, "Point", false});
  EXPECT_EQ(Object(std::shared_ptr<const TupleValue>(point)).repr(), "Point(x=1, y=2)");
}

TEST(Constexpr, KeysTellEqualNumbersOfDifferentKindsApart) {
  EXPECT_TRUE(Object::equal(1, 1.0));
  EXPECT_TRUE(Object::equal(true, 1));
  EXPECT_NE(Object(1).key(), Object(1.0).key());
  EXPECT_NE(Object(1).key(), Object(true).key());
  EXPECT_NE(Object(0.0).key(), Object(-0.0).key());
  EXPECT_NE(Object::makeTuple({"a", "b"}).key(), Object::makeTuple({"ab"}).key());
  EXPECT_NE(Object(float32()).key(), Object("fp32").key());
  EXPECT_EQ(Object::makeTuple({1, float32()}).key(), Object::makeTuple({1, float32()}).key());
}

TEST(Constexpr, FormatSpecifications) {
  RecordingEvaluation evaluation;
  auto format = [&](Object object, const char *specification) {
    return formatSpecified(evaluation, object, specification);
  };
  EXPECT_EQ(format(3.14159, ".2f"), "3.14");
  EXPECT_EQ(format(255, "#06x"), "0x00ff");
  EXPECT_EQ(format(1234567, ","), "1,234,567");
  EXPECT_EQ(format("ab", ">5"), "   ab");
  EXPECT_EQ(format("ab", "*^6"), "**ab**");
  EXPECT_EQ(format(5, "+d"), "+5");
  EXPECT_EQ(format(0.25, "%"), "25.000000%");
  EXPECT_EQ(format(float32(), ""), "fp32");
  EXPECT_EQ(errorOf([&] { format("ab", "d"); }), "the format specification 'd' does not suit the str 'ab'");
}

TEST(Constexpr, IdentityAndMembership) {
  RecordingEvaluation evaluation;
  auto compare = [&](Comparison op, Object a, Object b) { return applyComparison(evaluation, op, a, b).repr(); };
  Object x = named("x", float32(), {4});
  EXPECT_EQ(compare(Comparison::Is, Object(), Object()), "True");
  EXPECT_EQ(compare(Comparison::Is, x, Object()), "False");
  EXPECT_EQ(compare(Comparison::IsNot, x, Object()), "True");
  EXPECT_EQ(compare(Comparison::Eq, x, Object()), "False");
  EXPECT_EQ(compare(Comparison::Is, float32(), float32()), "True");
  EXPECT_EQ(compare(Comparison::In, float32(), Object::makeTuple({float16(), float32()})), "True");
}

TEST(Constexpr, TuplesAreIndexedAndSliced) {
  RecordingEvaluation evaluation;
  Object tuple = Object::makeTuple({10, 20, 30, 40});
  EXPECT_EQ(subscript(evaluation, tuple, -1).repr(), "40");
  EXPECT_EQ(subscript(evaluation, tuple, Object::makeSlice(1, Object(), 2)).repr(), "(20, 40)");
  EXPECT_EQ(subscript(evaluation, tuple, Object::makeSlice(Object(), Object(), -1)).repr(), "(40, 30, 20, 10)");
  EXPECT_EQ(subscript(evaluation, "hello", Object::makeSlice(1, 3, Object())).repr(), "'el'");
  EXPECT_EQ(errorOf([&] { subscript(evaluation, tuple, 4); }), "index 4 is out of range for a tuple of 4");
}

} // namespace
