// See LaunchCheck.h. The text: numbers with commas between them, those of a step at a time with colons between; the
// steps that must not be negative come last.
#include "compiler/analysis/LaunchCheck.h"
#include "compiler/analysis/nacre_ranges.h"
#include "llvm/ADT/StringExtras.h"

using namespace nacre;

bool LaunchCheck::holds(const uint32_t grid[3], llvm::ArrayRef<uint64_t> arguments) const {
  llvm::SmallVector<IntegerRange, 64> ranges;
  ranges.reserve(steps.size());
  for (const Step &step : steps) {
    IntegerRange range = step.known;
    auto number = static_cast<size_t>(step.known.low);
    switch (step.rule) {
    case RangeRule::Known:
      break;
    case RangeRule::Argument: {
      nacre_range value = nacre_range_of_argument(arguments[number], step.bits);
      range = {value.low, value.high};
      break;
    }
    case RangeRule::ProgramId:
      range = {0, int64_t(grid[number]) - 1};
      break;
    case RangeRule::ProgramCount:
      range = {grid[number], grid[number]};
      break;
    default: {
      IntegerRange operands[2] = {ranges[step.operands[0]], ranges[step.operands[1]]};
      range = rangeBy(step.rule, step.bits, step.sourceBits, llvm::ArrayRef(operands, step.operandCount));
    }
    }
    ranges.push_back(range);
  }
  return llvm::all_of(notNegative, [&](uint32_t step) { return ranges[step].low >= 0; });
}

llvm::SmallVector<uint32_t, 0> LaunchCheck::arguments() const {
  llvm::SmallVector<uint32_t, 0> numbers;
  for (const Step &step : steps)
    if (step.rule == RangeRule::Argument)
      numbers.push_back(static_cast<uint32_t>(step.known.low));
  return numbers;
}

std::string LaunchCheck::text() const {
  std::string text;
  for (const Step &step : steps) {
    for (int64_t number : {int64_t(step.rule), int64_t(step.bits), int64_t(step.sourceBits), int64_t(step.operandCount),
                           int64_t(step.operands[0]), int64_t(step.operands[1]), step.known.low, step.known.high})
      text += std::to_string(number) + ",";
    text.back() = ':';
  }
  return text + llvm::join(llvm::map_range(notNegative, [](uint32_t step) { return std::to_string(step); }), ",");
}

static std::optional<llvm::SmallVector<int64_t, 8>> numbersOf(llvm::StringRef text) {
  llvm::SmallVector<int64_t, 8> numbers;
  for (llvm::StringRef part : llvm::split(text, ','))
    if (part.getAsInteger(10, numbers.emplace_back()))
      return std::nullopt;
  return numbers;
}

std::optional<LaunchCheck> LaunchCheck::parse(llvm::StringRef text) {
  LaunchCheck check;
  if (text.empty())
    return check;
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ':');
  for (llvm::StringRef part : llvm::ArrayRef(parts).drop_back()) {
    auto numbers = numbersOf(part);
    if (!numbers || numbers->size() != 8)
      return std::nullopt;
    llvm::ArrayRef<int64_t> n = *numbers;
    auto made = static_cast<int64_t>(check.steps.size());
    auto isEarlier = [&](int64_t step) { return step >= 0 && step < made; };
    bool isSource = n[0] >= 0 && n[0] < int64_t(RangeRule::Index);
    bool isRule = n[0] >= 0 && n[0] <= int64_t(lastRangeRule) && n[1] > 0 && n[1] <= 64 && n[2] > 0 && n[2] <= 64;
    bool isNumbered = n[0] == int64_t(RangeRule::Known) || !isSource ||
                      (n[6] >= 0 && n[6] < (n[0] == int64_t(RangeRule::Argument) ? 1 << 16 : 3));
    bool hasOperands = isSource ? n[3] == 0 : (n[3] == 1 || n[3] == 2) && isEarlier(n[4]) && isEarlier(n[5]);
    if (!isRule || !isNumbered || !hasOperands)
      return std::nullopt;
    check.steps.push_back({static_cast<RangeRule>(n[0]),
                           static_cast<uint8_t>(n[1]),
                           static_cast<uint8_t>(n[2]),
                           static_cast<uint8_t>(n[3]),
                           {static_cast<uint32_t>(n[4]), static_cast<uint32_t>(n[5])},
                           {n[6], n[7]}});
  }
  auto wanted = numbersOf(parts.back());
  if (!wanted)
    return std::nullopt;
  for (int64_t step : *wanted) {
    if (step < 0 || step >= static_cast<int64_t>(check.steps.size()))
      return std::nullopt;
    check.notNegative.push_back(static_cast<uint32_t>(step));
  }
  return check;
}
