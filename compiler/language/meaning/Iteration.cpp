// Loops. How they run is the front end's and the interpreter's; here are the rows and what their arguments say.
#include "compiler/language/meaning/Iteration.h"
#include "compiler/language/builtins/Definitions.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace nacre {

bool isRangeBuiltin(const Builtin &builtin) {
  bool isTop = builtin.module == pythonModule || builtin.module == languageModule;
  return isTop && (builtin.name == "range" || builtin.name == "static_range");
}

namespace {

using Keywords = llvm::ArrayRef<std::pair<std::string, Object>>;

// One slot a parameter; empty where nothing was given.
llvm::SmallVector<std::optional<Object>, 9> bind(Evaluation &evaluation, const Builtin &builtin,
                                                 llvm::ArrayRef<Object> positional, Keywords keywords) {
  llvm::ArrayRef<Parameter> parameters = builtin.parameters;
  auto fail = [&](const std::string &message) {
    auto names = llvm::map_range(parameters, [](const Parameter &parameter) { return parameter.name; });
    evaluation.fail(Diagnostic::Kind::Argument, displayName(builtin) + " " + message,
                    "its parameters are " + llvm::join(names, ", "));
  };
  llvm::SmallVector<std::optional<Object>, 9> bound(parameters.size());
  if (positional.size() > bound.size())
    fail("takes at most " + std::to_string(bound.size()) + " arguments, but " + std::to_string(positional.size()) +
         " were given");
  llvm::copy(positional, bound.begin());
  for (const auto &[keyword, value] : keywords) {
    auto found = llvm::find_if(parameters, [&](const Parameter &parameter) { return parameter.name == keyword; });
    if (found == parameters.end())
      fail("has no parameter `" + keyword + "`");
    std::optional<Object> &slot = bound[found - parameters.begin()];
    if (slot)
      fail("got `" + keyword + "` twice");
    slot = value;
  }
  if (!bound[0])
    fail("needs at least one argument");
  return bound;
}

// The hints among the parameters, which their names tell.
LoopHints hintsOf(Evaluation &evaluation, const Builtin &builtin, llvm::ArrayRef<std::optional<Object>> bound) {
  LoopHints hints;
  auto flag = [&](llvm::StringRef name) {
    return llvm::StringSwitch<bool *>(name)
        .Case("disallow_acc_multi_buffer", &hints.disallowAccMultiBuffer)
        .Case("flatten", &hints.flatten)
        .Case("warp_specialize", &hints.warpSpecialize)
        .Case("disable_licm", &hints.disableLicm)
        .Default(nullptr);
  };
  auto count = [&](llvm::StringRef name) {
    return llvm::StringSwitch<std::optional<int> *>(name)
        .Case("num_stages", &hints.numStages)
        .Case("loop_unroll_factor", &hints.unrollFactor)
        .Default(nullptr);
  };
  for (auto [parameter, value] : llvm::zip_equal(builtin.parameters, bound)) {
    std::string what = "`" + parameter.name + "` of " + displayName(builtin) + " must be ";
    bool *isOn = flag(parameter.name);
    std::optional<int> *number = count(parameter.name);
    if ((!isOn && !number) || !value || value->isNone())
      continue;
    if (!value->isBool() && !value->isInt())
      evaluation.fail(Diagnostic::Kind::Argument, what + "a constexpr, not " + value->typeName());
    if (isOn) {
      *isOn = value->isBool() ? value->as<bool>() : value->as<llvm::DynamicAPInt>() != 0;
      continue;
    }
    bool isCount =
        value->isInt() && value->as<llvm::DynamicAPInt>() >= 0 && value->as<llvm::DynamicAPInt>() <= INT32_MAX;
    if (!isCount)
      evaluation.fail(Diagnostic::Kind::Value, what + "a number that is not negative, not " + value->repr());
    *number = static_cast<int>(static_cast<int64_t>(value->as<llvm::DynamicAPInt>()));
  }
  return hints;
}

} // namespace

RangeArguments rangeArguments(Evaluation &evaluation, const Builtin &builtin, llvm::ArrayRef<Object> positional,
                              Keywords keywords) {
  bool takesHints = builtin.module == pythonModule && builtin.name == "range" && !keywords.empty();
  const Builtin &row = takesHints ? *findBuiltin(languageModule, "range") : builtin;
  auto bound = bind(evaluation, row, positional, keywords);
  RangeArguments range;
  bool hasStart = bound[1] && !bound[1]->isNone();
  range.start = hasStart ? *bound[0] : Object(0);
  range.stop = hasStart ? *bound[1] : *bound[0];
  range.step = bound[2] && !bound[2]->isNone() ? *bound[2] : Object(1);
  range.hints = hintsOf(evaluation, row, bound);
  return range;
}

std::pair<Object, LoopHints> conditionArguments(Evaluation &evaluation, llvm::ArrayRef<Object> positional,
                                                Keywords keywords) {
  const Builtin &builtin = *findBuiltin(languageModule, "condition");
  auto bound = bind(evaluation, builtin, positional, keywords);
  return {*bound[0], hintsOf(evaluation, builtin, bound)};
}

static Object onlyInLoops(Evaluation &evaluation, llvm::ArrayRef<Object>) {
  evaluation.fail(Diagnostic::Kind::Unsupported, "a range is not a value", "write it in a loop: for i in range(n)");
}

void addIteration(Table &table) {
  table.section(languageModule, "iteration");
  table.add("range(arg1: int, arg2: int = None, step: int = None, num_stages: constexpr int = None, "
            "loop_unroll_factor: constexpr int = None, "
            "disallow_acc_multi_buffer: constexpr bool = False, flatten: constexpr bool = False, warp_specialize: "
            "constexpr bool = False, "
            "disable_licm: constexpr bool = False)",
            "Counts like Python's range, in a loop that is not unrolled, with hints for the compiler.\n\n"
            "arg1, arg2, step: stop, or start, stop and step. A negative step must be constexpr.\n"
            "num_stages: how many iterations a pipeline may overlap.\n"
            "loop_unroll_factor: how often to repeat the body within one iteration.\n"
            "disallow_acc_multi_buffer, flatten, warp_specialize, disable_licm: hints for GPU targets.",
            onlyInLoops);
  table.add("static_range(arg1: constexpr int, arg2: constexpr int = None, step: constexpr int = None)",
            "Counts like Python's range over constexprs; the loop is unrolled and its index is a constexpr.\n\n"
            "arg1, arg2, step: stop, or start, stop and step.",
            onlyInLoops);
  table.add("condition(arg1: bool, disable_licm: constexpr bool = False)",
            "A while loop's condition with hints for the compiler.\n\n"
            "arg1: the condition.\n"
            "disable_licm: keep what does not change inside the loop.",
            onlyInLoops);
}

} // namespace nacre
