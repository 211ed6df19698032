// Scopes and events inside of kernels, for those who profile them: triton.profiler.language.
#include "compiler/language/builtins/Marks.h"
#include "compiler/language/builtins/Definitions.h"

namespace nacre {

// The name of the scope or event.
static Object nameArgument(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  std::string name = stringArgument(evaluation, arguments[0], "name");
  if (name.empty())
    evaluation.fail(Diagnostic::Kind::Value, "the name of a scope or an event must not be empty");
  return name;
}

static Object scopeOutsideOfWith(Evaluation &evaluation, llvm::ArrayRef<Object>) {
  evaluation.fail(Diagnostic::Kind::Unsupported, "a scope is opened by `with pl.scope(name):`",
                  "or use pl.enter_scope(name) and pl.exit_scope(name)");
}

void addMarks(Table &table) {
  table.section(profilerModule, "profiling");
  table.add("enter_scope(name: constexpr str)",
            "What follows is measured as `name`, in each program, until exit_scope of that name; scopes nest. Nothing "
            "happens while no session looks inside of kernels.\n\n"
            "name: of the frame below the kernel's.",
            nameArgument);
  table.add("exit_scope(name: constexpr str)",
            "Ends the scope that enter_scope opened.\n\n"
            "name: the scope's.",
            nameArgument);
  table.add("scope(name: constexpr str)",
            "A scope around the statements of `with pl.scope(name):`; return, break and continue end it too.\n\n"
            "name: of the frame below the kernel's.",
            scopeOutsideOfWith);
  table.add("allocate_event(name: constexpr str)",
            "An event: something that starts at one place and ends at another, whatever scopes are open there.\n\n"
            "name: of the frame below the kernel's.",
            nameArgument);
  table.add("start_event(event: constexpr str)",
            "The event starts.\n\n"
            "event: what allocate_event gave.",
            nameArgument);
  table.add("end_event(event: constexpr str)",
            "The event ends.\n\n"
            "event: what allocate_event gave.",
            nameArgument);
}

} // namespace nacre
