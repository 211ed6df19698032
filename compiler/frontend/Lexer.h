// Text to tokens, by Python's rules: indentation, brackets that join lines, strings of every form. An f-string becomes
// a start, pieces of text, ordinary tokens between its braces, and an end, so that one parser reads it all.
//
// Tokens are made on demand, so an error in the text is reported after the errors before it. Throws CompileError.
#pragma once

#include "compiler/language/meaning/Diagnostic.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <cstdint>
#include <optional>

namespace nacre {

#define NACRE_OPERATOR_TOKENS(TOKEN)                                                                                   \
  TOKEN(LeftParenthesis, "(")                                                                                          \
  TOKEN(RightParenthesis, ")")                                                                                         \
  TOKEN(LeftBracket, "[")                                                                                              \
  TOKEN(RightBracket, "]")                                                                                             \
  TOKEN(LeftBrace, "{")                                                                                                \
  TOKEN(RightBrace, "}")                                                                                               \
  TOKEN(Comma, ",")                                                                                                    \
  TOKEN(Colon, ":")                                                                                                    \
  TOKEN(Semicolon, ";")                                                                                                \
  TOKEN(Dot, ".")                                                                                                      \
  TOKEN(Ellipsis, "...")                                                                                               \
  TOKEN(Arrow, "->")                                                                                                   \
  TOKEN(Exclamation, "!")                                                                                              \
  TOKEN(Plus, "+")                                                                                                     \
  TOKEN(Minus, "-")                                                                                                    \
  TOKEN(Star, "*")                                                                                                     \
  TOKEN(At, "@")                                                                                                       \
  TOKEN(Slash, "/")                                                                                                    \
  TOKEN(DoubleSlash, "//")                                                                                             \
  TOKEN(Percent, "%")                                                                                                  \
  TOKEN(DoubleStar, "**")                                                                                              \
  TOKEN(ShiftLeft, "<<")                                                                                               \
  TOKEN(ShiftRight, ">>")                                                                                              \
  TOKEN(Ampersand, "&")                                                                                                \
  TOKEN(Bar, "|")                                                                                                      \
  TOKEN(Caret, "^")                                                                                                    \
  TOKEN(Tilde, "~")                                                                                                    \
  TOKEN(Less, "<")                                                                                                     \
  TOKEN(LessEqual, "<=")                                                                                               \
  TOKEN(Greater, ">")                                                                                                  \
  TOKEN(GreaterEqual, ">=")                                                                                            \
  TOKEN(DoubleEqual, "==")                                                                                             \
  TOKEN(NotEqual, "!=")                                                                                                \
  TOKEN(Equal, "=")                                                                                                    \
  TOKEN(ColonEqual, ":=")                                                                                              \
  TOKEN(PlusEqual, "+=")                                                                                               \
  TOKEN(MinusEqual, "-=")                                                                                              \
  TOKEN(StarEqual, "*=")                                                                                               \
  TOKEN(AtEqual, "@=")                                                                                                 \
  TOKEN(SlashEqual, "/=")                                                                                              \
  TOKEN(DoubleSlashEqual, "//=")                                                                                       \
  TOKEN(PercentEqual, "%=")                                                                                            \
  TOKEN(DoubleStarEqual, "**=")                                                                                        \
  TOKEN(ShiftLeftEqual, "<<=")                                                                                         \
  TOKEN(ShiftRightEqual, ">>=")                                                                                        \
  TOKEN(AmpersandEqual, "&=")                                                                                          \
  TOKEN(BarEqual, "|=")                                                                                                \
  TOKEN(CaretEqual, "^=")

#define NACRE_KEYWORD_TOKENS(TOKEN)                                                                                    \
  TOKEN(False, "False")                                                                                                \
  TOKEN(None, "None")                                                                                                  \
  TOKEN(True, "True")                                                                                                  \
  TOKEN(And, "and")                                                                                                    \
  TOKEN(As, "as")                                                                                                      \
  TOKEN(Assert, "assert")                                                                                              \
  TOKEN(Async, "async")                                                                                                \
  TOKEN(Await, "await")                                                                                                \
  TOKEN(Break, "break")                                                                                                \
  TOKEN(Class, "class")                                                                                                \
  TOKEN(Continue, "continue")                                                                                          \
  TOKEN(Def, "def")                                                                                                    \
  TOKEN(Del, "del")                                                                                                    \
  TOKEN(Elif, "elif")                                                                                                  \
  TOKEN(Else, "else")                                                                                                  \
  TOKEN(Except, "except")                                                                                              \
  TOKEN(Finally, "finally")                                                                                            \
  TOKEN(For, "for")                                                                                                    \
  TOKEN(From, "from")                                                                                                  \
  TOKEN(Global, "global")                                                                                              \
  TOKEN(If, "if")                                                                                                      \
  TOKEN(Import, "import")                                                                                              \
  TOKEN(In, "in")                                                                                                      \
  TOKEN(Is, "is")                                                                                                      \
  TOKEN(Lambda, "lambda")                                                                                              \
  TOKEN(Nonlocal, "nonlocal")                                                                                          \
  TOKEN(Not, "not")                                                                                                    \
  TOKEN(Or, "or")                                                                                                      \
  TOKEN(Pass, "pass")                                                                                                  \
  TOKEN(Raise, "raise")                                                                                                \
  TOKEN(Return, "return")                                                                                              \
  TOKEN(Try, "try")                                                                                                    \
  TOKEN(While, "while")                                                                                                \
  TOKEN(With, "with")                                                                                                  \
  TOKEN(Yield, "yield")

enum class TokenKind : uint8_t {
  End,
  Newline, // the end of a logical line
  Indent,
  Dedent,
  Name,
  Integer,
  Float,
  Imaginary,
  String,        // one literal with its prefix and quotes, undecoded
  FStringStart,  // the prefix and the opening quotes
  FStringMiddle, // a piece of text, undecoded; never empty
  FStringEnd,
#define TOKEN(name, spelling) name,
  NACRE_OPERATOR_TOKENS(TOKEN) NACRE_KEYWORD_TOKENS(TOKEN)
#undef TOKEN
};

inline bool isKeyword(TokenKind kind) { return kind >= TokenKind::False; }

// The text of an operator or keyword; for the other kinds what an error calls them: "a name", "end of line".
llvm::StringRef spelling(TokenKind kind);

struct Token {
  TokenKind kind = TokenKind::End;
  llvm::StringRef text; // points into the source
  int line = 0, column = 0, endLine = 0, endColumn = 0;
};

[[noreturn]] void throwSyntaxError(SourceLocation location, const llvm::Twine &message, const llvm::Twine &hint = "");

class Lexer {
public:
  // With `indented`, the first statement's indentation is taken for the text's margin instead of being an error.
  Lexer(std::shared_ptr<const SourceText> source, bool indented);

  // The next token; End for ever once the text is over. After an error the lexer is not to be used again.
  Token next();

  SourceLocation locate(const Token &token) const;
  // A part of a token that starts `offset` bytes into it.
  SourceLocation locate(const Token &token, size_t offset, size_t length) const;

  // For better errors: reads the rest of the text and returns the error of a bracket that is still open at
  // its end, if there is one.
  std::optional<Diagnostic> findUnclosedBracket();

private:
  struct Position {
    size_t offset;
    int line, column;
  };
  struct Bracket {
    char character;
    Position position;
  };
  struct Indentation {
    int width;     // tabs go to the next multiple of eight
    int tabsAsOne; // tabs count as one: both must agree on every comparison
  };
  // Where in an f-string the lexer is: in its text (or in the text of a format specification), or between its braces.
  struct FStringMode {
    Position start; // of the f-string
    llvm::StringRef quote;
    bool isRaw;
    bool isFormat;       // text after a colon
    bool isExpression;   // between braces
    size_t bracketDepth; // isExpression: the number of brackets open just after its own
  };

  char current() const { return lookAhead(0); }
  char lookAhead(size_t count) const { return offset + count < text.size() ? text[offset + count] : '\0'; }
  bool atEnd() const { return offset >= text.size(); }
  bool atNewline() const { return !atEnd() && (current() == '\n' || current() == '\r'); }
  void consumeNewline();
  Position position();
  Token makeToken(TokenKind kind, const Position &start);
  SourceLocation locate(const Position &start, const Position &end) const;
  [[noreturn]] void fail(const Position &start, const llvm::Twine &message, const llvm::Twine &hint = "");

  bool readIndentation(Token &token);
  void skipSpace();
  Token readName();
  Token readNumber();
  void readDigits(llvm::function_ref<bool(char)> isDigit, const Position &start, llvm::StringRef literal);
  void checkNumberEnd(const Position &start, llvm::StringRef literal);
  bool startsString(size_t &prefixLength, bool &isFormatted, bool &isRaw) const;
  Token readString(size_t prefixLength);
  Token readFStringStart(size_t prefixLength, bool isRaw);
  Token readFStringText();
  Token readOperator();
  void openBracket(char character, const Position &start);
  void closeBracket(char character, const Position &start);
  Token readEnd();

  std::shared_ptr<const SourceText> source;
  llvm::StringRef text;
  size_t offset = 0;
  int line;
  // The last place whose column was counted, on the current line: columns are counted forward from here.
  size_t countedOffset = 0;
  int countedColumn = 0;
  bool atLineStart = true;
  bool lineHasTokens = false;
  bool marginKnown;
  int pendingDedents = 0;
  llvm::SmallVector<Indentation, 8> indentations;
  llvm::SmallVector<Bracket, 8> brackets;
  llvm::SmallVector<FStringMode, 2> fstrings;
};

} // namespace nacre
