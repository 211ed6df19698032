// Expressions: a function a level of precedence, from the loosest binding to the tightest.
#pragma once

#include "compiler/frontend/TokenReader.h"

namespace nacre {

class ExpressionParser : public TokenReader {
protected:
  using TokenReader::TokenReader;

  // a, *b, c: a Tuple when there is a comma. What may stand alone on a line, after `=`, `return`, `in`.
  ast::ExpressionPointer parseExpressionList();
  // The same, or a yield.
  ast::ExpressionPointer parseExpressionListOrYield();
  // a := b, or an expression.
  ast::ExpressionPointer parseNamedExpression();
  // Everything from the conditional and lambda down, without commas, stars and walruses.
  ast::ExpressionPointer parseExpression();
  // From `|` down: what can be a target, since it does not take `in`.
  ast::ExpressionPointer parseBitwise() { return parseBinary(0); }
  ast::ExpressionPointer parseStarred(); // *a
  ast::ExpressionPointer parseUnary();
  ast::ExpressionPointer parseStrings();
  ast::ExpressionPointer parseNumber();

  // The condition of an if, elif or while; a `=` after it is the usual mistake.
  ast::ExpressionPointer parseCondition();
  // The targets of a for: a Tuple when there is a comma.
  ast::ExpressionPointer parseTargets();
  // One target, as after `as`.
  ast::ExpressionPointer parseTarget();
  // `expression` stands where something is stored or deleted; `verb` says which: "assign to", "delete".
  void checkTarget(const ast::Expression &expression, llvm::StringRef verb, llvm::StringRef hint = "");

  // Between the parentheses of a call or a class, and the closing one. `opening` is where the opening one stands.
  void parseArguments(Begin opening, ast::Expressions &arguments, std::vector<ast::KeywordArgument> &keywords);
  // Up to `closing`, which is not taken: a lambda's end with a colon, and have no annotations.
  ast::Parameters parseParameters(TokenKind closing);

  bool startsExpression(const Token &token) const;
  // After an element of a bracketed list: takes a comma if there is one. False: the closing token is next.
  bool acceptSeparator(TokenKind closing);

private:
  ast::ExpressionPointer parseStarredOr(ast::ExpressionPointer (ExpressionParser::*parse)());
  ast::ExpressionPointer parseYield();
  ast::ExpressionPointer parseLambda();
  ast::ExpressionPointer parseBoolean(ast::BooleanOperator op);
  ast::ExpressionPointer parseNot();
  ast::ExpressionPointer parseComparison();
  bool acceptComparison(ast::CompareOperator &op);
  ast::ExpressionPointer parseBinary(int precedence);
  ast::ExpressionPointer parsePower();
  ast::ExpressionPointer parsePrimary();
  ast::ExpressionPointer parseAtom();
  ast::ExpressionPointer parseName();
  ast::ExpressionPointer parseParenthesized();
  ast::ExpressionPointer parseListDisplay();
  ast::ExpressionPointer parseBraces();
  ast::ExpressionPointer parseDictionary(std::unique_ptr<ast::Dictionary> dictionary);
  ast::ExpressionPointer parseSubscriptIndex();
  ast::ExpressionPointer parseSliceOrIndex();
  bool atComprehension();
  ast::ExpressionPointer parseComprehension(Begin where, ast::ComprehensionForm form, ast::ExpressionPointer element,
                                            ast::ExpressionPointer key, TokenKind closing);
  ast::Parameter parseParameter(ast::ParameterKind kind, bool hasAnnotations);
  [[noreturn]] void failMissingExpression();

  // FormattedStrings.cpp
  void parseFormattedString(ast::Expressions &parts);
  void parseReplacementField(ast::Expressions &parts, bool isRaw);
  ast::ExpressionPointer parseFormat(Begin where, bool isRaw);
  void appendText(ast::Expressions &parts, std::string text, SourceLocation location);
  std::string decode(const Token &token, llvm::StringRef body, const struct StringForm &form);
};

} // namespace nacre
