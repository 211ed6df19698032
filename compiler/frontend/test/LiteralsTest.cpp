// Numbers: every base and form, exact values, and what is refused.
#include "ParsedText.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <limits>

using namespace nacre;
using namespace nacre::test;

namespace {

std::string integer(const std::string &text) {
  std::string shown;
  llvm::raw_string_ostream(shown) << parseExpression(text).as<ast::IntegerLiteral>().value;
  return shown;
}

double real(const std::string &text) { return parseExpression(text).as<ast::FloatLiteral>().value; }

TEST(Integers, EveryBaseWithUnderscores) {
  EXPECT_EQ(integer("0"), "0");
  EXPECT_EQ(integer("00_00"), "0");
  EXPECT_EQ(integer("1_000_000"), "1000000");
  EXPECT_EQ(integer("0xDead_beef"), "3735928559");
  EXPECT_EQ(integer("0X_ff"), "255");
  EXPECT_EQ(integer("0b1010"), "10");
  EXPECT_EQ(integer("0B_1"), "1");
  EXPECT_EQ(integer("0o777"), "511");
}

TEST(Integers, AnySize) {
  EXPECT_EQ(integer("9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(integer("9223372036854775808"), "9223372036854775808");
  EXPECT_EQ(integer("18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(integer("0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF"), "340282366920938463463374607431768211455");
  std::string digits(4300, '9');
  EXPECT_EQ(integer(digits), digits);
}

TEST(Integers, ASignIsAnOperator) {
  ParsedExpression negative = parseExpression("-1");
  EXPECT_EQ(negative.as<ast::UnaryOperation>().op, ast::UnaryOperator::Minus);
}

TEST(Floats, EveryForm) {
  EXPECT_EQ(real("1.5"), 1.5);
  EXPECT_EQ(real("1."), 1.0);
  EXPECT_EQ(real(".5"), 0.5);
  EXPECT_EQ(real("1e3"), 1000.0);
  EXPECT_EQ(real("1E+3"), 1000.0);
  EXPECT_EQ(real("1.5e-3"), 0.0015);
  EXPECT_EQ(real("1_0.2_5e1_0"), 10.25e10);
  EXPECT_EQ(real("007.5"), 7.5);
}

TEST(Floats, RoundedToNearest) {
  EXPECT_EQ(real("0.1"), 0.1);
  EXPECT_EQ(real("9007199254740993.0"), 9007199254740992.0); // a tie goes to even
  EXPECT_EQ(real("2.2250738585072011e-308"), 2.2250738585072011e-308);
  EXPECT_EQ(real("5e-324"), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(real("1e-400"), 0.0);
  EXPECT_TRUE(std::isinf(real("1e400")));
}

TEST(Floats, AnImaginaryNumberIsKeptForTheErrorToPointAt) {
  EXPECT_EQ(parseExpression("1.5j").as<ast::ImaginaryLiteral>().value, 1.5);
}

TEST(Numbers, AKeywordMayFollowAtOnce) {
  ParsedExpression conditional = parseExpression("1if x else 2");
  EXPECT_TRUE(llvm::isa<ast::Conditional>(conditional.get()));
}

TEST(Numbers, WhatIsRefused) {
  for (const char *text : {"0777", "01", "0b12", "0b", "0x", "0o8", "1_", "1__0", "1abc", "1e", "1e+", "1.e-", "0xfg",
                           "1._5", "0_7", "1_.5"})
    EXPECT_NE(errorOf(text), "") << text;
  EXPECT_NE(errorOf(std::string(4301, '1')), "");
  EXPECT_NE(errorOf("0x" + std::string(100000, 'f')), "");
}

} // namespace
