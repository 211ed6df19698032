// The expression parser's binding places: targets of assignments and loops, and parameters of functions.
#include "compiler/frontend/ExpressionParser.h"
#include "llvm/ADT/StringSet.h"

namespace nacre {

using namespace ast;

ExpressionPointer ExpressionParser::parseTarget() {
  ExpressionPointer target = at(TokenKind::Star) ? parseStarred() : parseBitwise();
  checkTarget(*target, "assign to");
  return target;
}

ExpressionPointer ExpressionParser::parseTargets() {
  Begin where = begin();
  ExpressionPointer first = at(TokenKind::Star) ? parseStarred() : parseBitwise();
  if (at(TokenKind::Comma)) {
    auto tuple = start<Tuple>(where);
    tuple->elements.push_back(std::move(first));
    while (accept(TokenKind::Comma) && (startsExpression(peek()) || at(TokenKind::Star)))
      tuple->elements.push_back(at(TokenKind::Star) ? parseStarred() : parseBitwise());
    first = finish(std::move(tuple));
  }
  checkTarget(*first, "assign to");
  return first;
}

void ExpressionParser::checkTarget(const Expression &expression, llvm::StringRef verb, llvm::StringRef hint) {
  auto checkElements = [&](const Expressions &elements) {
    bool seenStar = false;
    for (const ExpressionPointer &element : elements) {
      const Expression *target = element.get();
      if (auto *starred = llvm::dyn_cast<Starred>(target)) {
        if (seenStar)
          fail(*starred, "only one target of an assignment can be starred");
        seenStar = true;
        target = starred->value.get();
      }
      checkTarget(*target, verb, hint);
    }
  };
  switch (expression.kind) {
  case Kind::Name:
  case Kind::Attribute:
  case Kind::Subscript:
    return;
  case Kind::Tuple:
    return checkElements(llvm::cast<Tuple>(expression).elements);
  case Kind::List:
    return checkElements(llvm::cast<List>(expression).elements);
  case Kind::Starred:
    fail(expression, "a starred target can only stand in a list or a tuple", "add a comma to make it a tuple");
  case Kind::NoneLiteral:
    fail(expression, "cannot " + verb + " None", hint);
  case Kind::BoolLiteral:
    fail(expression, "cannot " + verb + (llvm::cast<BoolLiteral>(expression).value ? " True" : " False"), hint);
  default:
    fail(expression, "cannot " + verb + " this " + ast::describe(expression.kind), hint);
  }
}

Parameter ExpressionParser::parseParameter(ParameterKind kind, bool hasAnnotations) {
  Parameter parameter;
  parameter.kind = kind;
  Begin where = begin();
  parameter.name = expectName("for a parameter");
  parameter.nameLocation = span(where);
  if (hasAnnotations && accept(TokenKind::Colon))
    parameter.annotation =
        kind == ParameterKind::VariadicPositional && at(TokenKind::Star) ? parseStarred() : parseExpression();
  parameter.location = span(where);
  return parameter;
}

Parameters ExpressionParser::parseParameters(TokenKind closing) {
  bool hasAnnotations = closing == TokenKind::RightParenthesis;
  Parameters parameters;
  llvm::StringSet<> names;
  ParameterKind kind = ParameterKind::Regular;
  auto add = [&](Parameter parameter) -> Parameter & {
    if (!names.insert(parameter.name).second)
      throwSyntaxError(parameter.nameLocation, "two parameters are named '" + parameter.name + "'");
    return parameters.emplace_back(std::move(parameter));
  };
  bool seenDefault = false, seenSlash = false, needsKeyword = false, ended = false;
  while (!at(closing)) {
    const Token &first = peek();
    if (ended)
      fail(first, "nothing can follow the '**' parameter");
    if (accept(TokenKind::Slash)) {
      if (seenSlash || kind != ParameterKind::Regular || parameters.empty())
        fail(first,
             parameters.empty() ? "at least one parameter must precede '/'" : "'/' must precede '*' and come once");
      seenSlash = true;
      for (Parameter &parameter : parameters)
        parameter.kind = ParameterKind::PositionalOnly;
    } else if (at(TokenKind::Star) || at(TokenKind::DoubleStar)) {
      bool isKeywords = take().kind == TokenKind::DoubleStar;
      if (!isKeywords && kind == ParameterKind::KeywordOnly)
        fail(first, "'*' can come only once among the parameters");
      bool isBare = !isKeywords && at(TokenKind::Comma);
      if (isKeywords && needsKeyword)
        fail(first, "a parameter must follow the bare '*'");
      if (!isBare) {
        add(parseParameter(isKeywords ? ParameterKind::VariadicKeyword : ParameterKind::VariadicPositional,
                           hasAnnotations));
        if (at(TokenKind::Equal))
          fail(peek(), "a starred parameter cannot have a default value");
      }
      needsKeyword = isBare;
      ended = isKeywords;
      kind = ParameterKind::KeywordOnly;
    } else {
      Parameter &parameter = add(parseParameter(kind, hasAnnotations));
      needsKeyword = false;
      if (accept(TokenKind::Equal)) {
        parameter.defaultValue = parseExpression();
        seenDefault = true;
      } else if (seenDefault && kind == ParameterKind::Regular) {
        throwSyntaxError(parameter.nameLocation,
                         "parameter '" + parameter.name + "' without a default value follows one with a default");
      }
    }
    if (!acceptSeparator(closing))
      break;
  }
  if (needsKeyword)
    failExpected("a parameter after the bare '*'");
  return parameters;
}

} // namespace nacre
