// See StaticCheck.h.
#include "sanitizer/StaticCheck.h"
#include "compiler/ir/tile/AccessEffects.h"
#include "compiler/ir/tile/Tile.h"
#include "compiler/ir/tile/TileText.h"
#include "mlir/Analysis/Presburger/IntegerRelation.h"
#include "sanitizer/AffineForms.h"
#include <numeric>
#include <stdexcept>

using namespace mlir;
using mlir::presburger::IntegerPolyhedron;
using mlir::presburger::PresburgerSpace;

namespace nacre::sanitizer {

namespace {

// Numbers that meet conditions, or the proof that there are none.
class Question {
public:
  explicit Question(size_t count) : set(PresburgerSpace::getSetSpace(static_cast<unsigned>(count))), count(count) {}

  // The form, with its variables counted from `first` on, is at least zero.
  void require(const Form &form, size_t first = 0) {
    SmallVector<int64_t> row(count + 1, 0);
    for (size_t i = 0; i < form.factors.size(); ++i)
      row[first + i] = form.factors[i];
    row[count] = form.constant;
    set.addInequality(row);
  }

  void require(const AccessSpace &space, size_t first = 0) {
    for (const Form &form : space.atLeastZero)
      require(form, first);
    for (size_t i = 0; i < space.variables.size(); ++i) {
      Form variable;
      variable.factors.assign(i + 1, 0);
      variable.factors[i] = 1;
      require(sum(variable, {{}, -space.variables[i].low}), first);
      require(sum({{}, space.variables[i].high}, variable, -1), first);
    }
  }

  std::optional<std::vector<int64_t>> answer() const {
    std::optional<SmallVector<llvm::DynamicAPInt, 8>> sample = set.findIntegerSample();
    if (!sample)
      return std::nullopt;
    std::vector<int64_t> numbers;
    for (const llvm::DynamicAPInt &number : *sample)
      numbers.push_back(static_cast<int64_t>(number));
    return numbers;
  }

private:
  IntegerPolyhedron set;
  size_t count;
};

int64_t valueOf(const Form &form, llvm::ArrayRef<int64_t> numbers) {
  int64_t value = form.constant;
  for (size_t i = 0; i < form.factors.size(); ++i)
    value += form.factors[i] * numbers[i];
  return value;
}

std::string programText(llvm::ArrayRef<int64_t> numbers) {
  return "program (" + std::to_string(numbers[0]) + ", " + std::to_string(numbers[1]) + ", " +
         std::to_string(numbers[2]) + ")";
}

// "program (1, 0, 0), lane (3), iteration 2"
std::string describe(const AccessSpace &space, llvm::ArrayRef<int64_t> numbers) {
  std::string text = programText(numbers), lanes, turns;
  for (size_t i = 3; i < space.variables.size(); ++i) {
    llvm::StringRef name = space.variables[i].name;
    if (name.starts_with("lane"))
      lanes += (lanes.empty() ? "" : ", ") + std::to_string(numbers[i]);
    else if (name == "iteration")
      turns += ", iteration " + std::to_string(numbers[i]);
  }
  return text + (lanes.empty() ? "" : ", lane (" + lanes + ")") + turns;
}

// Both, about the same launch: their symbols are one. `otherAs` are the second's variables in it.
Conditions together(const AccessSpace &first, const AccessSpace &second, size_t symbols,
                    std::vector<unsigned> &otherAs) {
  Conditions both = first;
  for (size_t i = 0; i < second.variables.size(); ++i) {
    Conditions::Variable variable = second.variables[i];
    if (i >= 3 && i < 3 + symbols) {
      otherAs.push_back(static_cast<unsigned>(i));
      continue;
    }
    for (unsigned &part : variable.parts)
      part = otherAs[part];
    llvm::sort(variable.parts);
    auto same = llvm::find_if(both.variables, [&](const Conditions::Variable &known) {
      return !known.parts.empty() && known.parts == variable.parts;
    });
    otherAs.push_back(static_cast<unsigned>(same - both.variables.begin()));
    if (same == both.variables.end())
      both.variables.push_back(std::move(variable));
  }
  return both;
}

Form renamed(const Form &form, const std::vector<unsigned> &as) {
  Form result = number(form.constant);
  for (size_t i = 0; i < form.factors.size(); ++i)
    if (form.factors[i] != 0) {
      result.factors.resize(std::max<size_t>(result.factors.size(), as[i] + 1), 0);
      result.factors[as[i]] += form.factors[i];
    }
  return result;
}

// What a form multiplies with the variable, divided by what divides all of it: of 8 * a * n - 8 * b * n + c, with n,
// a - b.
Form factorOf(const Conditions &conditions, const Form &form, unsigned variable) {
  Form factor;
  int64_t divisor = 0;
  for (size_t i = 0; i < form.factors.size(); ++i) {
    const std::vector<unsigned> &parts = conditions.variables[i].parts;
    if (form.factors[i] == 0 || parts.size() != 2 || !llvm::is_contained(parts, variable))
      continue;
    unsigned other = parts[0] == variable ? parts[1] : parts[0];
    factor.factors.resize(std::max<size_t>(factor.factors.size(), other + 1), 0);
    factor.factors[other] += form.factors[i];
    divisor = std::gcd(divisor, form.factors[i]);
  }
  if (variable < form.factors.size()) {
    factor.constant = form.factors[variable];
    divisor = std::gcd(divisor, factor.constant);
  }
  for (int64_t &number : factor.factors)
    number /= std::max<int64_t>(1, divisor);
  factor.constant /= std::max<int64_t>(1, divisor);
  return factor;
}

struct StaticAccess {
  explicit StaticAccess(const StaticLaunch &launch) : space(launch) {}
  AccessSpace space;
  std::string name, place;
  uint32_t effects = 0;
  bool isKnown = false;
  const Array *array = nullptr;
  int32_t familyArray = -1; // of all launches: which of the family's it is

  bool writes() const { return effects & AccessWrites; }
  bool isAtomic() const { return effects & AccessAtomic; }
};

class Checker {
public:
  Checker(ModuleOp module, const StaticLaunch &launch) : launch(launch) {
    module.walk([&](tile::CheckAccessOp check) { add(check); });
  }

  std::vector<Verdict> run() {
    for (const auto &access : accesses)
      verdicts.push_back(bounds(*access));
    if (launch.family || uint64_t(launch.facts.grid[0]) * launch.facts.grid[1] * launch.facts.grid[2] > 1)
      for (size_t i = 0; i < accesses.size(); ++i)
        for (size_t j = i; j < accesses.size(); ++j)
          if (std::optional<Verdict> verdict = race(*accesses[i], *accesses[j], i == j))
            verdicts.push_back(std::move(*verdict));
    return std::move(verdicts);
  }

private:
  void add(tile::CheckAccessOp check) {
    auto effects = check->getAttrOfType<IntegerAttr>(effectsAttribute);
    auto place = check->getAttrOfType<StringAttr>(placeAttribute);
    if (!effects || !place)
      throw std::runtime_error("the kernel was not compiled to tell its accesses");
    if (effects.getInt() & AccessAcquires) {
      synchronizes = true;
      return;
    }
    auto access = std::make_unique<StaticAccess>(launch);
    access->name = check.getAccess().str();
    access->place = place.getValue().str();
    access->effects = static_cast<uint32_t>(effects.getInt());
    try {
      access->isKnown = access->space.read(check);
    } catch (const std::overflow_error &error) {
      access->space.whyNot = error.what();
    }
    if (access->isKnown && launch.family)
      access->familyArray = launch.family->arrays[static_cast<size_t>(access->space.argument)];
    else if (access->isKnown)
      access->array = arrayOf(access->space.argument);
    accesses.push_back(std::move(access));
  }

  // The array of a pointer argument: they stand in the order of the arguments.
  const Array *arrayOf(int32_t argument) const {
    size_t next = 0;
    const Array *found = nullptr;
    for (int32_t slot = 0; slot <= argument; ++slot) {
      found = nullptr;
      if (!launch.slots[static_cast<size_t>(slot)].isPointer)
        continue;
      for (size_t i = next; i < launch.facts.arrays.size(); ++i)
        if (launch.facts.arrays[i].origin == static_cast<uint64_t>(launch.slots[static_cast<size_t>(slot)].value)) {
          found = &launch.facts.arrays[i];
          next = i + 1;
          break;
        }
    }
    return found;
  }

  // Of all launches of the family.
  Verdict boundsOfAll(StaticAccess &access) {
    Verdict verdict{Verdict::Check::Bounds, Verdict::Answer::Unknown, access.name, access.place, "",
                    access.space.whyNot};
    if (!access.isKnown)
      return verdict;
    const LaunchFamily &family = *launch.family;
    auto array = static_cast<size_t>(access.familyArray);
    if (access.familyArray < 0 || !family.bytes[array]) {
      verdict.text = access.familyArray < 0 ? "its pointer is no array's"
                                            : "nothing is stated of the size of '" + family.arrayNames[array] + "'";
      return verdict;
    }
    try {
      Form bytes = access.space.polynomial(*family.bytes[array]);
      bool isAfterBegin = access.space.isImpossible(sum(number(-1), access.space.address, -1));
      Form end = sum(access.space.address, number(access.space.size - 1));
      if (isAfterBegin && access.space.isImpossible(sum(end, bytes, -1))) {
        verdict.answer = Verdict::Answer::Proved;
        verdict.text.clear();
      } else if (verdict.text.empty()) {
        verdict.text = std::string("it is not proved to end up ") +
                       (isAfterBegin ? "before the end" : "after the begin") + " of '" + family.arrayNames[array] + "'";
      }
    } catch (const std::overflow_error &error) {
      verdict.text = error.what();
    }
    return verdict;
  }

  std::optional<Verdict> raceOfAll(const StaticAccess &a, const StaticAccess &b, bool isSame) {
    Verdict verdict{Verdict::Check::Race, Verdict::Answer::Unknown, a.name, a.place, isSame ? "" : b.place, ""};
    for (const StaticAccess *side : {&a, &b})
      if (!side->isKnown || side->familyArray < 0) {
        verdict.text = side->space.whyNot.empty() ? "its pointer is no array's" : side->space.whyNot;
        return verdict;
      }
    if (a.familyArray != b.familyArray)
      return std::nullopt; // arrays lie apart
    try {
      std::vector<unsigned> as;
      Conditions both = together(a.space, b.space, launch.family->symbols.size(), as);
      for (const Form &form : b.space.atLeastZero)
        both.atLeastZero.push_back(renamed(form, as));
      Form distance = sum(renamed(b.space.address, as), a.space.address, -1);
      Form near[2] = {sum(distance, number(b.space.size - 1)), sum(number(a.space.size - 1), distance, -1)};
      // Rows that differ, and rows that are the same, are looked at apart: whatever a symbol is multiplied with.
      std::vector<std::vector<Form>> cases = {{}};
      for (unsigned symbol = 3; symbol < 3 + launch.family->symbols.size(); ++symbol) {
        Form factor = factorOf(both, distance, symbol);
        constexpr size_t mostCases = 27;
        if (isConstant(factor) || cases.size() * 3 > mostCases)
          continue;
        std::vector<std::vector<Form>> split;
        Form more = sum(factor, number(-1)), less = sum(number(-1), factor, -1), opposite = scaled(factor, -1);
        for (const std::vector<Form> &known : cases)
          for (const std::vector<Form> &added : {std::vector{more}, std::vector{less}, std::vector{factor, opposite}}) {
            split.push_back(known);
            split.back().insert(split.back().end(), added.begin(), added.end());
          }
        cases = std::move(split);
      }
      for (unsigned axis = 0; axis < 3; ++axis)
        for (int64_t sign : {1, -1}) {
          if (isSame && sign < 0)
            continue;
          Form apart = number(-1);
          apart.factors.assign(as[axis] + 1, 0);
          apart.factors[axis] = sign;
          apart.factors[as[axis]] = -sign;
          bool isProved = llvm::all_of(cases, [&](std::vector<Form> known) {
            known.insert(known.end(), {near[0], near[1], apart});
            return both.isImpossible(known);
          });
          if (!isProved) {
            verdict.text = !a.space.whyNot.empty()   ? a.space.whyNot
                           : !b.space.whyNot.empty() ? b.space.whyNot
                                                     : "programs are not proved to stay apart";
            return verdict;
          }
        }
    } catch (const std::overflow_error &error) {
      verdict.text = error.what();
      return verdict;
    }
    verdict.answer = Verdict::Answer::Proved;
    return verdict;
  }

  Verdict bounds(StaticAccess &access) {
    if (launch.family)
      return boundsOfAll(access);
    Verdict verdict{Verdict::Check::Bounds, Verdict::Answer::Unknown, access.name, access.place, "",
                    access.space.whyNot};
    if (!access.isKnown || !access.array) {
      if (verdict.text.empty())
        verdict.text = "the memory of its argument is not known";
      return verdict;
    }
    const Array &array = *access.array;
    auto low = static_cast<int64_t>(array.begin - array.origin), high = static_cast<int64_t>(array.end - array.origin);
    try {
      // Before the first byte, or with its end after the last.
      Form before = sum({{}, low - 1}, access.space.address, -1);
      Form after = sum(access.space.address, {{}, access.space.size - high - 1});
      for (const Form &outside : {before, after}) {
        Question question(access.space.variables.size());
        question.require(access.space);
        question.require(outside);
        std::optional<std::vector<int64_t>> numbers = question.answer();
        if (!numbers)
          continue;
        if (!access.space.isExact)
          return verdict;
        int64_t at = valueOf(access.space.address, *numbers);
        verdict.answer = Verdict::Answer::Witness;
        verdict.text = describe(access.space, *numbers) + ": element " + std::to_string(at / access.space.size) +
                       " of '" + array.name + "' (valid: " + std::to_string(low / access.space.size) + " to " +
                       std::to_string(high / access.space.size - 1) + ")";
        return verdict;
      }
    } catch (const std::overflow_error &error) {
      verdict.text = error.what();
      return verdict;
    }
    if (!array.isDense) {
      verdict.text = "'" + array.name + "' is a view with holes";
      return verdict;
    }
    verdict.answer = Verdict::Answer::Proved;
    verdict.text.clear();
    return verdict;
  }

  // Two accesses by different programs that touch the same byte; none where they cannot race by what they are.
  std::optional<Verdict> race(const StaticAccess &a, const StaticAccess &b, bool isSame) {
    if ((!a.writes() && !b.writes()) || (a.isAtomic() && b.isAtomic()))
      return std::nullopt;
    if (launch.family)
      return raceOfAll(a, b, isSame);
    Verdict verdict{Verdict::Check::Race, Verdict::Answer::Unknown, a.name, a.place, isSame ? "" : b.place, ""};
    for (const StaticAccess *side : {&a, &b})
      if (!side->isKnown || !side->array) {
        verdict.text = side->space.whyNot.empty() ? "the memory of its argument is not known" : side->space.whyNot;
        return verdict;
      }
    if (a.array->end <= b.array->begin || b.array->end <= a.array->begin) {
      // Different memory, as long as both stay inside: what bounds says of them.
      return std::nullopt;
    }
    auto distance = static_cast<int64_t>(b.array->origin - a.array->origin);
    size_t countA = a.space.variables.size(), countB = b.space.variables.size();
    // Their programs differ along an axis, one way or the other.
    for (unsigned axis = 0; axis < 3; ++axis)
      for (int64_t sign : {1, -1}) {
        if (launch.facts.grid[axis] <= 1 || (isSame && sign < 0))
          continue;
        Question question(countA + countB);
        question.require(a.space);
        question.require(b.space, countA);
        Form apart, shifted = {{}, distance};
        apart.factors.assign(countA + countB, 0);
        apart.factors[axis] = sign;
        apart.factors[countA + axis] = -sign;
        apart.constant = -1;
        question.require(apart);
        // -size of b < address of b - address of a < size of a
        shifted.factors.assign(countA + countB, 0);
        for (size_t i = 0; i < a.space.address.factors.size(); ++i)
          shifted.factors[i] = -a.space.address.factors[i];
        for (size_t i = 0; i < b.space.address.factors.size(); ++i)
          shifted.factors[countA + i] = b.space.address.factors[i];
        shifted.constant += b.space.address.constant - a.space.address.constant;
        question.require(sum(shifted, {{}, b.space.size - 1}));
        question.require(sum({{}, a.space.size - 1}, shifted, -1));
        std::optional<std::vector<int64_t>> numbers = question.answer();
        if (!numbers)
          continue;
        if (!a.space.isExact || !b.space.isExact || synchronizes) {
          verdict.text = synchronizes       ? "programs are ordered by atomics"
                         : !a.space.isExact ? a.space.whyNot
                                            : b.space.whyNot;
          return verdict;
        }
        llvm::ArrayRef<int64_t> all(*numbers);
        verdict.answer = Verdict::Answer::Witness;
        verdict.text = describe(a.space, all.take_front(countA)) + " and " + describe(b.space, all.drop_front(countA)) +
                       ": element " + std::to_string(valueOf(a.space.address, all.take_front(countA)) / a.space.size) +
                       " of '" + a.array->name + "'";
        return verdict;
      }
    verdict.answer = Verdict::Answer::Proved;
    return verdict;
  }

  const StaticLaunch &launch;
  bool synchronizes = false; // some program waits for another
  std::vector<std::unique_ptr<StaticAccess>> accesses;
  std::vector<Verdict> verdicts;
};

} // namespace

const char *nameOf(Verdict::Check check) { return check == Verdict::Check::Bounds ? "bounds" : "race"; }

const char *nameOf(Verdict::Answer answer) {
  switch (answer) {
  case Verdict::Answer::Proved:
    return "proved";
  case Verdict::Answer::Witness:
    return "witness";
  case Verdict::Answer::Unknown:
    return "unknown";
  }
  llvm_unreachable("every answer has a name");
}

std::vector<Verdict> checkStatically(const std::string &text, const StaticLaunch &launch) {
  tile::TileText parsed(text);
  ModuleOp module = parsed.module();
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(tile::kernelAttribute) && function.getNumArguments() != launch.slots.size())
      throw std::runtime_error("the launch has not as many arguments as the kernel");
  if (!launch.family)
    return Checker(module, launch).run();
  // What an argument's type says of it holds too.
  StaticLaunch bounded = launch;
  bounded.family = std::make_shared<LaunchFamily>(*launch.family);
  for (auto function : module.getOps<func::FuncOp>())
    for (BlockArgument argument : function.getArguments()) {
      Type type = argument.getType();
      if (!function->hasAttr(tile::kernelAttribute) || !type.isInteger() || type.getIntOrFloatBitWidth() > 32)
        continue;
      int64_t most = (int64_t(1) << (type.getIntOrFloatBitWidth() - 1)) - 1;
      const Polynomial &value = bounded.family->slots[argument.getArgNumber()];
      if (value.terms.size() == 1 && value.terms[0].factor == 1 && value.terms[0].symbols.size() == 1) {
        LaunchFamily::Symbol &symbol = bounded.family->symbols[value.terms[0].symbols[0]];
        symbol.low = std::max(symbol.low, -most - 1);
        symbol.high = std::min(symbol.high, most);
        continue;
      }
      for (int64_t sign : {1, -1}) { // most - value and value + most + 1
        Polynomial within{{{sign > 0 ? most : most + 1, {}}}};
        for (Polynomial::Term term : value.terms)
          within.terms.push_back({-sign * term.factor, term.symbols});
        bounded.family->atLeastZero.push_back(std::move(within));
      }
    }
  return Checker(module, bounded).run();
}

} // namespace nacre::sanitizer
