// Strings of every prefix, escapes, joining, and f-strings.
#include "ParsedText.h"

using namespace nacre;
using namespace nacre::test;

namespace {

std::string text(const std::string &literal) { return parseExpression(literal).as<ast::StringLiteral>().value; }
std::string bytes(const std::string &literal) { return parseExpression(literal).as<ast::BytesLiteral>().value; }

TEST(Strings, QuotesAndPrefixes) {
  EXPECT_EQ(text("'a'"), "a");
  EXPECT_EQ(text("\"it's\""), "it's");
  EXPECT_EQ(text("''"), "");
  EXPECT_EQ(text("''''''"), "");
  EXPECT_EQ(text("'''a'b''c'''"), "a'b''c");
  EXPECT_EQ(text("u'a' U\"b\""), "ab");
  EXPECT_EQ(text("r'\\n' R'\\''"), "\\n\\'");
  EXPECT_EQ(bytes("b'a' rb'\\n' BR'b' Rb'c'"), "a\\nbc");
}

TEST(Strings, Escapes) {
  EXPECT_EQ(text(R"('\a\b\f\n\r\t\v\\\'\"')"), "\a\b\f\n\r\t\v\\'\"");
  EXPECT_EQ(text(R"('\x41\101\7\60')"), "AA\a0");
  EXPECT_EQ(text(R"('\0')"), std::string(1, '\0'));
  EXPECT_EQ(text(R"('\u20ac\U0001F600\xe9')"), "€😀é");
  EXPECT_EQ(text(R"('\777')"), "\xC7\xBF");
  EXPECT_EQ(text(R"('\ud800')"), "\xED\xA0\x80");
  EXPECT_EQ(text(R"('\N{DEGREE SIGN}\N{greek small letter alpha}')"), "°α");
  EXPECT_EQ(text(R"('\d\q')"), "\\d\\q"); // not escapes: kept
  EXPECT_EQ(text("'a\\\nb'"), "ab");
  EXPECT_EQ(bytes(R"(b'\xff\377\777\u0041\N')"), "\xff\xff\xff\\u0041\\N");
}

TEST(Strings, EndsOfLineReadAsNewlines) {
  EXPECT_EQ(text("'''a\r\nb\rc\nd'''"), "a\nb\nc\nd");
  EXPECT_EQ(text("'a\\\r\nb'"), "ab");
}

TEST(Strings, TextBeyondAscii) { EXPECT_EQ(text("'é变量😀'"), "é变量😀"); }

// One line for an f-string: text in quotes, values in braces.
std::string show(const ast::FormattedString &formatted) {
  std::string shown;
  for (const ast::ExpressionPointer &part : formatted.parts) {
    if (auto *literal = llvm::dyn_cast<ast::StringLiteral>(part.get())) {
      shown += "'" + literal->value + "'";
      continue;
    }
    const auto &value = llvm::cast<ast::FormattedValue>(*part);
    auto *name = llvm::dyn_cast<ast::Name>(value.value.get());
    shown += "{" + (name ? name->name : ast::describe(value.value->kind).str());
    if (value.conversion)
      shown += std::string("!") + value.conversion;
    if (value.format)
      shown += ":" + show(llvm::cast<ast::FormattedString>(*value.format));
    shown += "}";
  }
  return shown;
}
std::string formatted(const std::string &literal) { return show(parseExpression(literal).as<ast::FormattedString>()); }

TEST(FormattedStrings, TextAndValues) {
  EXPECT_EQ(formatted("f''"), "");
  EXPECT_EQ(formatted("f'a'"), "'a'");
  EXPECT_EQ(formatted("f'a{b}c{d}'"), "'a'{b}'c'{d}");
  EXPECT_EQ(formatted("f'{{a}}'"), "'{a}'");
  EXPECT_EQ(formatted("f'{{{a}}}'"), "'{'{a}'}'");
  EXPECT_EQ(formatted("f'{ a }'"), "{a}");
  EXPECT_EQ(formatted("f'{a + b}'"), "{operation}");
  EXPECT_EQ(formatted("f'{a, b}'"), "{tuple}");
  EXPECT_EQ(formatted("f'{(lambda x: x)}'"), "{lambda}");
  EXPECT_EQ(formatted("f'{ {a: b} }'"), "{dictionary}");
}

TEST(FormattedStrings, ConversionsAndFormats) {
  EXPECT_EQ(formatted("f'{a!r}{b!s}{c!a}'"), "{a!r}{b!s}{c!a}");
  EXPECT_EQ(formatted("f'{a:>10}'"), "{a:'>10'}");
  EXPECT_EQ(formatted("f'{a!r:^{b}.{c}}'"), "{a!r:'^'{b}'.'{c}}");
  EXPECT_EQ(formatted("f'{a:=5}'"), "{a:'=5'}");
  EXPECT_EQ(formatted("f'{a:%H:%M}'"), "{a:'%H:%M'}");
  EXPECT_EQ(formatted("f'{a!=b}{c==d}{e>=f}'"), "{comparison}{comparison}{comparison}");
  EXPECT_EQ(formatted("f'{a[1:2]}{f(b=1)}'"), "{subscript}{function call}");
}

TEST(FormattedStrings, TheirOwnText) {
  EXPECT_EQ(formatted("f'{a=}'"), "'a='{a!r}");
  EXPECT_EQ(formatted("f'x: {a = }'"), "'x: a = '{a!r}");
  EXPECT_EQ(formatted("f'{a=!s}'"), "'a='{a!s}");
  EXPECT_EQ(formatted("f'{a=:>5}'"), "'a='{a:'>5'}");
}

TEST(FormattedStrings, JoinedWithOthers) {
  EXPECT_EQ(formatted("'a' f'b{c}' 'd' 'e'"), "'ab'{c}'de'");
  EXPECT_EQ(formatted("f'{a}' f'{b}'"), "{a}{b}");
  EXPECT_EQ(formatted("f'' 'a'"), "'a'");
}

TEST(FormattedStrings, NestedWithTheSameQuotes) {
  EXPECT_EQ(formatted("f'{f'{a}'}'"), "{f-string}");
  EXPECT_EQ(formatted("f'{a['b']}'"), "{subscript}");
}

TEST(FormattedStrings, EscapesAndRawText) {
  EXPECT_EQ(formatted("f'\\n{a}\\x41'"), "'\n'{a}'A'");
  EXPECT_EQ(formatted("rf'\\n{a}\\{b}'"), "'\\n'{a}'\\'{b}");
  EXPECT_EQ(formatted("f'\\N{DEGREE SIGN}{a}'"), "'°'{a}");
  EXPECT_EQ(formatted("f'''a\n{b}\n'''"), "'a\n'{b}'\n'");
}

} // namespace
