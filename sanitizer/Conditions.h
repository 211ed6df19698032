// Conditions on whole numbers, as linear forms of variables, some of which stand for products of others.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nacre::sanitizer {

struct Form {
  llvm::SmallVector<int64_t> factors; // one a variable; missing ones are 0
  int64_t constant = 0;
};

// a + factor * b. Throws std::overflow_error where 64 bits do not hold a number of it.
Form sum(const Form &a, const Form &b, int64_t factor = 1);
Form scaled(const Form &form, int64_t factor);
inline Form number(int64_t value) { return {{}, value}; }
bool isConstant(const Form &form);

class Conditions {
public:
  struct Variable {
    std::string name; // "program 0", "lane 1", "iteration"; empty: helps to say another
    int64_t low, high;
    bool isUnknown;              // it may be any of its range: a solution need not come about
    std::vector<unsigned> parts; // the variables it is the product of, in their order; empty: it is no product
  };
  std::vector<Variable> variables;
  std::vector<Form> atLeastZero; // each holds

  // A new variable.
  Form variable(std::string name, int64_t low, int64_t high, bool isUnknown = false);
  // By the ranges of the variables alone.
  std::pair<__int128, __int128> range(const Form &form) const;
  // a * b, with a variable for each product of variables; none where a number of it is too large.
  std::optional<Form> product(const Form &a, const Form &b);
  // Whether it is proved that no numbers meet the conditions and, with them, that each of `more` is at least zero.
  // Products are taken for numbers of their own, of which is known what the conditions, multiplied with each other,
  // say.
  bool isImpossible(llvm::ArrayRef<Form> more) const;

private:
  std::vector<unsigned> partsOf(unsigned variable) const;
  std::optional<unsigned> find(const std::vector<unsigned> &parts) const;
  std::optional<Form> knownProduct(const Form &a, const Form &b) const;
};

} // namespace nacre::sanitizer
