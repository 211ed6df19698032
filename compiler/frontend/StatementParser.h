// Statements, and the whole text.
#pragma once

#include "compiler/frontend/PatternParser.h"

namespace nacre {

class StatementParser : public PatternParser {
public:
  StatementParser(std::shared_ptr<const SourceText> source, bool indented)
      : PatternParser(std::move(source), indented) {}

  ast::Block parseFile();
  ast::Block parseOneFunction();

private:
  void parseStatement(ast::Block &block);
  ast::StatementPointer parseCompound();
  // The colon and what follows it: an indented block, or simple statements on the same line. `header` is the first
  // token of the statement it belongs to, and `name` what that is called: "the 'if' statement".
  ast::Block parseBlock(const Token &header, const llvm::Twine &name);

  // SimpleStatements.cpp
  void parseSimpleStatements(ast::Block &block);
  ast::StatementPointer parseSimpleStatement();
  ast::StatementPointer parseAssignment();
  ast::StatementPointer parseAnnotatedAssignment(Begin where, ast::ExpressionPointer target, bool isSimple);
  ast::StatementPointer parseImport();
  ast::StatementPointer parseImportFrom();
  ast::StatementPointer parseDelete();
  ast::StatementPointer parseRaise();
  ast::StatementPointer parseAssert();
  ast::StatementPointer parseReturn();
  ast::StatementPointer parseScope();
  ast::StatementPointer parseTypeAlias();
  std::string parseDottedModule();

  // CompoundStatements.cpp
  ast::StatementPointer parseIf();
  ast::StatementPointer parseWhile();
  ast::StatementPointer parseFor(Begin where, bool isAsync);
  ast::StatementPointer parseTry();
  ast::StatementPointer parseWith(Begin where, bool isAsync);
  bool startsParenthesizedWith();
  ast::WithItem parseWithItem();
  ast::StatementPointer parseMatch();
  bool startsMatch();
  ast::StatementPointer parseDecorated();
  ast::StatementPointer parseFunction(Begin where, bool isAsync, ast::Expressions decorators);
  ast::StatementPointer parseClass(ast::Expressions decorators);
  std::vector<ast::TypeParameter> parseTypeParameters();
  ast::StatementPointer parseAsync();
  ast::Block parseElse();

  // Which of return, break and continue may stand here.
  struct Surroundings {
    bool isFunction = false;
    bool isLoop = false;
  };
  Surroundings surroundings;
  // Parses a block within other surroundings.
  ast::Block parseBlockWithin(Surroundings inner, const Token &header, const llvm::Twine &name);
};

} // namespace nacre
