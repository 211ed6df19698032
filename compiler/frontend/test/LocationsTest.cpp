// Places: lines and columns of the user's own file, and how an error there is shown. That every node has the place
// CPython gives it is tested against CPython.
#include "ParsedText.h"

using namespace nacre;
using namespace nacre::test;

namespace {

std::string place(const SourceLocation &location) {
  return std::to_string(location.line) + ":" + std::to_string(location.column) + "-" +
         std::to_string(location.endLine) + ":" + std::to_string(location.endColumn);
}

TEST(SourceText, LinesByNumber) {
  SourceText text{"kernel.py", "a\nb\r\nc\rd", 10, 0};
  EXPECT_EQ(text.line(9), "");
  EXPECT_EQ(text.line(10), "a");
  EXPECT_EQ(text.line(11), "b");
  EXPECT_EQ(text.line(12), "c");
  EXPECT_EQ(text.line(13), "d");
  EXPECT_EQ(text.line(14), "");
}

TEST(SourceText, ADedentedLineIsShownAsItStood) {
  SourceText text{"kernel.py", "a\n\n  b", 1, 4};
  EXPECT_EQ(text.line(1), "    a");
  EXPECT_EQ(text.line(2), "");
  EXPECT_EQ(text.line(3), "      b");
}

TEST(Locations, OfAFunctionTakenFromItsFile) {
  // As Python hands it over: a method at line 40, dedented by four.
  ast::Module module = parseFunction(source("@jit\ndef f(x):\n    return x\n", 40, 4));
  const auto &function = llvm::cast<ast::FunctionDefinition>(*module.body[0]);
  EXPECT_EQ(place(function.decorators[0]->location), "40:5-40:8");
  EXPECT_EQ(place(function.location), "41:4-42:16");
  EXPECT_EQ(place(function.nameLocation), "41:8-41:9");
  EXPECT_EQ(place(function.body[0]->location), "42:8-42:16");
}

TEST(Locations, OfAFunctionStillIndented) {
  ast::Module module = parseFunction(source("    @jit\n    def f(x):\n        return x\n\n    # the end\n"));
  EXPECT_EQ(place(module.body[0]->location), "2:4-3:16");
  module = parseFunction(source("\tdef f(x):\n\t\treturn x"));
  EXPECT_EQ(place(module.body[0]->location), "1:1-2:10");
}

TEST(Locations, ColumnsCountCharacters) {
  ParsedExpression sum = parseExpression("'é😀' + 变量");
  EXPECT_EQ(place(sum.get().location), "1:0-1:9");
  EXPECT_EQ(place(sum.as<ast::BinaryOperation>().right->location), "1:7-1:9");
}

TEST(Locations, OfNamesWithinNodes) {
  ParsedExpression call = parseExpression("tl.load(p, mask=m)");
  const auto &node = call.as<ast::Call>();
  EXPECT_EQ(place(llvm::cast<ast::Attribute>(*node.callee).nameLocation), "1:3-1:7");
  EXPECT_EQ(place(node.keywords[0].nameLocation), "1:11-1:15");
  EXPECT_EQ(place(node.keywords[0].location), "1:11-1:17");
}

TEST(Locations, InsideFormattedStrings) {
  ParsedExpression string = parseExpression("f'ab{x + y:>{w}}'");
  const auto &value = llvm::cast<ast::FormattedValue>(*string.as<ast::FormattedString>().parts[1]);
  EXPECT_EQ(place(value.location), "1:4-1:16");
  EXPECT_EQ(place(value.value->location), "1:5-1:10");
  EXPECT_EQ(place(value.format->location), "1:10-1:15");
}

TEST(ParseFunction, TakesOneFunctionOnly) {
  auto error = [](const char *text) -> std::string {
    try {
      parseFunction(source(text));
    } catch (const CompileError &error) {
      return error.diagnostic.message;
    }
    return "";
  };
  EXPECT_EQ(error("x = 1\n"), "expected a function definition, found 'x'");
  EXPECT_EQ(error(""), "expected a function definition, found end of file");
  EXPECT_EQ(error("@jit\nclass A: pass\n"), "expected a function definition, found a class definition");
  EXPECT_EQ(error("def f(): pass\ndef g(): pass\n"), "expected nothing after the function, found keyword 'def'");
  EXPECT_EQ(error("    def f(): pass\n  x\n"), "this indentation matches no block before it");
}

TEST(Names, AreComparedAsPythonDoes) {
  EXPECT_EQ(parseExpression("\xC2\xB5").as<ast::Name>().name, "\xCE\xBC"); // the micro sign is the letter mu
}

TEST(Tree, ChildrenInOrder) {
  ast::Module module = parse("@d\ndef f(a: b = c, *e, **g) -> h:\n  i = j\n");
  std::string names;
  std::function<void(const ast::Node &)> visit = [&](const ast::Node &node) {
    if (auto *name = llvm::dyn_cast<ast::Name>(&node))
      names += name->name;
    ast::forEachChild(node, visit);
  };
  visit(*module.body[0]);
  EXPECT_EQ(names, "dbchij");
}

Diagnostic at(std::string line, int column, int endColumn) {
  Diagnostic diagnostic;
  diagnostic.location = {source(std::move(line)), 1, column, 1, endColumn};
  diagnostic.message = "no";
  return diagnostic;
}

TEST(Render, UnderlinesTheRange) {
  EXPECT_EQ(at("x = y + z", 4, 9).render(), "kernel.py:1:5: error: no\nx = y + z\n    ^~~~~\n");
}

TEST(Render, KeepsTabsAndWideCharacters) {
  EXPECT_EQ(at("\tx = y", 5, 6).render(), "kernel.py:1:6: error: no\n\tx = y\n\t    ^\n");
  EXPECT_EQ(at("'变' + y", 6, 7).render(), "kernel.py:1:7: error: no\n'变' + y\n       ^\n");
}

TEST(Render, ShowsARangeOverSeveralLinesByItsFirst) {
  Diagnostic diagnostic = at("f(a,\n  b)", 1, 4);
  diagnostic.location.endLine = 2;
  EXPECT_EQ(diagnostic.render(), "kernel.py:1:2: error: no\nf(a,\n ^~~\n");
}

TEST(Render, CutsLongLines) {
  std::string shown = at(std::string(1000, 'a') + "b" + std::string(1000, 'c'), 1000, 1001).render();
  EXPECT_EQ(shown, "kernel.py:1:1001: error: no\n..." + std::string(80, 'a') + "b" + std::string(79, 'c') + "...\n" +
                       std::string(83, ' ') + "^\n");
}

TEST(Render, NeverPrintsControlCharacters) {
  EXPECT_EQ(at("a\x1b[31m\xff", 0, 1).render(), "kernel.py:1:1: error: no\na?[31m?\n^\n");
}

TEST(Render, HintAndCalls) {
  Diagnostic diagnostic = at("x = y", 4, 5);
  diagnostic.hint = "try z";
  diagnostic.calls = {{source("a = helper(b)", 20), 20, 4, 20, 13}, {source("    outer()", 30), 30, 4, 30, 11}};
  EXPECT_EQ(diagnostic.render(), "kernel.py:1:5: error: no\nx = y\n    ^\nhint: try z\n"
                                 "called from kernel.py:20\na = helper(b)\ncalled from kernel.py:30\n    outer()\n");
}

TEST(Render, WithoutAPlace) {
  Diagnostic diagnostic;
  diagnostic.message = "no";
  EXPECT_EQ(diagnostic.render(), "error: no\n");
  diagnostic.location.source = source("x");
  EXPECT_EQ(diagnostic.render(), "kernel.py: error: no\n");
}

} // namespace
