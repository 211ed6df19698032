// Module level of PTX: directives, variables, functions.
#include "simulator/Parser.h"
#include <charconv>

namespace nacre::simulator {

static constexpr uint64_t largestVariable = uint64_t(1) << 26; // bytes

Function *SyntaxModule::findFunction(std::string_view name) const {
  for (auto &function : functions)
    if (function->name == name)
      return function.get();
  return nullptr;
}
Variable *SyntaxModule::findVariable(std::string_view name) {
  for (Variable &variable : variables)
    if (variable.name == name)
      return &variable;
  return nullptr;
}

std::unique_ptr<SyntaxModule> parse(std::string_view text, std::string_view fileName) {
  auto module = std::make_unique<SyntaxModule>();
  module->text = std::string(text);
  module->fileName = std::string(fileName);
  Parser(*module).parseModule();
  return module;
}

bool parseInteger(std::string_view text, uint64_t &value) {
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    if (text[1] == 'x' || text[1] == 'X')
      base = 16, text.remove_prefix(2);
    else if (text[1] == 'b' || text[1] == 'B')
      base = 2, text.remove_prefix(2);
    else
      base = 8, text.remove_prefix(1);
  }
  if (!text.empty() && (text.back() == 'U' || text.back() == 'u'))
    text.remove_suffix(1);
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && end == text.data() + text.size();
}

bool parseFloat(std::string_view text, uint64_t &bits, bool &isSingle) {
  isSingle = false;
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'f' || text[1] == 'F' || text[1] == 'd' || text[1] == 'D')) {
    isSingle = text[1] == 'f' || text[1] == 'F';
    auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16);
    return error == std::errc() && end == text.data() + text.size() && text.size() == (isSingle ? 10u : 18u);
  }
  if (text.find_first_of(".eE") == std::string_view::npos)
    return false;
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::memcpy(&bits, &value, 8);
  return error == std::errc() && end == text.data() + text.size();
}

bool Parser::accept(std::string_view symbol) {
  if (lexer.peek().kind == TokenKind::String || lexer.peek().text != symbol || lexer.peek().kind == TokenKind::End)
    return false;
  lexer.next();
  return true;
}

void Parser::expect(std::string_view symbol) {
  if (!accept(symbol))
    fail("expected `" + std::string(symbol) + "` before `" + std::string(lexer.peek().text.substr(0, 40)) + "`");
}

std::string_view Parser::word(const char *what) {
  if (lexer.peek().kind != TokenKind::Word)
    fail(std::string("expected ") + what + " before `" + std::string(lexer.peek().text.substr(0, 40)) + "`");
  return lexer.next().text;
}

uint64_t Parser::unsignedNumber(const char *what) {
  uint64_t value = 0;
  if (lexer.peek().kind != TokenKind::Number || !parseInteger(lexer.peek().text, value))
    fail(std::string("expected ") + what + ", a number, before `" + std::string(lexer.peek().text.substr(0, 40)) + "`");
  lexer.next();
  return value;
}

void Parser::skipStatement() {
  while (lexer.peek().kind != TokenKind::End && !accept(";"))
    lexer.next();
}

void Parser::parseModule() {
  names.emplace_back();
  ranges.emplace_back();
  bool isExtern = false;
  while (lexer.peek().kind != TokenKind::End) {
    Token token = lexer.peek();
    std::string_view text = token.text;
    if (token.is(".version")) {
      lexer.next();
      std::string_view number = lexer.peek().text;
      unsigned major = 0, minor = 0;
      auto [point, error] = std::from_chars(number.data(), number.data() + number.size(), major);
      if (error == std::errc() && point != number.data() + number.size() && *point == '.')
        std::from_chars(point + 1, number.data() + number.size(), minor);
      if (lexer.peek().kind != TokenKind::Number || major < 7 || major > 9 || minor > 9)
        fail("PTX " + std::string(number.substr(0, 20)) + " is not simulated: versions 7.0 to 9.x are");
      module.version = major * 10 + minor;
      lexer.next();
    } else if (token.is(".target")) {
      lexer.next();
      module.target = word("a target");
      unsigned chip = 0;
      if (!module.target.starts_with("sm_") ||
          std::from_chars(module.target.data() + 3, module.target.data() + module.target.size(), chip).ec !=
              std::errc() ||
          chip < 75 || chip > 90)
        throw Error("the target `" + module.target.substr(0, 20) + "` is not simulated: sm_75 to sm_90a are",
                    token.line);
      while (accept(","))
        lexer.next();
    } else if (token.is(".address_size")) {
      lexer.next();
      if (unsignedNumber("an address size") != 64)
        fail("only .address_size 64 is simulated");
    } else if (token.is(".file")) {
      parseFileDirective();
    } else if (token.is(".section")) {
      lexer.next();
      lexer.next();
      expect("{");
      lexer.skipBraces();
    } else if (token.is(".pragma") || token.is(".alias")) {
      skipStatement();
    } else if (token.is(".visible") || token.is(".weak") || token.is(".common")) {
      lexer.next();
      continue;
    } else if (token.is(".extern")) {
      lexer.next();
      isExtern = true;
      continue;
    } else if (token.is(".entry") || token.is(".func")) {
      lexer.next();
      parseFunction(text == ".entry", isExtern);
    } else if (token.is(".global") || token.is(".const") || token.is(".shared")) {
      lexer.next();
      Space space = text == ".global" ? Space::Global : text == ".const" ? Space::Constant : Space::Shared;
      parseVariable(space, isExtern, module.variables);
    } else if (token.is(".loc")) {
      parseLocation();
    } else if (accept(";") || accept("}") || accept("{")) {
      // braces of debug sections left over by some writers
    } else {
      fail("`" + std::string(text.substr(0, 40)) + "` is not known at module level");
    }
    isExtern = false;
  }
  if (!module.version || module.target.empty())
    fail("this is not PTX: it has no .version or no .target");
}

void Parser::parseFileDirective() {
  lexer.next();
  uint64_t index = unsignedNumber("a file's index");
  if (lexer.peek().kind != TokenKind::String)
    fail("expected a file's name");
  std::string name(lexer.next().text);
  if (lexer.peek().kind == TokenKind::String) // folder, then name
    name += "/" + std::string(lexer.next().text);
  module.files[static_cast<uint32_t>(index)] = name;
  while (accept(","))
    lexer.next();
}

void Parser::parseVariable(Space space, bool isExtern, std::deque<Variable> &into) {
  Variable base;
  base.space = space;
  base.isExtern = isExtern;
  uint64_t lanes = 1;
  bool typed = false, aligned = false;
  while (lexer.peek().kind == TokenKind::Directive) {
    std::string_view directive = lexer.next().text.substr(1);
    if (directive == "align") {
      base.alignment = static_cast<uint32_t>(unsignedNumber("an alignment"));
      aligned = true;
      if (base.alignment == 0 || base.alignment > 65536 || (base.alignment & (base.alignment - 1)))
        fail("an alignment must be a power of two");
    } else if (directive == "v2" || directive == "v4" || directive == "v8") {
      lanes = static_cast<uint64_t>(directive[1] - '0');
    } else if (auto type = scalarType(directive)) {
      base.type = *type;
      typed = true;
    } else if (directive == "texref" || directive == "samplerref" || directive == "surfref") {
      fail("textures and surfaces are not simulated");
    } else if (directive == "ptr" || directive == "global" || directive == "const" || directive == "shared" ||
               directive == "local" || directive.starts_with("attribute")) {
      if (directive == "attribute") {
        expect("(");
        while (!accept(")")) {
          if (lexer.peek().kind == TokenKind::End)
            fail("an attribute is not closed");
          lexer.next();
        }
      }
    } else {
      fail("a variable cannot be `." + std::string(directive) + "`");
    }
  }
  if (!typed)
    fail("a variable's type is missing");
  if (!aligned)
    base.alignment = static_cast<uint32_t>(std::max<uint64_t>(1, bytesOf(base.type) * lanes));
  do {
    Variable variable = base;
    variable.line = lexer.peek().line;
    variable.name = std::string(word("a variable's name"));
    uint64_t count = lanes;
    bool open = false;
    while (accept("[")) {
      if (accept("]")) {
        open = true; // sized by its initial value, or at launch
        continue;
      }
      int64_t extent = constantExpression();
      expect("]");
      if (extent < 0 || uint64_t(extent) > largestVariable ||
          count * uint64_t(std::max<int64_t>(extent, 1)) > largestVariable)
        fail("the array is too large");
      count *= static_cast<uint64_t>(extent);
    }
    if (open && !accept("=")) {
      variable.isExtern = true;
      count = 0;
    } else if (open || accept("=")) {
      variable.bytes = open ? 0 : count * std::max(1u, bytesOf(variable.type));
      parseInitializer(variable);
      count = std::max<uint64_t>(variable.bytes, variable.initial.size()) / std::max(1u, bytesOf(variable.type));
    }
    variable.bytes = count * std::max(1u, bytesOf(variable.type));
    into.push_back(std::move(variable));
    Variable &stored = into.back();
    auto &table = &into == &module.variables ? names.front() : names.back();
    table[stored.name] = Name{false, 0, &stored};
  } while (accept(","));
  expect(";");
}

void Parser::initializerElement(Variable &variable, uint64_t &position) {
  if (accept("{")) {
    if (++depth > 64)
      fail("braces are nested too deeply");
    while (!accept("}")) {
      initializerElement(variable, position);
      if (!accept(",")) {
        expect("}");
        break;
      }
    }
    --depth;
    return;
  }
  uint64_t size = std::max(1u, bytesOf(variable.type));
  auto put = [&](uint64_t bits) {
    if (position + size > largestVariable)
      fail("the initial value is too long");
    if (variable.initial.size() < position + size)
      variable.initial.resize(position + size);
    std::memcpy(variable.initial.data() + position, &bits, std::min<uint64_t>(size, 8));
    position += size;
  };
  if (lexer.peek().kind == TokenKind::Word) { // a symbol's address, generic(symbol), symbol+4
    std::string_view name = lexer.next().text;
    if (name == "generic" || name == "mask") {
      if (name == "mask")
        fail("mask() in initial values is not simulated");
      expect("(");
      name = word("a symbol");
      expect(")");
    }
    int64_t addend = 0;
    if (lexer.peek().is("+") || lexer.peek().is("-"))
      addend = constantExpression();
    variable.references.push_back({position, std::string(name), addend});
    put(0);
    return;
  }
  bool negative = accept("-");
  uint64_t bits;
  bool isSingle;
  std::string_view text = lexer.peek().text;
  if (lexer.peek().kind == TokenKind::Number && isFloat(variable.type) && parseFloat(text, bits, isSingle)) {
    lexer.next();
    double value;
    float single;
    if (isSingle) {
      uint32_t low = static_cast<uint32_t>(bits);
      std::memcpy(&single, &low, 4);
      value = single;
    } else {
      std::memcpy(&value, &bits, 8);
    }
    if (negative)
      value = -value;
    single = static_cast<float>(value);
    bits = 0;
    if (variable.type == ScalarType::F64)
      std::memcpy(&bits, &value, 8);
    else
      std::memcpy(&bits, &single, 4);
    if (variable.type == ScalarType::F16 || variable.type == ScalarType::BF16)
      fail("a 16-bit float's initial value must be written as bits of .b16");
    return put(bits);
  }
  int64_t value = constantExpression();
  put(negative ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value));
}

void Parser::parseInitializer(Variable &variable) {
  uint64_t position = 0;
  initializerElement(variable, position);
}

void Parser::dimensions(uint32_t (&into)[3]) {
  for (uint32_t &value : into)
    value = 1;
  for (int i = 0; i < 3; ++i) {
    into[i] = static_cast<uint32_t>(unsignedNumber("a count"));
    if (!accept(","))
      break;
  }
}

void Parser::parseParameters(std::vector<Variable *> &into) {
  if (!accept("("))
    return;
  while (!accept(")")) {
    Variable variable;
    variable.space = Space::Parameter;
    variable.line = lexer.peek().line;
    bool isRegister = false, aligned = false;
    while (lexer.peek().kind == TokenKind::Directive) {
      std::string_view directive = lexer.next().text.substr(1);
      if (directive == "reg")
        isRegister = true;
      else if (directive == "align") {
        uint64_t alignment = unsignedNumber("an alignment");
        if (!aligned) // the second one, after .ptr, is the pointee's
          variable.alignment = static_cast<uint32_t>(alignment);
        aligned = true;
      } else if (directive == "ptr")
        aligned = true;
      else if (auto type = scalarType(directive)) {
        variable.type = *type;
        if (!aligned)
          variable.alignment = std::max(1u, bytesOf(*type));
      } else if (directive != "param" && directive != "global" && directive != "const" && directive != "shared" &&
                 directive != "local")
        fail("a parameter cannot be `." + std::string(directive) + "`");
    }
    if (variable.alignment == 0 || (variable.alignment & (variable.alignment - 1)))
      fail("an alignment must be a power of two");
    if (isRegister)
      fail("parameters of functions in registers are not simulated: use .param");
    variable.name = std::string(word("a parameter's name"));
    variable.bytes = std::max(1u, bytesOf(variable.type));
    if (accept("[")) {
      if (!accept("]")) {
        int64_t extent = constantExpression();
        if (extent < 0 || extent > (1 << 20))
          fail("the parameter is too large");
        variable.bytes *= static_cast<uint64_t>(extent);
        expect("]");
      }
    }
    function->variables.push_back(std::move(variable));
    into.push_back(&function->variables.back());
    names.back()[into.back()->name] = Name{false, 0, into.back()};
    if (!accept(",")) {
      expect(")");
      break;
    }
  }
}

void Parser::parseFunctionDirectives() {
  while (lexer.peek().kind == TokenKind::Directive) {
    std::string_view directive = lexer.next().text;
    if (directive == ".maxntid")
      dimensions(function->maximumThreads);
    else if (directive == ".reqntid")
      dimensions(function->requiredThreads);
    else if (directive == ".reqnctapercluster")
      dimensions(function->requiredCluster);
    else if (directive == ".minnctapersm")
      function->leastBlocks = std::max<uint32_t>(1, static_cast<uint32_t>(unsignedNumber("a count")));
    else if (directive == ".maxnctapersm" || directive == ".maxnreg" || directive == ".maxclusterrank")
      unsignedNumber("a count");
    else if (directive == ".pragma")
      skipStatement();
    else if (directive == ".noreturn" || directive == ".explicitcluster" || directive == ".blocksareclusters" ||
             directive == ".unified")
      continue;
    else if (directive == ".abi_preserve" || directive == ".abi_preserve_control")
      unsignedNumber("a count");
    else
      fail("a function cannot have `" + std::string(directive) + "`");
  }
}

void Parser::parseFunction(bool isEntry, bool isExtern) {
  auto made = std::make_unique<Function>();
  function = made.get();
  function->isEntry = isEntry;
  function->line = lexer.peek().line;
  names.emplace_back();
  ranges.emplace_back();
  function->scopes.emplace_back();
  scope = 0;
  place = functionPlace = 0;
  placesOf.clear();
  if (!isEntry && lexer.peek().is("("))
    parseParameters(function->results);
  function->name = std::string(word("a function's name"));
  parseParameters(function->parameters);
  parseFunctionDirectives();
  // A declaration is replaced by its definition; calls of either find one object.
  Function *existing = module.findFunction(function->name);
  if (lexer.peek().is("{")) {
    lexer.next();
    if (existing && existing->isDefined)
      fail("the function `" + function->name + "` is defined twice");
    function->isDefined = true;
    if (existing) {
      for (auto &candidate : module.functions)
        if (candidate.get() == existing) {
          // Callers hold the address of the declaration: the definition moves into it.
          *existing = std::move(*made);
          function = existing;
        }
    } else {
      module.functions.push_back(std::move(made));
    }
    parseBody();
  } else {
    expect(";");
    if (!existing)
      module.functions.push_back(std::move(made));
  }
  names.pop_back();
  ranges.pop_back();
  function = nullptr;
}

void Parser::parseRegisters() {
  ScalarType type = ScalarType::None;
  while (lexer.peek().kind == TokenKind::Directive) {
    std::string_view directive = lexer.next().text.substr(1);
    if (auto known = scalarType(directive))
      type = *known;
    else
      fail("a register cannot be `." + std::string(directive) + "`");
  }
  if (type == ScalarType::None)
    fail("a register's type is missing");
  do {
    std::string_view name = word("a register's name");
    uint32_t first = static_cast<uint32_t>(function->registers.size());
    if (accept("<")) {
      uint64_t count = unsignedNumber("a count of registers");
      expect(">");
      if (count > 500000 || function->registers.size() + count > 500000)
        fail("too many registers");
      for (uint64_t i = 0; i < count; ++i)
        function->registers.push_back({type, std::string(name) + std::to_string(i)});
      ranges.back().push_back({name, first, static_cast<uint32_t>(count)});
    } else {
      function->registers.push_back({type, std::string(name)});
      names.back()[name] = Name{true, first, nullptr};
    }
  } while (accept(","));
  expect(";");
}

} // namespace nacre::simulator
