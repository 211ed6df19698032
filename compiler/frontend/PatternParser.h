// The patterns of a match statement.
#pragma once

#include "compiler/frontend/ExpressionParser.h"

namespace nacre {

class PatternParser : public ExpressionParser {
protected:
  using ExpressionParser::ExpressionParser;

  // What follows `case`: a sequence when there is a comma.
  std::unique_ptr<ast::Pattern> parsePatterns();

private:
  using PatternPointer = std::unique_ptr<ast::Pattern>;

  PatternPointer parsePattern();
  PatternPointer parseAlternatives();
  PatternPointer parseClosed();
  PatternPointer parseStar();
  PatternPointer parseStarOrPattern();
  PatternPointer parseGroupOrSequence();
  PatternPointer parseMapping();
  PatternPointer parseNamed();
  PatternPointer parseValue();
  void parseClassArguments(ast::Pattern &pattern);
  ast::ExpressionPointer parseLiteral();
  ast::ExpressionPointer parseDottedName();
  std::string parseCapture();
};

} // namespace nacre
