// Reads the literals of the tables: what Python's repr writes for numbers, texts, tuples and None.
#pragma once

#include "compiler/language/meaning/Number.h"
#include "compiler/language/meaning/Object.h"
#include <cmath>
#include <stdexcept>

namespace nacre::test {

class LiteralReader {
public:
  explicit LiteralReader(llvm::StringRef text) : rest(text) {}

  Object read() {
    rest = rest.ltrim();
    for (auto [word, object] : {std::pair<llvm::StringRef, Object>{"None", Object()},
                                {"True", true},
                                {"False", false},
                                {"inf", HUGE_VAL},
                                {"-inf", -HUGE_VAL}})
      if (rest.consume_front(word))
        return object;
    if (rest.starts_with("'") || rest.starts_with("\""))
      return text();
    if (rest.consume_front("("))
      return tuple();
    return number();
  }

private:
  Object text() {
    char quote = rest.front();
    std::string result;
    for (rest = rest.drop_front(); !rest.empty() && rest.front() != quote; rest = rest.drop_front()) {
      if (rest.consume_front("\\") && rest.front() == 'n')
        result += '\n';
      else
        result += rest.front();
    }
    rest = rest.drop_front();
    return result;
  }
  Object tuple() {
    std::vector<Object> items;
    while (!(rest = rest.ltrim()).consume_front(")")) {
      items.push_back(read());
      rest = rest.ltrim();
      rest.consume_front(",");
    }
    return Object::makeTuple(std::move(items));
  }
  Object number() {
    llvm::StringRef digits = rest.take_while(
        [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-' || c == '+'; });
    rest = rest.drop_front(digits.size());
    if (std::optional<Integer> integer = parseInteger(digits))
      return *integer;
    double value;
    if (digits.getAsDouble(value))
      throw std::invalid_argument("not a literal: " + digits.str());
    return value;
  }

  llvm::StringRef rest;
};

inline Object literal(llvm::StringRef text) { return LiteralReader(text).read(); }

} // namespace nacre::test
