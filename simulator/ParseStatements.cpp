// Bodies of functions: instructions, operands, labels, scopes.
#include "simulator/Parser.h"
#include <algorithm>

namespace nacre::simulator {

const Parser::Name *Parser::lookup(std::string_view name) {
  for (size_t i = names.size(); i-- > 0;)
    if (auto found = names[i].find(name); found != names[i].end())
      return &found->second;
  return nullptr;
}

bool Parser::lookupRange(std::string_view name, uint32_t &reg) {
  size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
    --digits;
  uint64_t index;
  // The prefix itself may end in digits: try each split.
  for (size_t split = digits; split < name.size(); ++split) {
    std::string_view suffix = name.substr(split);
    if (suffix.size() > 1 && suffix[0] == '0')
      continue;
    if (suffix.size() > 9)
      continue;
    index = 0;
    for (char c : suffix)
      index = index * 10 + static_cast<uint64_t>(c - '0');
    for (size_t i = ranges.size(); i-- > 0;)
      for (const Range &range : ranges[i])
        if (range.prefix == name.substr(0, split) && index < range.count) {
          reg = range.first + static_cast<uint32_t>(index);
          return true;
        }
  }
  return false;
}

void Parser::parseBody() {
  int open = 1;
  while (open > 0) {
    if (lexer.peek().kind == TokenKind::End)
      fail("the body of `" + function->name + "` is not closed");
    if (accept("{")) {
      if (++open > 256)
        fail("scopes are nested too deeply");
      names.emplace_back();
      ranges.emplace_back();
      function->scopes.push_back({.parent = scope, .labels = {}, .tables = {}});
      scope = static_cast<uint32_t>(function->scopes.size() - 1);
    } else if (accept("}")) {
      if (--open > 0) {
        names.pop_back();
        ranges.pop_back();
        scope = function->scopes[scope].parent;
      }
    } else {
      parseStatement();
    }
  }
}

void Parser::parseStatement() {
  const Token &token = lexer.peek();
  if (accept(";"))
    return;
  if (token.kind == TokenKind::Directive)
    return parseDirective();
  if (token.kind == TokenKind::Word && token.text.find('.') == std::string_view::npos) {
    // A label, or an instruction without modifiers: what follows decides.
    size_t after = token.offset + token.text.size();
    std::string_view source = lexer.source();
    while (after < source.size() && (source[after] == ' ' || source[after] == '\t'))
      ++after;
    if (after < source.size() && source[after] == ':') {
      std::string_view name = lexer.next().text;
      lexer.next();
      if (lexer.peek().is(".branchtargets")) {
        lexer.next();
        std::vector<Operand> targets;
        do {
          Operand label;
          label.kind = OperandKind::Label;
          label.name = word("a label");
          label.scope = scope;
          targets.push_back(std::move(label));
        } while (accept(","));
        expect(";");
        function->scopes[scope].tables[name] = std::move(targets);
        return;
      }
      if (lexer.peek().is(".callprototype") || lexer.peek().is(".calltargets"))
        return skipStatement();
      if (!function->scopes[scope].labels.emplace(name, static_cast<uint32_t>(function->instructions.size())).second)
        fail("the label `" + std::string(name) + "` stands twice");
      return;
    }
  }
  parseInstruction();
}

void Parser::parseLocation() {
  lexer.next();
  uint64_t file = unsignedNumber("a file's index"), line = unsignedNumber("a line"), column = 0;
  if (lexer.peek().kind == TokenKind::Number)
    column = unsignedNumber("a column");
  // , function_name label [+ offset], inlined_at file line column
  uint64_t caller[3] = {};
  while (accept(",")) {
    std::string_view key = word("function_name or inlined_at");
    if (key == "function_name") {
      lexer.next();
      if (accept("+"))
        lexer.next();
    } else {
      for (int i = 0; i < 3 && lexer.peek().kind == TokenKind::Number; ++i)
        caller[i] = unsignedNumber("a place");
    }
  }
  if (line == 0)
    return; // of no line: what was said before still holds
  auto find = [&](uint64_t atFile, uint64_t atLine, uint64_t atColumn) -> uint32_t & {
    return placesOf[{static_cast<uint32_t>(atFile), static_cast<uint32_t>(atLine), static_cast<uint32_t>(atColumn)}];
  };
  auto add = [&](uint64_t atFile, uint64_t atLine, uint64_t atColumn, uint32_t inlinedAt) {
    module.places.push_back(
        {static_cast<uint32_t>(atFile), static_cast<uint32_t>(atLine), static_cast<uint32_t>(atColumn), inlinedAt});
    return static_cast<uint32_t>(module.places.size() - 1);
  };
  uint32_t inlinedAt = 0;
  if (caller[1]) {
    uint32_t &known = find(caller[0], caller[1], caller[2]);
    if (!known)
      known = add(caller[0], caller[1], caller[2], 0);
    inlinedAt = known;
  } else if (module.places[functionPlace].file != file) {
    // Code for debuggers does not say where: the function's own line that stands before it is nearest.
    for (inlinedAt = place; inlinedAt && module.places[inlinedAt].file != module.places[functionPlace].file;)
      inlinedAt = module.places[inlinedAt].inlinedAt;
  }
  uint32_t &known = find(file, line, column);
  if (!known || module.places[known].inlinedAt != inlinedAt)
    known = add(file, line, column, inlinedAt);
  place = known;
  if (!functionPlace)
    functionPlace = place;
}

void Parser::parseDirective() {
  Token token = lexer.peek();
  if (token.is(".loc"))
    return parseLocation();
  lexer.next();
  if (token.is(".reg"))
    parseRegisters();
  else if (token.is(".local") || token.is(".shared") || token.is(".param"))
    parseVariable(token.is(".local")    ? Space::Local
                  : token.is(".shared") ? Space::Shared
                                        : Space::Parameter,
                  false, function->variables);
  else if (token.is(".global") || token.is(".const"))
    parseVariable(token.is(".global") ? Space::Global : Space::Constant, false, function->variables);
  else if (token.is(".pragma"))
    skipStatement();
  else
    fail("`" + std::string(token.text.substr(0, 40)) + "` is not known in a function");
}

int64_t Parser::constantFactor() {
  if (++depth > 64)
    fail("an expression is nested too deeply");
  int64_t value;
  if (accept("-"))
    value = static_cast<int64_t>(0 - static_cast<uint64_t>(constantFactor()));
  else if (accept("+"))
    value = constantFactor();
  else if (accept("~"))
    value = ~constantFactor();
  else if (accept("!"))
    value = !constantFactor();
  else if (accept("(")) {
    if (lexer.peek().kind == TokenKind::Directive) { // (.s64) cast
      lexer.next();
      expect(")");
      value = constantFactor();
    } else {
      value = constantExpression();
      expect(")");
    }
  } else if (lexer.peek().is("WARP_SZ")) {
    lexer.next();
    value = 32;
  } else {
    value = static_cast<int64_t>(unsignedNumber("a constant"));
  }
  --depth;
  return value;
}

// Precedence climbing over the operators that initial values and immediates use. `minimum` as in C: | ^ & shifts + *.
int64_t Parser::constantExpression(int minimum) {
  uint64_t left = static_cast<uint64_t>(constantFactor());
  while (true) {
    std::string_view symbol = lexer.peek().kind == TokenKind::Symbol ? lexer.peek().text : "";
    int level = symbol == "|"                                     ? 1
                : symbol == "^"                                   ? 2
                : symbol == "&"                                   ? 3
                : symbol == "<" || symbol == ">"                  ? 4
                : symbol == "+" || symbol == "-"                  ? 5
                : symbol == "*" || symbol == "/" || symbol == "%" ? 6
                                                                  : 0;
    if (level == 0 || level <= minimum)
      return static_cast<int64_t>(left);
    lexer.next();
    if (level == 4)
      expect(symbol); // << or >>
    if (++depth > 64)
      fail("an expression is nested too deeply");
    uint64_t right = static_cast<uint64_t>(constantExpression(level));
    --depth;
    switch (symbol[0]) {
    case '|':
      left |= right;
      break;
    case '^':
      left ^= right;
      break;
    case '&':
      left &= right;
      break;
    case '<':
      left = right < 64 ? left << right : 0;
      break;
    case '>':
      left = right < 64 ? left >> right : 0;
      break;
    case '+':
      left += right;
      break;
    case '-':
      left -= right;
      break;
    case '*':
      left *= right;
      break;
    default:
      if (right == 0)
        fail("a division by zero in a constant");
      left = symbol[0] == '/' ? left / right : left % right;
    }
  }
}

Operand Parser::numberOperand(bool negative) {
  Operand operand;
  uint64_t bits;
  bool isSingle;
  if (lexer.peek().kind == TokenKind::Number && parseFloat(lexer.peek().text, bits, isSingle)) {
    lexer.next();
    operand.kind = OperandKind::Float;
    operand.isSingle = isSingle;
    operand.bits = negative ? bits ^ (isSingle ? uint64_t(1) << 31 : uint64_t(1) << 63) : bits;
    return operand;
  }
  operand.kind = OperandKind::Integer;
  int64_t value = constantExpression(1); // `|` separates d|p
  operand.bits = negative ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  return operand;
}

Operand Parser::nameOperand(std::string_view name) {
  Operand operand;
  operand.name = name;
  if (name == "_")
    return operand;
  if (const Name *known = lookup(name)) {
    if (known->isRegister) {
      operand.kind = OperandKind::Register;
      operand.reg = known->reg;
    } else {
      operand.kind = OperandKind::Variable;
      operand.variable = known->variable;
    }
    return operand;
  }
  if (uint32_t reg; lookupRange(name, reg)) {
    operand.kind = OperandKind::Register;
    operand.reg = reg;
    return operand;
  }
  if (size_t point = name.find('.'); selectsParts && point != std::string_view::npos) {
    operand = nameOperand(name.substr(0, point));
    operand.selector = name.substr(point + 1);
    return operand;
  }
  if (name[0] == '%') {
    operand.kind = OperandKind::Special;
    return operand;
  }
  if (name == "WARP_SZ") {
    operand.kind = OperandKind::Integer;
    operand.bits = 32;
    return operand;
  }
  if (Function *known = module.findFunction(name)) {
    operand.kind = OperandKind::Function;
    operand.function = known;
    return operand;
  }
  operand.kind = OperandKind::Label;
  operand.scope = scope;
  return operand;
}

// What stands between square brackets: base, base+offset, or base and further parts: [map, {x, y}].
Operand Parser::parseAddress() {
  Operand address;
  address.kind = OperandKind::Address;
  do {
    Operand part;
    if (lexer.peek().kind == TokenKind::Word) {
      part = nameOperand(lexer.next().text);
      if (part.kind == OperandKind::Label || part.kind == OperandKind::Special)
        fail("`" + std::string(part.name.substr(0, 40)) + "` is not declared");
      if (accept("+")) {
        part.offset = constantExpression();
      } else if (lexer.peek().is("-")) {
        part.offset = constantExpression(); // the sign belongs to the first factor
      }
    } else {
      part = parseOperand();
    }
    address.elements.push_back(std::move(part));
  } while (accept(","));
  expect("]");
  return address;
}

Operand Parser::parseOperand() {
  if (++depth > 64)
    fail("an operand is nested too deeply");
  Operand operand;
  if (accept("[")) {
    operand = parseAddress();
  } else if (accept("{")) {
    operand.kind = OperandKind::Vector;
    while (!accept("}")) {
      operand.elements.push_back(parseOperand());
      if (!accept(",")) {
        expect("}");
        break;
      }
    }
  } else if (accept("!")) {
    operand = parseOperand();
    operand.negated = !operand.negated;
  } else if (lexer.peek().is("-")) {
    lexer.next();
    operand = numberOperand(true);
  } else if (lexer.peek().kind == TokenKind::Word) {
    operand = nameOperand(lexer.next().text);
    if (operand.kind == OperandKind::Variable && (lexer.peek().is("+") || lexer.peek().is("-")))
      operand.offset = constantExpression();
  } else {
    operand = numberOperand(false);
  }
  if (accept("|"))
    operand.second = std::make_unique<Operand>(parseOperand());
  --depth;
  return operand;
}

// call (results), function, (arguments), prototype: the parentheses become vectors.
void Parser::parseCall(Instruction &instruction) {
  auto list = [&] {
    Operand operand;
    operand.kind = OperandKind::Vector;
    while (!accept(")")) {
      operand.elements.push_back(parseOperand());
      if (!accept(",")) {
        expect(")");
        break;
      }
    }
    return operand;
  };
  if (accept("(")) {
    instruction.operands.push_back(list());
    expect(",");
  } else {
    Operand none;
    none.kind = OperandKind::Vector;
    instruction.operands.push_back(std::move(none));
  }
  instruction.operands.push_back(parseOperand());
  if (accept(",")) {
    if (accept("("))
      instruction.operands.push_back(list());
    else
      instruction.operands.push_back(parseOperand());
    if (accept(","))
      instruction.operands.push_back(parseOperand());
  }
}

void Parser::parseInstruction() {
  Instruction instruction;
  instruction.line = lexer.peek().line;
  instruction.place = place;
  size_t start = lexer.peek().offset;
  if (accept("@")) {
    instruction.guarded = true;
    instruction.guardNegated = accept("!");
    Operand guard = nameOperand(word("a predicate"));
    if (guard.kind != OperandKind::Register || function->registers[guard.reg].type != ScalarType::Predicate)
      fail("a guard must be a predicate register");
    instruction.guard = guard.reg;
  }
  instruction.opcode = word("an instruction");
  for (std::string_view rest = instruction.opcode; !rest.empty();) {
    size_t point = rest.find('.');
    instruction.words.push_back(rest.substr(0, point));
    rest = point == std::string_view::npos ? std::string_view() : rest.substr(point + 1);
  }
  selectsParts = instruction.words[0][0] == 'v' && instruction.words[0] != "vote";
  if (instruction.words[0] == "call") {
    parseCall(instruction);
  } else if (!lexer.peek().is(";")) {
    do {
      instruction.operands.push_back(parseOperand());
    } while (accept(","));
  }
  size_t end = lexer.peek().offset;
  expect(";");
  while (end > start &&
         (lexer.source()[end - 1] == ' ' || lexer.source()[end - 1] == '\n' || lexer.source()[end - 1] == '\t'))
    --end;
  instruction.text = lexer.source().substr(start, end - start);
  function->instructions.push_back(std::move(instruction));
}

} // namespace nacre::simulator
