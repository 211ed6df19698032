// See StaticCheck.h.
#include "sanitizer/StaticCheck.h"
#include "compiler/ir/tile/AccessEffects.h"
#include "compiler/ir/tile/Tile.h"
#include "compiler/ir/tile/TileText.h"
#include "mlir/Analysis/Presburger/IntegerRelation.h"
#include "sanitizer/AffineForms.h"
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

struct StaticAccess {
  explicit StaticAccess(const StaticLaunch &launch) : space(launch) {}
  AccessSpace space;
  std::string name, place;
  uint32_t effects = 0;
  bool isKnown = false;
  const Array *array = nullptr;

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
    if (uint64_t(launch.facts.grid[0]) * launch.facts.grid[1] * launch.facts.grid[2] > 1)
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
      synchronises = true;
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
    if (access->isKnown)
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

  Verdict bounds(const StaticAccess &access) {
    Verdict verdict{"bounds", "unknown", access.name, access.place, "", access.space.whyNot};
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
        verdict.answer = "witness";
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
    verdict.answer = "proved";
    verdict.text.clear();
    return verdict;
  }

  // Two accesses by different programs that touch the same byte; none where they cannot race by what they are.
  std::optional<Verdict> race(const StaticAccess &a, const StaticAccess &b, bool isSame) {
    if ((!a.writes() && !b.writes()) || (a.isAtomic() && b.isAtomic()))
      return std::nullopt;
    Verdict verdict{"race", "unknown", a.name, a.place, isSame ? "" : b.place, ""};
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
        if (!a.space.isExact || !b.space.isExact || synchronises) {
          verdict.text = synchronises       ? "programs are ordered by atomics"
                         : !a.space.isExact ? a.space.whyNot
                                            : b.space.whyNot;
          return verdict;
        }
        llvm::ArrayRef<int64_t> all(*numbers);
        verdict.answer = "witness";
        verdict.text = describe(a.space, all.take_front(countA)) + " and " + describe(b.space, all.drop_front(countA)) +
                       ": element " + std::to_string(valueOf(a.space.address, all.take_front(countA)) / a.space.size) +
                       " of '" + a.array->name + "'";
        return verdict;
      }
    verdict.answer = "proved";
    return verdict;
  }

  const StaticLaunch &launch;
  bool synchronises = false; // some program waits for another
  std::vector<std::unique_ptr<StaticAccess>> accesses;
  std::vector<Verdict> verdicts;
};

} // namespace

std::vector<Verdict> checkStatically(const std::string &text, const StaticLaunch &launch) {
  tile::TileText parsed(text);
  ModuleOp module = parsed.module();
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(tile::kernelAttribute) && function.getNumArguments() != launch.slots.size())
      throw std::runtime_error("the launch has not as many arguments as the kernel");
  return Checker(module, launch).run();
}

} // namespace nacre::sanitizer
