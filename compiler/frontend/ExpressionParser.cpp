#include "compiler/frontend/ExpressionParser.h"
#include "compiler/frontend/Characters.h"
#include "llvm/ADT/StringSet.h"

namespace nacre {

using namespace ast;

bool ExpressionParser::startsExpression(const Token &token) const {
  switch (token.kind) {
  case TokenKind::Name:
  case TokenKind::Integer:
  case TokenKind::Float:
  case TokenKind::Imaginary:
  case TokenKind::String:
  case TokenKind::FStringStart:
  case TokenKind::LeftParenthesis:
  case TokenKind::LeftBracket:
  case TokenKind::LeftBrace:
  case TokenKind::Ellipsis:
  case TokenKind::Plus:
  case TokenKind::Minus:
  case TokenKind::Tilde:
  case TokenKind::False:
  case TokenKind::None:
  case TokenKind::True:
  case TokenKind::Await:
  case TokenKind::Lambda:
  case TokenKind::Not:
    return true;
  default:
    return false;
  }
}

void ExpressionParser::failMissingExpression() {
  llvm::StringRef hint;
  if (size_t taken = mark()) {
    rewind(taken - 1);
    TokenKind previous = peek().kind, found = peek(1).kind;
    if (previous == TokenKind::Ampersand && found == TokenKind::Ampersand)
      hint = "write 'and'";
    else if (previous == TokenKind::Bar && found == TokenKind::Bar)
      hint = "write 'or'";
    else if (previous == TokenKind::Less && found == TokenKind::Greater)
      hint = "write '!='";
    else if (previous == TokenKind::Plus || previous == TokenKind::Minus) {
      rewind(taken >= 2 ? taken - 2 : taken - 1);
      if (peek().kind == previous && peek(1).kind == previous && peek().endColumn == peek(1).column)
        hint = previous == TokenKind::Plus ? "there is no '++'; write '+= 1'" : "there is no '--'; write '-= 1'";
    }
    rewind(taken);
  }
  failExpected("an expression", hint);
}

bool ExpressionParser::acceptSeparator(TokenKind closing) {
  if (accept(TokenKind::Comma))
    return true;
  if (!at(closing))
    failExpected("',' or '" + spelling(closing) + "'", startsExpression(peek()) ? "perhaps a comma is missing"
                                                       : at(TokenKind::Equal)   ? "use '==' to compare"
                                                                                : "");
  return false;
}

// ------------------------------------------------------------------------------------------------------------------
// Lists, stars, walruses, yields

ExpressionPointer ExpressionParser::parseStarred() {
  auto node = start<Starred>();
  take();
  node->value = parseBitwise();
  return finish(std::move(node));
}

ExpressionPointer ExpressionParser::parseStarredOr(ExpressionPointer (ExpressionParser::*parse)()) {
  return at(TokenKind::Star) ? parseStarred() : (this->*parse)();
}

ExpressionPointer ExpressionParser::parseExpressionList() {
  Begin where = begin();
  ExpressionPointer first = parseStarredOr(&ExpressionParser::parseExpression);
  if (!at(TokenKind::Comma)) {
    if (llvm::isa<Starred>(*first))
      fail(*first, "a starred expression can only stand in a list, a tuple or a call",
           "add a comma to make it a tuple");
    return first;
  }
  auto tuple = start<Tuple>(where);
  tuple->elements.push_back(std::move(first));
  while (accept(TokenKind::Comma) && (startsExpression(peek()) || at(TokenKind::Star)))
    tuple->elements.push_back(parseStarredOr(&ExpressionParser::parseExpression));
  return finish(std::move(tuple));
}

ExpressionPointer ExpressionParser::parseExpressionListOrYield() {
  return at(TokenKind::Yield) ? parseYield() : parseExpressionList();
}

ExpressionPointer ExpressionParser::parseYield() {
  auto node = start<Yield>();
  take();
  if (accept(TokenKind::From)) {
    node->isFrom = true;
    node->value = parseExpression();
  } else if (startsExpression(peek()) || at(TokenKind::Star)) {
    node->value = parseExpressionList();
  }
  return finish(std::move(node));
}

ExpressionPointer ExpressionParser::parseNamedExpression() {
  if (at(TokenKind::Name) && peek(1).kind == TokenKind::ColonEqual) {
    auto node = start<NamedExpression>();
    node->target = start<Name>();
    node->target->name = normalizeName(take().text);
    node->target = finish(std::move(node->target));
    take();
    node->value = parseExpression();
    return finish(std::move(node));
  }
  ExpressionPointer expression = parseExpression();
  if (at(TokenKind::ColonEqual))
    fail(*expression, "only a name can be assigned with ':='");
  return expression;
}

ExpressionPointer ExpressionParser::parseCondition() {
  ExpressionPointer condition = parseNamedExpression();
  if (at(TokenKind::Equal))
    fail(peek(), "'=' does not compare", "use '==' to compare, or ':=' to assign within an expression");
  return condition;
}

// ------------------------------------------------------------------------------------------------------------------
// Operators

ExpressionPointer ExpressionParser::parseExpression() {
  Nesting nesting(*this);
  if (at(TokenKind::Lambda))
    return parseLambda();
  Begin where = begin();
  ExpressionPointer body = parseBoolean(BooleanOperator::Or);
  if (!at(TokenKind::If))
    return body;
  auto node = start<Conditional>(where);
  take();
  node->body = std::move(body);
  node->test = parseBoolean(BooleanOperator::Or);
  if (!at(TokenKind::Else))
    failExpected("'else' after the condition", "a conditional expression is written: value if condition else other");
  take();
  node->orElse = parseExpression();
  return finish(std::move(node));
}

ExpressionPointer ExpressionParser::parseLambda() {
  auto node = start<Lambda>();
  take();
  node->parameters = parseParameters(TokenKind::Colon);
  expect(TokenKind::Colon, "after the parameters of a lambda");
  node->body = parseExpression();
  return finish(std::move(node));
}

ExpressionPointer ExpressionParser::parseBoolean(BooleanOperator op) {
  auto parseOperand = [&] { return op == BooleanOperator::Or ? parseBoolean(BooleanOperator::And) : parseNot(); };
  TokenKind keyword = op == BooleanOperator::Or ? TokenKind::Or : TokenKind::And;
  Begin where = begin();
  ExpressionPointer first = parseOperand();
  if (!at(keyword))
    return first;
  auto node = start<BooleanOperation>(where);
  node->op = op;
  node->values.push_back(std::move(first));
  while (accept(keyword))
    node->values.push_back(parseOperand());
  return finish(std::move(node));
}

ExpressionPointer ExpressionParser::parseNot() {
  if (!at(TokenKind::Not))
    return parseComparison();
  Nesting nesting(*this);
  auto node = start<UnaryOperation>();
  take();
  node->op = UnaryOperator::Not;
  node->operand = parseNot();
  return finish(std::move(node));
}

bool ExpressionParser::acceptComparison(CompareOperator &op) {
  switch (peek().kind) {
  case TokenKind::DoubleEqual:
    op = CompareOperator::Equal;
    break;
  case TokenKind::NotEqual:
    op = CompareOperator::NotEqual;
    break;
  case TokenKind::Less:
    op = CompareOperator::Less;
    break;
  case TokenKind::LessEqual:
    op = CompareOperator::LessEqual;
    break;
  case TokenKind::Greater:
    op = CompareOperator::Greater;
    break;
  case TokenKind::GreaterEqual:
    op = CompareOperator::GreaterEqual;
    break;
  case TokenKind::In:
    op = CompareOperator::In;
    break;
  case TokenKind::Not:
    if (peek(1).kind != TokenKind::In)
      return false;
    take();
    op = CompareOperator::NotIn;
    break;
  case TokenKind::Is:
    op = peek(1).kind == TokenKind::Not ? CompareOperator::IsNot : CompareOperator::Is;
    if (op == CompareOperator::IsNot)
      take();
    break;
  default:
    return false;
  }
  take();
  return true;
}

ExpressionPointer ExpressionParser::parseComparison() {
  Begin where = begin();
  ExpressionPointer left = parseBitwise();
  CompareOperator op;
  if (!acceptComparison(op))
    return left;
  auto node = start<Comparison>(where);
  node->left = std::move(left);
  do {
    node->ops.push_back(op);
    node->comparators.push_back(parseBitwise());
  } while (acceptComparison(op));
  return finish(std::move(node));
}

namespace {

struct BinaryToken {
  int precedence; // -1: not a binary operator
  BinaryOperator op;
};

BinaryToken binaryToken(TokenKind kind) {
  switch (kind) {
  case TokenKind::Bar:
    return {0, BinaryOperator::Or};
  case TokenKind::Caret:
    return {1, BinaryOperator::Xor};
  case TokenKind::Ampersand:
    return {2, BinaryOperator::And};
  case TokenKind::ShiftLeft:
    return {3, BinaryOperator::ShiftLeft};
  case TokenKind::ShiftRight:
    return {3, BinaryOperator::ShiftRight};
  case TokenKind::Plus:
    return {4, BinaryOperator::Add};
  case TokenKind::Minus:
    return {4, BinaryOperator::Subtract};
  case TokenKind::Star:
    return {5, BinaryOperator::Multiply};
  case TokenKind::At:
    return {5, BinaryOperator::MatrixMultiply};
  case TokenKind::Slash:
    return {5, BinaryOperator::Divide};
  case TokenKind::DoubleSlash:
    return {5, BinaryOperator::FloorDivide};
  case TokenKind::Percent:
    return {5, BinaryOperator::Modulo};
  default:
    return {-1, BinaryOperator::Add};
  }
}

} // namespace

// All binary operators but `**` group to the left: operands of `precedence` or tighter are taken in a loop.
ExpressionPointer ExpressionParser::parseBinary(int precedence) {
  Begin where = begin();
  ExpressionPointer left = parseUnary();
  while (true) {
    auto [found, op] = binaryToken(peek().kind);
    if (found < precedence)
      return left;
    take();
    auto node = start<BinaryOperation>(where);
    node->op = op;
    node->left = std::move(left);
    node->right = parseBinary(found + 1);
    left = finish(std::move(node));
  }
}

ExpressionPointer ExpressionParser::parseUnary() {
  UnaryOperator op;
  switch (peek().kind) {
  case TokenKind::Plus:
    op = UnaryOperator::Plus;
    break;
  case TokenKind::Minus:
    op = UnaryOperator::Minus;
    break;
  case TokenKind::Tilde:
    op = UnaryOperator::Invert;
    break;
  default:
    return parsePower();
  }
  Nesting nesting(*this);
  auto node = start<UnaryOperation>();
  take();
  node->op = op;
  node->operand = parseUnary();
  return finish(std::move(node));
}

// `**` binds tighter than a sign before it and looser than one after it, and groups to the right.
ExpressionPointer ExpressionParser::parsePower() {
  Begin where = begin();
  ExpressionPointer base;
  if (at(TokenKind::Await)) {
    auto node = start<Await>();
    take();
    node->value = parsePrimary();
    base = finish(std::move(node));
  } else {
    base = parsePrimary();
  }
  if (!at(TokenKind::DoubleStar))
    return base;
  Nesting nesting(*this);
  auto node = start<BinaryOperation>(where);
  take();
  node->op = BinaryOperator::Power;
  node->left = std::move(base);
  node->right = parseUnary();
  return finish(std::move(node));
}

// ------------------------------------------------------------------------------------------------------------------
// Attributes, calls, subscripts

ExpressionPointer ExpressionParser::parsePrimary() {
  Begin where = begin();
  ExpressionPointer value = parseAtom();
  while (true) {
    if (at(TokenKind::Dot)) {
      auto node = start<Attribute>(where);
      take();
      node->value = std::move(value);
      Begin name = begin();
      node->name = expectName("after '.'");
      node->nameLocation = span(name);
      value = finish(std::move(node));
    } else if (at(TokenKind::LeftParenthesis)) {
      auto node = start<Call>(where);
      Begin opening = begin();
      take();
      node->callee = std::move(value);
      parseArguments(opening, node->arguments, node->keywords);
      value = finish(std::move(node));
    } else if (at(TokenKind::LeftBracket)) {
      auto node = start<Subscript>(where);
      take();
      node->value = std::move(value);
      node->index = parseSubscriptIndex();
      expect(TokenKind::RightBracket, "after the index");
      value = finish(std::move(node));
    } else {
      return value;
    }
  }
}

ExpressionPointer ExpressionParser::parseSubscriptIndex() {
  Begin where = begin();
  ExpressionPointer first = parseSliceOrIndex();
  if (!at(TokenKind::Comma) && !llvm::isa<Starred>(*first)) {
    if (!at(TokenKind::RightBracket))
      acceptSeparator(TokenKind::RightBracket);
    return first;
  }
  auto tuple = start<Tuple>(where);
  tuple->elements.push_back(std::move(first));
  while (acceptSeparator(TokenKind::RightBracket) && !at(TokenKind::RightBracket))
    tuple->elements.push_back(parseSliceOrIndex());
  return finish(std::move(tuple));
}

ExpressionPointer ExpressionParser::parseSliceOrIndex() {
  if (at(TokenKind::Star))
    return parseStarred();
  Begin where = begin();
  ExpressionPointer lower;
  if (!at(TokenKind::Colon)) {
    bool isNamed = at(TokenKind::Name) && peek(1).kind == TokenKind::ColonEqual;
    lower = parseNamedExpression();
    if (!at(TokenKind::Colon))
      return lower;
    if (isNamed)
      fail(*lower, "':=' in a slice needs parentheses");
  }
  auto slice = start<Slice>(where);
  take();
  slice->lower = std::move(lower);
  if (startsExpression(peek()))
    slice->upper = parseExpression();
  if (accept(TokenKind::Colon) && startsExpression(peek()))
    slice->step = parseExpression();
  return finish(std::move(slice));
}

void ExpressionParser::parseArguments(Begin opening, Expressions &arguments, std::vector<KeywordArgument> &keywords) {
  llvm::StringSet<> names;
  bool seenUnpacking = false;
  while (!at(TokenKind::RightParenthesis)) {
    Begin where = begin();
    if (accept(TokenKind::DoubleStar)) {
      KeywordArgument keyword;
      keyword.value = parseExpression();
      keyword.location = span(where);
      keywords.push_back(std::move(keyword));
      seenUnpacking = true;
    } else if (at(TokenKind::Star)) {
      auto starred = start<Starred>();
      const Token &star = take();
      if (seenUnpacking)
        fail(star, "'*' after '**' in a call");
      starred->value = parseExpression();
      arguments.push_back(finish(std::move(starred)));
    } else if (at(TokenKind::Name) && peek(1).kind == TokenKind::Equal) {
      KeywordArgument keyword;
      const Token &name = take();
      keyword.name = normalizeName(name.text);
      keyword.nameLocation = span(where);
      if (!names.insert(keyword.name).second)
        fail(name, "the keyword argument '" + keyword.name + "' is repeated");
      take();
      keyword.value = parseExpression();
      keyword.location = span(where);
      keywords.push_back(std::move(keyword));
    } else {
      ExpressionPointer argument = parseNamedExpression();
      if (at(TokenKind::Equal))
        fail(*argument, "a keyword argument needs a plain name before '='", "use '==' to compare");
      if (atComprehension()) {
        if (!arguments.empty() || !keywords.empty())
          fail(*argument, "a generator expression beside other arguments needs its own parentheses");
        arguments.push_back(parseComprehension(opening, ComprehensionForm::Generator, std::move(argument), nullptr,
                                               TokenKind::RightParenthesis));
        return;
      }
      if (!keywords.empty())
        fail(*argument, "a positional argument follows a keyword argument");
      arguments.push_back(std::move(argument));
    }
    if (!acceptSeparator(TokenKind::RightParenthesis))
      break;
  }
  take();
}

} // namespace nacre
