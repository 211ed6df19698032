// Hostile texts: whatever they hold, the parser answers with a tree or an error, in bounded stack and time.
#include "ParsedText.h"
#include <chrono>
#include <random>

using namespace nacre;
using namespace nacre::test;

namespace {

std::string repeat(const std::string &text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i)
    result += text;
  return result;
}

TEST(Nesting, DeepTextsAreRefused) {
  constexpr int deep = 100000;
  for (const std::string &text : {
           repeat("(", deep),
           repeat("[", deep),
           repeat("{", deep),
           repeat("(", deep) + "x" + repeat(")", deep),
           repeat("-", deep) + "x",
           repeat("not ", deep) + "x",
           repeat("~", deep) + "x",
           "x" + repeat(" ** x", deep),
           "x" + repeat(" + x", deep),
           "x" + repeat(".x", deep),
           "x" + repeat("()", deep),
           "x" + repeat("[0]", deep),
           repeat("lambda: ", deep) + "x",
           repeat("x if y else ", deep) + "z",
           repeat("f(", deep),
           repeat("x[", deep),
           repeat("{0: ", deep),
           repeat("f'{", deep),
           "f'{x" + repeat(":{x", deep),
           repeat("[x for x in ", deep),
           "if x: pass\n" + repeat("elif x: pass\n", deep),
           "match x:\n case " + repeat("(", deep),
           "match x:\n case " + repeat("x(", deep),
           "for " + repeat("(", deep),
           repeat("[*", deep),
           repeat("(yield ", deep),
           repeat("await ", deep) + "x",
           "def f(x=" + repeat("lambda x=", deep),
       })
    EXPECT_NE(errorOf(text), "") << text.substr(0, 40);

  std::string blocks;
  for (int i = 0; i < 1000; ++i)
    blocks += std::string(i, ' ') + "if x:\n";
  EXPECT_NE(errorOf(blocks), "");
}

TEST(Nesting, WhatPeopleWriteIsAccepted) {
  EXPECT_EQ(errorOf(repeat("(", 150) + "x" + repeat(")", 150)), "");
  EXPECT_EQ(errorOf("x" + repeat(" + x", 400)), "");
  EXPECT_EQ(errorOf("if x: pass\n" + repeat("elif x: pass\n", 300)), "");
  std::string blocks;
  for (int i = 0; i < 90; ++i)
    blocks += std::string(i, ' ') + "if x:\n";
  EXPECT_EQ(errorOf(blocks + std::string(90, ' ') + "pass\n"), "");
}

TEST(Nesting, LongTextsThatAreFlatAreAccepted) {
  constexpr int wide = 100000;
  EXPECT_EQ(errorOf("x = [" + repeat("1, ", wide) + "]"), "");
  EXPECT_EQ(errorOf(repeat("x = ", wide) + "y"), "");
  EXPECT_EQ(errorOf("x" + repeat(" < x", wide)), "");
  EXPECT_EQ(errorOf("x" + repeat(" and x", wide)), "");
  EXPECT_EQ(errorOf(repeat("'a' ", wide)), "");
  EXPECT_EQ(errorOf("f'" + repeat("{x}", wide) + "'"), "");
  EXPECT_EQ(errorOf(repeat("x; ", wide)), "");
  EXPECT_EQ(errorOf(repeat("@f\n", wide) + "def g(): pass"), "");
  EXPECT_EQ(errorOf("x = " + repeat("\\\n", wide) + "1"), "");
  EXPECT_EQ(errorOf(repeat("# note\n", wide) + repeat("\n", wide)), "");
  EXPECT_EQ(errorOf("x = 1  # " + repeat("é", wide)), "");
}

TEST(Nesting, TheHeightOfATreeIsKnown) {
  EXPECT_EQ(parseExpression("a").get().height, 1);
  EXPECT_EQ(parseExpression("a + b * c").get().height, 3);
  EXPECT_EQ(parseExpression("f(a, b=(c, [d]))").get().height, 4);
}

TEST(Robustness, EveryPrefixOfAProgram) {
  const std::string program =
      "@triton.jit\ndef kernel(x_ptr, n: tl.constexpr = 0x1F, /, *args, k=1.5e-3, **kw) -> None:\n"
      "    \"\"\"doc é\"\"\"\n    x = tl.load(x_ptr + tl.arange(0, n)[:, None], mask=a < b <= c)\n"
      "\tif x: pass\n    for i, (j, *r) in range(3):\n        y = f'{x!r:>{n}} {{z}} {i=}' 'b' \\\n  if x else [*r]\n"
      "    with (a as b, c): del q\n    return {k: v for k, v in z if not w}, lambda u: -u ** 2\n"
      "match x:\n  case {1: [a, *_], **b} | C(d=-1+2j) as e: pass\n";
  for (size_t length = 0; length <= program.size(); ++length)
    errorOf(program.substr(0, length));
}

TEST(Robustness, RandomBytesAndPieces) {
  std::mt19937 random(1);
  const char *pieces[] = {
      "(",     ")",       "[",        "]",      "{",     "}",      "'",       "\"",       "'''",
      "f'",    "f\"\"\"", "rb'",      "\\",     "\n",    "\r",     "\t",      "    ",     "\f",
      ":",     "=",       ":=",       ",",      "*",     "**",     ".",       "...",      "if ",
      "else ", "elif ",   "for ",     "in ",    "def f", "class ", "lambda ", "match x:", "case ",
      "with ", "async ",  "await ",   "yield ", "not ",  "x",      "0x",      "1e",       "1_",
      "é",     "\xff",    "\xe2\x82", "#",      "!",     "!r",     "->",      "@",        "import ",
      "from ", "try:",    "except",   "\0",     ";",     "\\N{",   "{{",      "}}",       "\xEF\xBB\xBF"};
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (int count = random() % 24; count > 0; --count) {
      if (random() % 16 == 0)
        text += static_cast<char>(random());
      else
        text += pieces[random() % std::size(pieces)];
    }
    errorOf(text);
  }
}

TEST(Robustness, ErrorsAreQuickInLongTexts) {
  auto before = std::chrono::steady_clock::now();
  errorOf("x = (\n" + repeat("y = z\n", 200000));
  errorOf(std::string(2000000, '('));
  errorOf("x = '" + std::string(2000000, 'a'));
  errorOf("x = f'{" + std::string(2000000, 'a') + "!}'");
  errorOf(std::string(2000000, '1'));
  errorOf(repeat("with (", 100000));
  errorOf(repeat("match (x)\n", 100000) + "(");
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::minutes(5)); // quadratic would be hours
}

} // namespace
