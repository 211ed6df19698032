#include "compiler/frontend/PatternParser.h"
#include "compiler/frontend/Characters.h"

namespace nacre {

using namespace ast;

PatternParser::PatternPointer PatternParser::parsePatterns() {
  Begin where = begin();
  bool isStar = at(TokenKind::Star);
  PatternPointer first = parseStarOrPattern();
  if (!at(TokenKind::Comma)) {
    if (isStar)
      fail(*first, "a starred pattern can only stand in a sequence", "add a comma to make it one");
    return first;
  }
  auto sequence = start<Pattern>(where);
  sequence->form = PatternForm::Sequence;
  sequence->patterns.push_back(std::move(first));
  while (accept(TokenKind::Comma) && !at(TokenKind::Colon) && !at(TokenKind::If))
    sequence->patterns.push_back(parseStarOrPattern());
  return finish(std::move(sequence));
}

PatternParser::PatternPointer PatternParser::parseStarOrPattern() {
  return at(TokenKind::Star) ? parseStar() : parsePattern();
}

// A name that the pattern binds; empty for the wildcard.
std::string PatternParser::parseCapture() {
  std::string name = expectName("that the pattern binds");
  return name == "_" ? "" : name;
}

PatternParser::PatternPointer PatternParser::parseStar() {
  auto pattern = start<Pattern>();
  take();
  pattern->form = PatternForm::Star;
  pattern->name = parseCapture();
  return finish(std::move(pattern));
}

PatternParser::PatternPointer PatternParser::parsePattern() {
  Nesting nesting(*this);
  Begin where = begin();
  PatternPointer inner = parseAlternatives();
  if (!accept(TokenKind::As))
    return inner;
  auto pattern = start<Pattern>(where);
  if (atName("_"))
    failExpected("a name after 'as'", "'_' binds nothing");
  pattern->name = expectName("after 'as'");
  pattern->patterns.push_back(std::move(inner));
  return finish(std::move(pattern));
}

PatternParser::PatternPointer PatternParser::parseAlternatives() {
  Begin where = begin();
  PatternPointer first = parseClosed();
  if (!at(TokenKind::Bar))
    return first;
  auto pattern = start<Pattern>(where);
  pattern->form = PatternForm::Or;
  pattern->patterns.push_back(std::move(first));
  while (accept(TokenKind::Bar))
    pattern->patterns.push_back(parseClosed());
  return finish(std::move(pattern));
}

PatternParser::PatternPointer PatternParser::parseClosed() {
  switch (peek().kind) {
  case TokenKind::LeftParenthesis:
  case TokenKind::LeftBracket:
    return parseGroupOrSequence();
  case TokenKind::LeftBrace:
    return parseMapping();
  case TokenKind::Name:
    return parseNamed();
  default:
    return parseValue();
  }
}

PatternParser::PatternPointer PatternParser::parseValue() {
  auto pattern = start<Pattern>();
  pattern->form = PatternForm::Value;
  pattern->value = parseLiteral();
  return finish(std::move(pattern));
}

// A number with its sign, a sum of a real and an imaginary one, strings, None, True, False.
ExpressionPointer PatternParser::parseLiteral() {
  auto isNumber = [](TokenKind kind) {
    return kind == TokenKind::Integer || kind == TokenKind::Float || kind == TokenKind::Imaginary;
  };
  switch (peek().kind) {
  case TokenKind::String:
    return parseStrings();
  case TokenKind::None:
  case TokenKind::True:
  case TokenKind::False:
    return parseUnary();
  default:
    break;
  }
  if (!isNumber(peek(at(TokenKind::Minus) ? 1 : 0).kind))
    failExpected("a pattern");
  Begin where = begin();
  ExpressionPointer real;
  if (at(TokenKind::Minus)) {
    auto negative = start<UnaryOperation>();
    take();
    negative->op = UnaryOperator::Minus;
    negative->operand = parseNumber();
    real = finish(std::move(negative));
  } else {
    real = parseNumber();
  }
  if (!at(TokenKind::Plus) && !at(TokenKind::Minus))
    return real;
  auto sum = start<BinaryOperation>(where);
  sum->op = take().kind == TokenKind::Plus ? BinaryOperator::Add : BinaryOperator::Subtract;
  if (!at(TokenKind::Imaginary))
    failExpected("an imaginary number in this pattern");
  sum->left = std::move(real);
  sum->right = parseNumber();
  return finish(std::move(sum));
}

ExpressionPointer PatternParser::parseDottedName() {
  Begin where = begin();
  auto name = start<Name>();
  name->name = expectName("in this pattern");
  ExpressionPointer value = finish(std::move(name));
  while (accept(TokenKind::Dot)) {
    auto attribute = start<Attribute>(where);
    attribute->value = std::move(value);
    Begin nameWhere = begin();
    attribute->name = expectName("after '.'");
    attribute->nameLocation = span(nameWhere);
    value = finish(std::move(attribute));
  }
  return value;
}

// A capture, the wildcard, a dotted name as a value, or a class with its arguments.
PatternParser::PatternPointer PatternParser::parseNamed() {
  auto pattern = start<Pattern>();
  ExpressionPointer name = parseDottedName();
  if (at(TokenKind::LeftParenthesis)) {
    pattern->form = PatternForm::Class;
    pattern->value = std::move(name);
    parseClassArguments(*pattern);
  } else if (llvm::isa<Attribute>(*name)) {
    pattern->form = PatternForm::Value;
    pattern->value = std::move(name);
  } else if (const std::string &capture = llvm::cast<Name>(*name).name; capture != "_") {
    pattern->name = capture;
  }
  return finish(std::move(pattern));
}

void PatternParser::parseClassArguments(Pattern &pattern) {
  take();
  while (!at(TokenKind::RightParenthesis)) {
    if (at(TokenKind::Name) && peek(1).kind == TokenKind::Equal) {
      pattern.attributes.push_back(normalizeName(take().text));
      take();
    } else if (!pattern.attributes.empty()) {
      fail(peek(), "a positional pattern follows a keyword pattern");
    }
    pattern.patterns.push_back(parsePattern());
    if (!acceptSeparator(TokenKind::RightParenthesis))
      break;
  }
  take();
}

PatternParser::PatternPointer PatternParser::parseGroupOrSequence() {
  auto sequence = start<Pattern>();
  sequence->form = PatternForm::Sequence;
  bool isParenthesized = take().kind == TokenKind::LeftParenthesis;
  TokenKind closing = isParenthesized ? TokenKind::RightParenthesis : TokenKind::RightBracket;
  bool seenComma = false;
  while (!at(closing)) {
    sequence->patterns.push_back(parseStarOrPattern());
    if (!acceptSeparator(closing))
      break;
    seenComma = true;
  }
  take();
  if (isParenthesized && !seenComma && sequence->patterns.size() == 1 &&
      sequence->patterns[0]->form != PatternForm::Star)
    return std::move(sequence->patterns[0]);
  return finish(std::move(sequence));
}

PatternParser::PatternPointer PatternParser::parseMapping() {
  auto mapping = start<Pattern>();
  mapping->form = PatternForm::Mapping;
  take();
  while (!at(TokenKind::RightBrace)) {
    if (accept(TokenKind::DoubleStar)) {
      mapping->name = expectName("after '**'");
    } else {
      mapping->keys.push_back(at(TokenKind::Name) ? parseDottedName() : parseLiteral());
      if (llvm::isa<Name>(*mapping->keys.back()))
        fail(*mapping->keys.back(), "a mapping pattern's key is a literal or a dotted name");
      expect(TokenKind::Colon, "after a mapping pattern's key");
      mapping->patterns.push_back(parsePattern());
    }
    if (!acceptSeparator(TokenKind::RightBrace))
      break;
  }
  take();
  return finish(std::move(mapping));
}

} // namespace nacre
