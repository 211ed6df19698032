// The expression parser's atoms: names, numbers, and everything between brackets.
#include "compiler/frontend/Characters.h"
#include "compiler/frontend/ExpressionParser.h"
#include "compiler/frontend/Literals.h"

namespace nacre {

using namespace ast;

ExpressionPointer ExpressionParser::parseAtom() {
  switch (peek().kind) {
  case TokenKind::Name:
    return parseName();
  case TokenKind::Integer:
  case TokenKind::Float:
  case TokenKind::Imaginary:
    return parseNumber();
  case TokenKind::String:
  case TokenKind::FStringStart:
    return parseStrings();
  case TokenKind::LeftParenthesis:
    return parseParenthesized();
  case TokenKind::LeftBracket:
    return parseListDisplay();
  case TokenKind::LeftBrace:
    return parseBraces();
  case TokenKind::None: {
    auto node = start<NoneLiteral>();
    take();
    return finish(std::move(node));
  }
  case TokenKind::Ellipsis: {
    auto node = start<EllipsisLiteral>();
    take();
    return finish(std::move(node));
  }
  case TokenKind::True:
  case TokenKind::False: {
    auto node = start<BoolLiteral>();
    node->value = take().kind == TokenKind::True;
    return finish(std::move(node));
  }
  default:
    failMissingExpression();
  }
}

ExpressionPointer ExpressionParser::parseName() {
  auto node = start<Name>();
  node->name = normalizeName(take().text);
  return finish(std::move(node));
}

ExpressionPointer ExpressionParser::parseNumber() {
  Begin where = begin();
  const Token &token = take();
  if (token.kind == TokenKind::Integer) {
    auto node = start<IntegerLiteral>(where);
    node->value = integerValue(token.text);
    return finish(std::move(node));
  }
  if (token.kind == TokenKind::Float) {
    auto node = start<FloatLiteral>(where);
    node->value = floatValue(token.text);
    return finish(std::move(node));
  }
  auto node = start<ImaginaryLiteral>(where);
  node->value = floatValue(token.text.drop_back());
  return finish(std::move(node));
}

ExpressionPointer ExpressionParser::parseParenthesized() {
  Begin where = begin();
  take();
  if (accept(TokenKind::RightParenthesis))
    return finish(start<Tuple>(where));
  if (at(TokenKind::Yield)) {
    ExpressionPointer yield = parseYield();
    expect(TokenKind::RightParenthesis, "after the yield expression");
    return yield;
  }
  ExpressionPointer first = parseStarredOr(&ExpressionParser::parseNamedExpression);
  if (atComprehension())
    return parseComprehension(where, ComprehensionForm::Generator, std::move(first), nullptr,
                              TokenKind::RightParenthesis);
  if (accept(TokenKind::RightParenthesis)) {
    if (llvm::isa<Starred>(*first))
      fail(*first, "a starred expression can only stand in a list, a tuple or a call",
           "add a comma to make it a tuple");
    return first;
  }
  auto tuple = start<Tuple>(where);
  tuple->elements.push_back(std::move(first));
  while (acceptSeparator(TokenKind::RightParenthesis) && !at(TokenKind::RightParenthesis))
    tuple->elements.push_back(parseStarredOr(&ExpressionParser::parseNamedExpression));
  take();
  return finish(std::move(tuple));
}

ExpressionPointer ExpressionParser::parseListDisplay() {
  Begin where = begin();
  take();
  auto list = start<List>(where);
  while (!at(TokenKind::RightBracket)) {
    list->elements.push_back(parseStarredOr(&ExpressionParser::parseNamedExpression));
    if (list->elements.size() == 1 && atComprehension())
      return parseComprehension(where, ComprehensionForm::List, std::move(list->elements[0]), nullptr,
                                TokenKind::RightBracket);
    if (!acceptSeparator(TokenKind::RightBracket))
      break;
  }
  take();
  return finish(std::move(list));
}

ExpressionPointer ExpressionParser::parseBraces() {
  auto dictionary = start<Dictionary>();
  Begin where = begin();
  take();
  if (at(TokenKind::RightBrace) || at(TokenKind::DoubleStar))
    return parseDictionary(std::move(dictionary));
  ExpressionPointer first = parseStarredOr(&ExpressionParser::parseNamedExpression);
  if (!llvm::isa<Starred>(*first) && accept(TokenKind::Colon)) {
    ExpressionPointer value = parseExpression();
    if (atComprehension())
      return parseComprehension(where, ComprehensionForm::Dictionary, std::move(value), std::move(first),
                                TokenKind::RightBrace);
    dictionary->keys.push_back(std::move(first));
    dictionary->values.push_back(std::move(value));
    acceptSeparator(TokenKind::RightBrace);
    return parseDictionary(std::move(dictionary));
  }
  if (atComprehension())
    return parseComprehension(where, ComprehensionForm::Set, std::move(first), nullptr, TokenKind::RightBrace);
  auto set = start<Set>(where);
  set->elements.push_back(std::move(first));
  while (acceptSeparator(TokenKind::RightBrace) && !at(TokenKind::RightBrace))
    set->elements.push_back(parseStarredOr(&ExpressionParser::parseNamedExpression));
  take();
  return finish(std::move(set));
}

// The rest of a dictionary, from a key, a `**` or the closing brace on.
ExpressionPointer ExpressionParser::parseDictionary(std::unique_ptr<Dictionary> dictionary) {
  while (!at(TokenKind::RightBrace)) {
    ExpressionPointer key;
    if (accept(TokenKind::DoubleStar)) {
      dictionary->keys.push_back(nullptr);
      dictionary->values.push_back(parseBitwise());
    } else {
      dictionary->keys.push_back(parseExpression());
      expect(TokenKind::Colon, "after a dictionary's key");
      dictionary->values.push_back(parseExpression());
    }
    if (!acceptSeparator(TokenKind::RightBrace))
      break;
  }
  take();
  return finish(std::move(dictionary));
}

bool ExpressionParser::atComprehension() {
  return at(TokenKind::For) || (at(TokenKind::Async) && peek(1).kind == TokenKind::For);
}

// The clauses of a comprehension whose element is parsed already, and the closing bracket.
ExpressionPointer ExpressionParser::parseComprehension(Begin where, ComprehensionForm form, ExpressionPointer element,
                                                       ExpressionPointer key, TokenKind closing) {
  if (llvm::isa<Starred>(*element))
    fail(*element, "a comprehension's element cannot be starred");
  auto node = start<Comprehension>(where);
  node->form = form;
  node->element = std::move(element);
  node->key = std::move(key);
  while (atComprehension()) {
    ComprehensionClause &clause = node->clauses.emplace_back();
    clause.isAsync = accept(TokenKind::Async);
    take();
    clause.target = parseTargets();
    expect(TokenKind::In, "after the target of a comprehension");
    clause.iterable = parseBoolean(BooleanOperator::Or);
    while (accept(TokenKind::If))
      clause.conditions.push_back(parseBoolean(BooleanOperator::Or));
  }
  if (!at(closing))
    failExpected("'" + spelling(closing) + "' after the comprehension");
  take();
  return finish(std::move(node));
}

} // namespace nacre
