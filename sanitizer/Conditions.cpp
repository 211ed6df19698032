// See Conditions.h.
#include "sanitizer/Conditions.h"
#include "mlir/Analysis/Presburger/IntegerRelation.h"
#include "mlir/Analysis/Presburger/Simplex.h"
#include <algorithm>
#include <map>
#include <stdexcept>

namespace nacre::sanitizer {

static void addProduct(int64_t &into, int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product) || __builtin_add_overflow(into, product, &into))
    throw std::overflow_error("its numbers are too large");
}

Form sum(const Form &a, const Form &b, int64_t factor) {
  Form result = a;
  result.factors.resize(std::max(a.factors.size(), b.factors.size()), 0);
  for (size_t i = 0; i < b.factors.size(); ++i)
    addProduct(result.factors[i], factor, b.factors[i]);
  addProduct(result.constant, factor, b.constant);
  return result;
}

Form scaled(const Form &form, int64_t factor) { return sum({}, form, factor); }

bool isConstant(const Form &form) {
  return std::all_of(form.factors.begin(), form.factors.end(), [](int64_t factor) { return factor == 0; });
}

static Form unit(size_t variable) {
  Form form;
  form.factors.assign(variable + 1, 0);
  form.factors.back() = 1;
  return form;
}

Form Conditions::variable(std::string name, int64_t low, int64_t high, bool isUnknown) {
  variables.push_back({std::move(name), low, high, isUnknown, {}});
  return unit(variables.size() - 1);
}

std::pair<__int128, __int128> Conditions::range(const Form &form) const {
  __int128 low = form.constant, high = form.constant;
  for (size_t i = 0; i < form.factors.size(); ++i) {
    __int128 a = static_cast<__int128>(form.factors[i]) * variables[i].low,
             b = static_cast<__int128>(form.factors[i]) * variables[i].high;
    low += std::min(a, b);
    high += std::max(a, b);
  }
  return {low, high};
}

// ---- Products

std::vector<unsigned> Conditions::partsOf(unsigned variable) const {
  return variables[variable].parts.empty() ? std::vector<unsigned>{variable} : variables[variable].parts;
}

std::optional<unsigned> Conditions::find(const std::vector<unsigned> &parts) const {
  if (parts.size() == 1)
    return parts[0];
  for (size_t i = 0; i < variables.size(); ++i)
    if (variables[i].parts == parts)
      return static_cast<unsigned>(i);
  return std::nullopt;
}

namespace {
using Monomials = std::map<std::vector<unsigned>, __int128>; // by the parts, in their order; none: the number alone
constexpr size_t mostParts = 3;
constexpr __int128 largest = static_cast<__int128>(1) << 62;
} // namespace

template <typename Parts> static std::optional<Monomials> multiply(const Form &a, const Form &b, Parts partsOf) {
  Monomials result;
  auto terms = [&](const Form &form) {
    std::vector<std::pair<std::vector<unsigned>, int64_t>> found;
    for (size_t i = 0; i < form.factors.size(); ++i)
      if (form.factors[i] != 0)
        found.emplace_back(partsOf(static_cast<unsigned>(i)), form.factors[i]);
    if (form.constant != 0)
      found.emplace_back(std::vector<unsigned>(), form.constant);
    return found;
  };
  for (const auto &[left, leftFactor] : terms(a))
    for (const auto &[right, rightFactor] : terms(b)) {
      std::vector<unsigned> parts;
      std::merge(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(parts));
      if (parts.size() > mostParts)
        return std::nullopt;
      __int128 &factor = result[parts];
      factor += static_cast<__int128>(leftFactor) * rightFactor;
      if (factor > largest || factor < -largest)
        return std::nullopt;
    }
  return result;
}

// The product as a form; `variableOf` gives the variable that stands for a product of several.
template <typename PartsOf, typename VariableOf>
static std::optional<Form> formOfProduct(const Form &a, const Form &b, PartsOf partsOf, VariableOf variableOf) {
  auto monomials = multiply(a, b, partsOf);
  if (!monomials)
    return std::nullopt;
  Form result;
  for (const auto &[parts, factor] : *monomials) {
    if (factor == 0)
      continue;
    if (parts.empty()) {
      result.constant = static_cast<int64_t>(factor);
      continue;
    }
    std::optional<unsigned> variable = variableOf(parts);
    if (!variable)
      return std::nullopt;
    result = sum(result, unit(*variable), static_cast<int64_t>(factor));
  }
  return result;
}

std::optional<Form> Conditions::product(const Form &a, const Form &b) {
  auto variableOf = [&](const std::vector<unsigned> &parts) -> std::optional<unsigned> {
    if (std::optional<unsigned> known = find(parts))
      return known;
    __int128 low = 1, high = 1;
    for (unsigned part : parts) {
      __int128 corners[] = {low * variables[part].low, low * variables[part].high, high * variables[part].low,
                            high * variables[part].high};
      low = *std::min_element(corners, corners + 4);
      high = *std::max_element(corners, corners + 4);
      if (low < -largest || high > largest)
        return std::nullopt;
    }
    variables.push_back({"", static_cast<int64_t>(low), static_cast<int64_t>(high), false, parts});
    return static_cast<unsigned>(variables.size() - 1);
  };
  return formOfProduct(a, b, [&](unsigned variable) { return partsOf(variable); }, variableOf);
}

// Of variables and products that are there already.
std::optional<Form> Conditions::knownProduct(const Form &a, const Form &b) const {
  return formOfProduct(
      a, b, [&](unsigned variable) { return partsOf(variable); },
      [&](const std::vector<unsigned> &parts) { return find(parts); });
}

bool Conditions::isImpossible(llvm::ArrayRef<Form> more) const {
  std::vector<Form> all = atLeastZero;
  all.insert(all.end(), more.begin(), more.end());
  std::vector<Form> factors = all;
  for (size_t i = 0; i < variables.size(); ++i) {
    bool isPart = std::any_of(variables.begin(), variables.end(), [&](const Variable &other) {
      return std::find(other.parts.begin(), other.parts.end(), i) != other.parts.end();
    });
    Form low = sum(unit(i), number(variables[i].low), -1), high = sum(number(variables[i].high), unit(i), -1);
    all.push_back(low);
    all.push_back(high);
    if (isPart) {
      factors.push_back(low);
      factors.push_back(high);
    }
  }
  constexpr size_t mostFactors = 80; // all pairs are looked at
  bool hasProducts =
      std::any_of(variables.begin(), variables.end(), [](const auto &one) { return !one.parts.empty(); });
  if (hasProducts && factors.size() <= mostFactors)
    for (size_t i = 0; i < factors.size(); ++i)
      for (size_t j = 0; j <= i; ++j)
        if (std::optional<Form> known = knownProduct(factors[i], factors[j]); known && !isConstant(*known))
          all.push_back(std::move(*known));
  using namespace mlir::presburger;
  IntegerPolyhedron set(PresburgerSpace::getSetSpace(static_cast<unsigned>(variables.size())));
  for (const Form &form : all) {
    llvm::SmallVector<int64_t> row(form.factors.begin(), form.factors.end());
    row.resize(variables.size(), 0);
    row.push_back(form.constant);
    set.addInequality(row);
  }
  return Simplex(set).isEmpty(); // of fractions: no fraction, no whole number
}

} // namespace nacre::sanitizer
