// Golden texts of syntax errors: the place, the message, the line, the caret and the hint, as the user sees them.
#include "ParsedText.h"

using namespace nacre::test;

namespace {

TEST(SyntaxErrors, Brackets) {
  EXPECT_EQ(errorOf("x = (1,\ny = 3\nz = 4\n"), "kernel.py:1:5: error: '(' was never closed\n"
                                                "x = (1,\n"
                                                "    ^\n"
                                                "hint: add the missing ')'\n");
  EXPECT_EQ(errorOf("x = foo(1, 2\n"), "kernel.py:1:8: error: '(' was never closed\n"
                                       "x = foo(1, 2\n"
                                       "       ^\n"
                                       "hint: add the missing ')'\n");
  EXPECT_EQ(errorOf("x = [a, b\n\ndef f():\n    return 1\n"), "kernel.py:1:5: error: '[' was never closed\n"
                                                              "x = [a, b\n"
                                                              "    ^\n"
                                                              "hint: add the missing ']'\n");
  EXPECT_EQ(errorOf("x = [1, 2)\n"), "kernel.py:1:10: error: ')' does not match '['\n"
                                     "x = [1, 2)\n"
                                     "         ^\n"
                                     "hint: '[' was opened at line 1, column 5\n");
  EXPECT_EQ(errorOf("x = 1)\n"), "kernel.py:1:6: error: unmatched ')'\n"
                                 "x = 1)\n"
                                 "     ^\n");
  EXPECT_EQ(errorOf("x = (1 2)\n"), "kernel.py:1:8: error: expected ',' or ')', found '2'\n"
                                    "x = (1 2)\n"
                                    "       ^\n"
                                    "hint: perhaps a comma is missing\n");
  EXPECT_EQ(errorOf("f(a b)\n"), "kernel.py:1:5: error: expected ',' or ')', found 'b'\n"
                                 "f(a b)\n"
                                 "    ^\n"
                                 "hint: perhaps a comma is missing\n");
  EXPECT_EQ(errorOf("x[1 2]\n"), "kernel.py:1:5: error: expected ',' or ']', found '2'\n"
                                 "x[1 2]\n"
                                 "    ^\n"
                                 "hint: perhaps a comma is missing\n");
  EXPECT_EQ(errorOf("x[1:2:3:4]\n"), "kernel.py:1:8: error: expected ',' or ']', found ':'\n"
                                     "x[1:2:3:4]\n"
                                     "       ^\n");
  EXPECT_EQ(errorOf("x = {a: b, c}\n"), "kernel.py:1:13: error: expected ':' after a dictionary's key, found '}'\n"
                                        "x = {a: b, c}\n"
                                        "            ^\n");
  EXPECT_EQ(errorOf("x = {a, b: c}\n"), "kernel.py:1:10: error: expected ',' or '}', found ':'\n"
                                        "x = {a, b: c}\n"
                                        "         ^\n");
}

TEST(SyntaxErrors, Blocks) {
  EXPECT_EQ(errorOf("if x\n  y\n"), "kernel.py:1:5: error: expected ':' after the 'if' condition, found end of line\n"
                                    "if x\n"
                                    "    ^\n");
  EXPECT_EQ(errorOf("for x in y\n  z\n"),
            "kernel.py:1:11: error: expected ':' after the 'for' loop's iterable, found end of line\n"
            "for x in y\n"
            "          ^\n");
  EXPECT_EQ(errorOf("def f() -> int\n  pass\n"),
            "kernel.py:1:15: error: expected ':' after the function's signature, found end of line\n"
            "def f() -> int\n"
            "              ^\n");
  EXPECT_EQ(errorOf("def f():\nreturn 1\n"), "kernel.py:2:1: error: expected an indented block after the function's "
                                             "signature on line 1, found keyword 'return'\n"
                                             "return 1\n"
                                             "^~~~~~\n");
  EXPECT_EQ(errorOf("if x:\n\n# note\ny\n"),
            "kernel.py:4:1: error: expected an indented block after the 'if' condition on line 1, found 'y'\n"
            "y\n"
            "^\n");
  EXPECT_EQ(errorOf("def f():\n    x\n  y\n"),
            "kernel.py:3:1: error: this indentation matches no block before it\n"
            "  y\n"
            "^~\n"
            "hint: the line is indented by 2, the block before it by 4, and the next one out by 0\n");
  EXPECT_EQ(errorOf("def f():\n    x\n      y\n"), "kernel.py:3:7: error: unexpected indentation\n"
                                                   "      y\n"
                                                   "      ^\n"
                                                   "hint: this line is indented more than the one before it\n");
  EXPECT_EQ(errorOf("  x = 1\n"), "kernel.py:1:3: error: unexpected indentation\n"
                                  "  x = 1\n"
                                  "  ^\n"
                                  "hint: this line is indented more than the one before it\n");
  EXPECT_EQ(errorOf("if x:\n\ty\n        z\n"),
            "kernel.py:3:1: error: inconsistent use of tabs and spaces in indentation\n"
            "        z\n"
            "^~~~~~~~\n"
            "hint: indent with spaces only\n");
  EXPECT_EQ(errorOf("else:\n  pass\n"), "kernel.py:1:1: error: 'else' does not continue any statement here\n"
                                        "else:\n"
                                        "^~~~\n"
                                        "hint: check the indentation\n");
  EXPECT_EQ(errorOf("if x:\n  pass\nelse if y:\n  pass\n"),
            "kernel.py:3:6: error: expected ':' after 'else', found keyword 'if'\n"
            "else if y:\n"
            "     ^~\n"
            "hint: write 'elif'\n");
  EXPECT_EQ(errorOf("try:\n  x\ny\n"),
            "kernel.py:3:1: error: expected 'except' or 'finally' after the 'try' block on line 1, found 'y'\n"
            "y\n"
            "^\n");
  EXPECT_EQ(errorOf("@jit\nx = 1\n"),
            "kernel.py:2:1: error: expected a function or class definition after the decorators, found 'x'\n"
            "x = 1\n"
            "^\n");
  EXPECT_EQ(errorOf("async x\n"), "kernel.py:1:7: error: expected 'def', 'for' or 'with' after 'async', found 'x'\n"
                                  "async x\n"
                                  "      ^\n");
  EXPECT_EQ(errorOf("match x:\n  case 1: pass\n  y\n"),
            "kernel.py:3:3: error: expected 'case' in the block of 'match', found 'y'\n"
            "  y\n"
            "  ^\n");
}

TEST(SyntaxErrors, Conditions) {
  EXPECT_EQ(errorOf("if x = 1:\n  y\n"), "kernel.py:1:6: error: '=' does not compare\n"
                                         "if x = 1:\n"
                                         "     ^\n"
                                         "hint: use '==' to compare, or ':=' to assign within an expression\n");
  EXPECT_EQ(errorOf("while x = 1: y\n"), "kernel.py:1:9: error: '=' does not compare\n"
                                         "while x = 1: y\n"
                                         "        ^\n"
                                         "hint: use '==' to compare, or ':=' to assign within an expression\n");
  EXPECT_EQ(errorOf("assert x = 1\n"), "kernel.py:1:10: error: '=' does not compare\n"
                                       "assert x = 1\n"
                                       "         ^\n"
                                       "hint: use '=='\n");
  EXPECT_EQ(errorOf("x = a if b\n"), "kernel.py:1:11: error: expected 'else' after the condition, found end of line\n"
                                     "x = a if b\n"
                                     "          ^\n"
                                     "hint: a conditional expression is written: value if condition else other\n");
  EXPECT_EQ(errorOf("x = 1 if else 2\n"), "kernel.py:1:10: error: expected an expression, found keyword 'else'\n"
                                          "x = 1 if else 2\n"
                                          "         ^~~~\n");
}

TEST(SyntaxErrors, Operators) {
  EXPECT_EQ(errorOf("x = \n"), "kernel.py:1:4: error: expected an expression, found end of line\n"
                               "x =\n"
                               "   ^\n");
  EXPECT_EQ(errorOf("x = 1 +\n"), "kernel.py:1:8: error: expected an expression, found end of line\n"
                                  "x = 1 +\n"
                                  "       ^\n");
  EXPECT_EQ(errorOf("x++\n"), "kernel.py:1:4: error: expected an expression, found end of line\n"
                              "x++\n"
                              "   ^\n"
                              "hint: there is no '++'; write '+= 1'\n");
  EXPECT_EQ(errorOf("x = a && b\n"), "kernel.py:1:8: error: expected an expression, found '&'\n"
                                     "x = a && b\n"
                                     "       ^\n"
                                     "hint: write 'and'\n");
  EXPECT_EQ(errorOf("x = a || b\n"), "kernel.py:1:8: error: expected an expression, found '|'\n"
                                     "x = a || b\n"
                                     "       ^\n"
                                     "hint: write 'or'\n");
  EXPECT_EQ(errorOf("x = !a\n"), "kernel.py:1:5: error: unexpected character '!' (U+0021)\n"
                                 "x = !a\n"
                                 "    ^\n"
                                 "hint: write 'not' to negate\n");
  EXPECT_EQ(errorOf("x = a <> b\n"), "kernel.py:1:8: error: expected an expression, found '>'\n"
                                     "x = a <> b\n"
                                     "       ^\n"
                                     "hint: write '!='\n");
  EXPECT_EQ(errorOf("x = a ? b : c\n"), "kernel.py:1:7: error: unexpected character '?' (U+003F)\n"
                                        "x = a ? b : c\n"
                                        "      ^\n");
  EXPECT_EQ(errorOf("print 'a'\n"), "kernel.py:1:7: error: expected end of line, found a string\n"
                                    "print 'a'\n"
                                    "      ^~~\n"
                                    "hint: a call needs parentheses\n");
  EXPECT_EQ(errorOf("x y\n"), "kernel.py:1:3: error: expected end of line, found 'y'\n"
                              "x y\n"
                              "  ^\n"
                              "hint: perhaps an operator, a comma or parentheses are missing\n");
}

TEST(SyntaxErrors, Targets) {
  EXPECT_EQ(errorOf("f() = 1\n"), "kernel.py:1:1: error: cannot assign to this function call\n"
                                  "f() = 1\n"
                                  "^~~\n"
                                  "hint: use '==' to compare\n");
  EXPECT_EQ(errorOf("x + 1 = 2\n"), "kernel.py:1:1: error: cannot assign to this operation\n"
                                    "x + 1 = 2\n"
                                    "^~~~~\n"
                                    "hint: use '==' to compare\n");
  EXPECT_EQ(errorOf("None = 1\n"), "kernel.py:1:1: error: cannot assign to None\n"
                                   "None = 1\n"
                                   "^~~~\n"
                                   "hint: use '==' to compare\n");
  EXPECT_EQ(errorOf("a, b += 1\n"), "kernel.py:1:1: error: cannot assign to this tuple with '+='\n"
                                    "a, b += 1\n"
                                    "^~~~\n");
  EXPECT_EQ(errorOf("(a := b) = 1\n"), "kernel.py:1:2: error: cannot assign to this named expression\n"
                                       "(a := b) = 1\n"
                                       " ^~~~~~\n"
                                       "hint: use '==' to compare\n");
  EXPECT_EQ(errorOf("a := 1\n"), "kernel.py:1:3: error: ':=' cannot stand at the top of a statement\n"
                                 "a := 1\n"
                                 "  ^~\n"
                                 "hint: write '='\n");
  EXPECT_EQ(errorOf("(a.b := 1)\n"), "kernel.py:1:2: error: only a name can be assigned with ':='\n"
                                     "(a.b := 1)\n"
                                     " ^~~\n");
  EXPECT_EQ(errorOf("*a = b\n"),
            "kernel.py:1:1: error: a starred expression can only stand in a list, a tuple or a call\n"
            "*a = b\n"
            "^~\n"
            "hint: add a comma to make it a tuple\n");
  EXPECT_EQ(errorOf("*a, *b = c\n"), "kernel.py:1:5: error: only one target of an assignment can be starred\n"
                                     "*a, *b = c\n"
                                     "    ^~\n");
  EXPECT_EQ(errorOf("[*a for a in b]\n"), "kernel.py:1:2: error: a comprehension's element cannot be starred\n"
                                          "[*a for a in b]\n"
                                          " ^~\n");
  EXPECT_EQ(errorOf("for f() in x: pass\n"), "kernel.py:1:5: error: cannot assign to this function call\n"
                                             "for f() in x: pass\n"
                                             "    ^~~\n");
  EXPECT_EQ(errorOf("for x y in z: pass\n"),
            "kernel.py:1:7: error: expected 'in' after the target of a 'for' loop, found 'y'\n"
            "for x y in z: pass\n"
            "      ^\n");
  EXPECT_EQ(errorOf("with a as 1: pass\n"), "kernel.py:1:11: error: cannot assign to this integer literal\n"
                                            "with a as 1: pass\n"
                                            "          ^\n");
  EXPECT_EQ(errorOf("del f()\n"), "kernel.py:1:5: error: cannot delete this function call\n"
                                  "del f()\n"
                                  "    ^~~\n");
  EXPECT_EQ(errorOf("f(x): int\n"),
            "kernel.py:1:1: error: a function call cannot be annotated\n"
            "f(x): int\n"
            "^~~~\n"
            "hint: only a name, an attribute or a subscript can; or is a keyword missing before it?\n");
  EXPECT_EQ(errorOf("x = yield = 1\n"), "kernel.py:1:5: error: cannot assign to this yield expression\n"
                                        "x = yield = 1\n"
                                        "    ^~~~~\n"
                                        "hint: use '==' to compare\n");
}

TEST(SyntaxErrors, Calls) {
  EXPECT_EQ(errorOf("f(a=1, b)\n"), "kernel.py:1:8: error: a positional argument follows a keyword argument\n"
                                    "f(a=1, b)\n"
                                    "       ^\n");
  EXPECT_EQ(errorOf("f(a=1, a=2)\n"), "kernel.py:1:8: error: the keyword argument 'a' is repeated\n"
                                      "f(a=1, a=2)\n"
                                      "       ^\n");
  EXPECT_EQ(errorOf("f(a.b=1)\n"), "kernel.py:1:3: error: a keyword argument needs a plain name before '='\n"
                                   "f(a.b=1)\n"
                                   "  ^~~\n"
                                   "hint: use '==' to compare\n");
  EXPECT_EQ(errorOf("f(**a, *b)\n"), "kernel.py:1:8: error: '*' after '**' in a call\n"
                                     "f(**a, *b)\n"
                                     "       ^\n");
  EXPECT_EQ(errorOf("f(c, x for x in y)\n"),
            "kernel.py:1:6: error: a generator expression beside other arguments needs its own parentheses\n"
            "f(c, x for x in y)\n"
            "     ^\n");
}

TEST(SyntaxErrors, Parameters) {
  EXPECT_EQ(errorOf("def f(a=1, b): pass\n"),
            "kernel.py:1:12: error: parameter 'b' without a default value follows one with a default\n"
            "def f(a=1, b): pass\n"
            "           ^\n");
  EXPECT_EQ(errorOf("def f(a, a): pass\n"), "kernel.py:1:10: error: two parameters are named 'a'\n"
                                            "def f(a, a): pass\n"
                                            "         ^\n");
  EXPECT_EQ(errorOf("def f(*): pass\n"), "kernel.py:1:8: error: expected a name for a parameter, found ')'\n"
                                         "def f(*): pass\n"
                                         "       ^\n");
  EXPECT_EQ(errorOf("def f(*, **k): pass\n"), "kernel.py:1:10: error: a parameter must follow the bare '*'\n"
                                              "def f(*, **k): pass\n"
                                              "         ^~\n");
  EXPECT_EQ(errorOf("def f(**k, a): pass\n"), "kernel.py:1:12: error: nothing can follow the '**' parameter\n"
                                              "def f(**k, a): pass\n"
                                              "           ^\n");
  EXPECT_EQ(errorOf("def f(/, a): pass\n"), "kernel.py:1:7: error: at least one parameter must precede '/'\n"
                                            "def f(/, a): pass\n"
                                            "      ^\n");
  EXPECT_EQ(errorOf("def f(*a=1): pass\n"), "kernel.py:1:9: error: a starred parameter cannot have a default value\n"
                                            "def f(*a=1): pass\n"
                                            "        ^\n");
  EXPECT_EQ(errorOf("def f(x:): pass\n"), "kernel.py:1:9: error: expected an expression, found ')'\n"
                                          "def f(x:): pass\n"
                                          "        ^\n");
  EXPECT_EQ(errorOf("def f x: pass\n"), "kernel.py:1:7: error: expected '(' after the function's name, found 'x'\n"
                                        "def f x: pass\n"
                                        "      ^\n");
  EXPECT_EQ(errorOf("def (x): pass\n"), "kernel.py:1:5: error: expected a name after 'def', found '('\n"
                                        "def (x): pass\n"
                                        "    ^\n");
  EXPECT_EQ(errorOf("lambda x y: 1\n"), "kernel.py:1:10: error: expected ',' or ':', found 'y'\n"
                                        "lambda x y: 1\n"
                                        "         ^\n"
                                        "hint: perhaps a comma is missing\n");
}

TEST(SyntaxErrors, Names) {
  EXPECT_EQ(errorOf("x.class\n"), "kernel.py:1:3: error: expected a name after '.', found keyword 'class'\n"
                                  "x.class\n"
                                  "  ^~~~~\n"
                                  "hint: a keyword cannot be used as a name\n");
  EXPECT_EQ(errorOf("def if(): pass\n"), "kernel.py:1:5: error: expected a name after 'def', found keyword 'if'\n"
                                         "def if(): pass\n"
                                         "    ^~\n"
                                         "hint: a keyword cannot be used as a name\n");
  EXPECT_EQ(errorOf("import\n"), "kernel.py:1:7: error: expected a name for a module, found end of line\n"
                                 "import\n"
                                 "      ^\n");
  EXPECT_EQ(errorOf("from x import\n"), "kernel.py:1:14: error: expected a name to import, found end of line\n"
                                        "from x import\n"
                                        "             ^\n");
  EXPECT_EQ(errorOf("import a.b.\n"), "kernel.py:1:12: error: expected a name after '.', found end of line\n"
                                      "import a.b.\n"
                                      "           ^\n");
}

TEST(SyntaxErrors, Numbers) {
  EXPECT_EQ(errorOf("x = 0777\n"), "kernel.py:1:5: error: a decimal integer cannot start with zeros\n"
                                   "x = 0777\n"
                                   "    ^~~~\n"
                                   "hint: write 0o... for an octal number\n");
  EXPECT_EQ(errorOf("x = 0b12\n"), "kernel.py:1:5: error: invalid digit '2' in binary literal\n"
                                   "x = 0b12\n"
                                   "    ^~~~\n");
  EXPECT_EQ(errorOf("x = 0x\n"), "kernel.py:1:5: error: invalid hexadecimal literal\n"
                                 "x = 0x\n"
                                 "    ^~\n");
  EXPECT_EQ(errorOf("x = 1_\n"), "kernel.py:1:5: error: invalid decimal literal\n"
                                 "x = 1_\n"
                                 "    ^~\n");
  EXPECT_EQ(errorOf("x = 1abc\n"), "kernel.py:1:5: error: invalid decimal literal\n"
                                   "x = 1abc\n"
                                   "    ^~\n"
                                   "hint: a name cannot start with a digit\n");
}

TEST(SyntaxErrors, Strings) {
  EXPECT_EQ(errorOf("x = 'abc\n"), "kernel.py:1:5: error: unterminated string literal\n"
                                   "x = 'abc\n"
                                   "    ^~~~\n"
                                   "hint: add the closing '\n");
  EXPECT_EQ(errorOf("x = '''abc\n\n"), "kernel.py:1:5: error: unterminated triple-quoted string literal\n"
                                       "x = '''abc\n"
                                       "    ^~~\n"
                                       "hint: it runs on to the end of the text, line 3\n");
  EXPECT_EQ(errorOf("x = '\\x1'\n"), "kernel.py:1:6: error: '\\x' needs 2 hexadecimal digits\n"
                                     "x = '\\x1'\n"
                                     "     ^~~\n");
  EXPECT_EQ(errorOf("x = 'ab\\u12'\n"), "kernel.py:1:8: error: '\\u' needs 4 hexadecimal digits\n"
                                        "x = 'ab\\u12'\n"
                                        "       ^~~~\n");
  EXPECT_EQ(errorOf("x = '\\U00110000'\n"),
            "kernel.py:1:6: error: there is no character with this number: the last is \\U0010ffff\n"
            "x = '\\U00110000'\n"
            "     ^~~~~~~~~~\n");
  EXPECT_EQ(errorOf("x = '\\N{foo bar}'\n"), "kernel.py:1:6: error: there is no character named 'foo bar'\n"
                                             "x = '\\N{foo bar}'\n"
                                             "     ^~~~~~~~~~~\n");
  EXPECT_EQ(errorOf("x = b'é'\n"), "kernel.py:1:7: error: a bytes literal can only hold ASCII characters\n"
                                   "x = b'é'\n"
                                   "      ^\n");
  EXPECT_EQ(errorOf("x = 'a' b'b'\n"), "kernel.py:1:9: error: a bytes literal cannot be joined with a string literal\n"
                                       "x = 'a' b'b'\n"
                                       "        ^~~~\n");
  EXPECT_EQ(errorOf("x = '''\n\n  \\x1'''\n"), "kernel.py:3:3: error: '\\x' needs 2 hexadecimal digits\n"
                                               "  \\x1'''\n"
                                               "  ^~~\n");
}

TEST(SyntaxErrors, FormattedStrings) {
  EXPECT_EQ(errorOf("x = f'abc\n"), "kernel.py:1:5: error: unterminated f-string\n"
                                    "x = f'abc\n"
                                    "    ^~\n"
                                    "hint: add the closing '\n");
  EXPECT_EQ(errorOf("x = f'''abc\n"), "kernel.py:1:5: error: unterminated triple-quoted f-string\n"
                                      "x = f'''abc\n"
                                      "    ^~~~\n"
                                      "hint: add the closing '''\n");
  EXPECT_EQ(errorOf("x = f'{a\n"), "kernel.py:1:7: error: '{' was never closed\n"
                                   "x = f'{a\n"
                                   "      ^\n"
                                   "hint: add the missing '}'\n");
  EXPECT_EQ(errorOf("x = f'{a'\n"), "kernel.py:1:9: error: expected '}' before the end of the f-string\n"
                                    "x = f'{a'\n"
                                    "        ^\n");
  EXPECT_EQ(errorOf("x = f'a}'\n"), "kernel.py:1:8: error: a single '}' is not allowed in an f-string\n"
                                    "x = f'a}'\n"
                                    "       ^\n"
                                    "hint: write '}}' for the character itself\n");
  EXPECT_EQ(errorOf("x = f'{}'\n"),
            "kernel.py:1:8: error: expected an expression between the braces of an f-string, found '}'\n"
            "x = f'{}'\n"
            "       ^\n"
            "hint: write '{{' for the character itself\n");
  EXPECT_EQ(errorOf("x = f'{a!x}'\n"),
            "kernel.py:1:10: error: expected 'r', 's' or 'a' after '!' in an f-string, found 'x'\n"
            "x = f'{a!x}'\n"
            "         ^\n");
  EXPECT_EQ(errorOf("x = f'{a b}'\n"),
            "kernel.py:1:10: error: expected '}' after the expression in an f-string, found 'b'\n"
            "x = f'{a b}'\n"
            "         ^\n");
  EXPECT_EQ(errorOf("x = f'{a:{b}'\n"), "kernel.py:1:13: error: expected '}' before the end of the f-string\n"
                                        "x = f'{a:{b}'\n"
                                        "            ^\n");
}

TEST(SyntaxErrors, Characters) {
  EXPECT_EQ(errorOf("x = “a”\n"), "kernel.py:1:5: error: unexpected character '“' (U+201C)\n"
                                  "x = “a”\n"
                                  "    ^\n"
                                  "hint: use a plain quote, ' or \"\n");
  EXPECT_EQ(errorOf("x = a + b\n"), "kernel.py:1:6: error: unexpected character ' ' (U+00A0)\n"
                                    "x = a + b\n"
                                    "     ^\n"
                                    "hint: this is a no-break space; use a plain one\n");
  EXPECT_EQ(errorOf("x = \\ y\n"), "kernel.py:1:5: error: unexpected character after a line continuation\n"
                                   "x = \\ y\n"
                                   "    ^\n"
                                   "hint: the backslash must be the last on its line\n");
  EXPECT_EQ(errorOf("x = a $ b\n"), "kernel.py:1:7: error: unexpected character '$' (U+0024)\n"
                                    "x = a $ b\n"
                                    "      ^\n");
  EXPECT_EQ(errorOf("x = \001\n"), "kernel.py:1:5: error: unexpected character (U+0001)\n"
                                   "x = ?\n"
                                   "    ^\n");
}

TEST(SyntaxErrors, Places) {
  EXPECT_EQ(errorOf("break\n"), "kernel.py:1:1: error: 'break' outside a loop\n"
                                "break\n"
                                "^~~~~\n");
  EXPECT_EQ(errorOf("def f():\n  continue\n"), "kernel.py:2:3: error: 'continue' outside a loop\n"
                                               "  continue\n"
                                               "  ^~~~~~~~\n");
  EXPECT_EQ(errorOf("return\n"), "kernel.py:1:1: error: 'return' outside a function\n"
                                 "return\n"
                                 "^~~~~~\n");
  EXPECT_EQ(errorOf("for x in y:\n  def f():\n    break\n"), "kernel.py:3:5: error: 'break' outside a loop\n"
                                                             "    break\n"
                                                             "    ^~~~~\n");
}

} // namespace
