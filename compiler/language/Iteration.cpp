// Loops. Their meaning is the front end's; the rows hold the parameters and the documentation.
#include "compiler/language/Definitions.h"

namespace nacre {

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
