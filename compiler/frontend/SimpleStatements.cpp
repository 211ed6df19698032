// The statement parser's statements of one line.
#include "compiler/frontend/Characters.h"
#include "compiler/frontend/StatementParser.h"
#include <optional>

namespace nacre {

using namespace ast;

void StatementParser::parseSimpleStatements(Block &block) {
  while (true) {
    block.push_back(parseSimpleStatement());
    if (!accept(TokenKind::Semicolon))
      break;
    if (at(TokenKind::Newline))
      break;
  }
  if (accept(TokenKind::Newline))
    return;
  llvm::StringRef hint;
  auto *statement = llvm::dyn_cast<ExpressionStatement>(block.back().get());
  if (auto *name = statement ? llvm::dyn_cast<Name>(statement->value.get()) : nullptr) {
    if ((name->name == "print" || name->name == "exec") && startsExpression(peek()))
      hint = "a call needs parentheses";
    else if (startsExpression(peek()))
      hint = "perhaps an operator, a comma or parentheses are missing";
  }
  failExpected("end of line", hint);
}

StatementPointer StatementParser::parseSimpleStatement() {
  auto parseBare = [&](auto node) -> StatementPointer {
    take();
    return finish(std::move(node));
  };
  switch (peek().kind) {
  case TokenKind::Pass:
    return parseBare(start<Pass>());
  case TokenKind::Break:
    if (!surroundings.isLoop)
      fail(peek(), "'break' outside a loop");
    return parseBare(start<Break>());
  case TokenKind::Continue:
    if (!surroundings.isLoop)
      fail(peek(), "'continue' outside a loop");
    return parseBare(start<Continue>());
  case TokenKind::Return:
    return parseReturn();
  case TokenKind::Import:
    return parseImport();
  case TokenKind::From:
    return parseImportFrom();
  case TokenKind::Del:
    return parseDelete();
  case TokenKind::Raise:
    return parseRaise();
  case TokenKind::Assert:
    return parseAssert();
  case TokenKind::Global:
  case TokenKind::Nonlocal:
    return parseScope();
  default:
    if (atName("type") && peek(1).kind == TokenKind::Name)
      return parseTypeAlias();
    return parseAssignment();
  }
}

StatementPointer StatementParser::parseReturn() {
  if (!surroundings.isFunction)
    fail(peek(), "'return' outside a function");
  auto node = start<Return>();
  take();
  if (startsExpression(peek()) || at(TokenKind::Star))
    node->value = parseExpressionList();
  return finish(std::move(node));
}

namespace {

std::optional<BinaryOperator> augmentedOperator(TokenKind kind) {
  switch (kind) {
  case TokenKind::PlusEqual:
    return BinaryOperator::Add;
  case TokenKind::MinusEqual:
    return BinaryOperator::Subtract;
  case TokenKind::StarEqual:
    return BinaryOperator::Multiply;
  case TokenKind::AtEqual:
    return BinaryOperator::MatrixMultiply;
  case TokenKind::SlashEqual:
    return BinaryOperator::Divide;
  case TokenKind::DoubleSlashEqual:
    return BinaryOperator::FloorDivide;
  case TokenKind::PercentEqual:
    return BinaryOperator::Modulo;
  case TokenKind::DoubleStarEqual:
    return BinaryOperator::Power;
  case TokenKind::ShiftLeftEqual:
    return BinaryOperator::ShiftLeft;
  case TokenKind::ShiftRightEqual:
    return BinaryOperator::ShiftRight;
  case TokenKind::AmpersandEqual:
    return BinaryOperator::And;
  case TokenKind::BarEqual:
    return BinaryOperator::Or;
  case TokenKind::CaretEqual:
    return BinaryOperator::Xor;
  default:
    return std::nullopt;
  }
}

bool isSingleTarget(const Expression &expression) { return llvm::isa<Name, Attribute, Subscript>(expression); }

} // namespace

// An expression, or what begins like one: an assignment of any form.
StatementPointer StatementParser::parseAssignment() {
  Begin where = begin();
  bool startsWithName = at(TokenKind::Name);
  ExpressionPointer value = parseExpressionListOrYield();

  if (at(TokenKind::Colon))
    return parseAnnotatedAssignment(where, std::move(value), startsWithName);

  if (std::optional<BinaryOperator> op = augmentedOperator(peek().kind)) {
    if (!isSingleTarget(*value))
      fail(*value, "cannot assign to this " + ast::describe(value->kind) + " with '" + spelling(peek().kind) + "'");
    auto node = start<AugmentedAssign>(where);
    take();
    node->target = std::move(value);
    node->op = *op;
    node->value = parseExpressionListOrYield();
    return finish(std::move(node));
  }

  if (at(TokenKind::Equal)) {
    auto node = start<Assign>(where);
    while (accept(TokenKind::Equal)) {
      checkTarget(*value, "assign to", "use '==' to compare");
      node->targets.push_back(std::move(value));
      value = parseExpressionListOrYield();
    }
    node->value = std::move(value);
    return finish(std::move(node));
  }

  if (at(TokenKind::ColonEqual))
    fail(peek(), "':=' cannot stand at the top of a statement", "write '='");
  auto node = start<ExpressionStatement>(where);
  node->value = std::move(value);
  return finish(std::move(node));
}

StatementPointer StatementParser::parseAnnotatedAssignment(Begin where, ExpressionPointer target, bool isSimple) {
  if (!isSingleTarget(*target))
    fail(*target, "a " + ast::describe(target->kind) + " cannot be annotated",
         "only a name, an attribute or a subscript can; or is a keyword missing before it?");
  auto node = start<AnnotatedAssign>(where);
  take();
  node->isSimple = isSimple && llvm::isa<Name>(*target);
  node->target = std::move(target);
  node->annotation = parseExpression();
  if (accept(TokenKind::Equal))
    node->value = parseExpressionListOrYield();
  return finish(std::move(node));
}

StatementPointer StatementParser::parseTypeAlias() {
  auto node = start<TypeAlias>();
  take();
  node->name = start<Name>();
  node->name->name = normalizeName(take().text);
  node->name = finish(std::move(node->name));
  node->typeParameters = parseTypeParameters();
  expect(TokenKind::Equal, "after the name of a type alias");
  node->value = parseExpression();
  return finish(std::move(node));
}

// ------------------------------------------------------------------------------------------------------------------
// Imports

std::string StatementParser::parseDottedModule() {
  std::string name = expectName("for a module");
  while (accept(TokenKind::Dot))
    name += "." + expectName("after '.'");
  return name;
}

StatementPointer StatementParser::parseImport() {
  auto node = start<Import>();
  take();
  do {
    Begin where = begin();
    ImportedName &imported = node->names.emplace_back();
    imported.name = parseDottedModule();
    if (accept(TokenKind::As))
      imported.alias = expectName("after 'as'");
    imported.location = span(where);
  } while (accept(TokenKind::Comma));
  return finish(std::move(node));
}

StatementPointer StatementParser::parseImportFrom() {
  auto node = start<ImportFrom>();
  take();
  while (at(TokenKind::Dot) || at(TokenKind::Ellipsis))
    node->level += take().kind == TokenKind::Dot ? 1 : 3;
  if (node->level == 0 || !at(TokenKind::Import))
    node->module = parseDottedModule();
  expect(TokenKind::Import, "after the module's name");

  Begin where = begin();
  if (accept(TokenKind::Star)) {
    node->names.push_back({"*", "", span(where)});
    return finish(std::move(node));
  }
  bool isParenthesized = accept(TokenKind::LeftParenthesis);
  while (true) {
    where = begin();
    ImportedName &imported = node->names.emplace_back();
    imported.name = expectName("to import");
    if (accept(TokenKind::As))
      imported.alias = expectName("after 'as'");
    imported.location = span(where);
    if (isParenthesized ? !acceptSeparator(TokenKind::RightParenthesis) : !accept(TokenKind::Comma))
      break;
    if (isParenthesized && at(TokenKind::RightParenthesis))
      break;
  }
  if (isParenthesized)
    take();
  return finish(std::move(node));
}

// ------------------------------------------------------------------------------------------------------------------
// The rest

StatementPointer StatementParser::parseDelete() {
  auto node = start<Delete>();
  take();
  do {
    node->targets.push_back(parseExpression());
    checkTarget(*node->targets.back(), "delete");
  } while (accept(TokenKind::Comma) && startsExpression(peek()));
  return finish(std::move(node));
}

StatementPointer StatementParser::parseRaise() {
  auto node = start<Raise>();
  take();
  if (startsExpression(peek())) {
    node->exception = parseExpression();
    if (accept(TokenKind::From))
      node->cause = parseExpression();
  }
  return finish(std::move(node));
}

StatementPointer StatementParser::parseAssert() {
  auto node = start<Assert>();
  take();
  node->test = parseExpression();
  if (at(TokenKind::Equal))
    fail(peek(), "'=' does not compare", "use '=='");
  if (accept(TokenKind::Comma))
    node->message = parseExpression();
  return finish(std::move(node));
}

StatementPointer StatementParser::parseScope() {
  auto node = start<Scope>();
  node->isNonlocal = take().kind == TokenKind::Nonlocal;
  do
    node->names.push_back(expectName(node->isNonlocal ? "after 'nonlocal'" : "after 'global'"));
  while (accept(TokenKind::Comma));
  return finish(std::move(node));
}

} // namespace nacre
