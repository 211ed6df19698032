// See ExportedCode.h.
#include "runtime/api/ExportedCode.h"
#include "compiler/analysis/LaunchCheck.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"

namespace nacre {

#include "runtime/AheadOfTimeTexts.inc"

ExportedFile aheadOfTimeFile(llvm::StringRef name) {
  const char *text = llvm::StringSwitch<const char *>(name)
                         .Case("nacre_kernel.h", kernelHeader)
                         .Case("nacre_kernel.c", kernelSource)
                         .Case("nacre_cuda.h", cudaHeader)
                         .Case("nacre_cuda.c", cudaSource)
                         .Case("nacre_ranges.h", rangesHeader)
                         .Default(nullptr);
  assert(text && "there is no such file");
  return {name.str(), text};
}

std::string ExportedFunction::argumentArray() const {
  return "  const uint64_t arguments[] = {" + (slots.empty() ? "0" : llvm::join(slots, ", ")) + "};\n";
}

static std::string numberInC(int64_t number) { // the smallest has no literal of its own
  return number == INT64_MIN ? "INT64_MIN" : "INT64_C(" + std::to_string(number) + ")";
}

std::string launchCheckInC(llvm::StringRef text) {
  std::optional<LaunchCheck> check = LaunchCheck::parse(text);
  assert(check && "the compiler wrote it");
  std::string result;
  llvm::raw_string_ostream out(result);
  out << "/* Whether the launch proves what the code relies on: index arithmetic that is not negative. */\n"
      << "static int passes(const uint32_t *grid, const uint64_t *arguments) {\n  nacre_range ranges["
      << check->steps.size() << "];\n  (void)grid, (void)arguments;\n";
  for (auto [index, step] : llvm::enumerate(check->steps)) {
    out << "  ranges[" << index << "] = ";
    std::string number = std::to_string(step.known.low);
    switch (step.rule) {
    case RangeRule::Known:
      out << "nacre_range_from(" << numberInC(step.known.low) << ", " << numberInC(step.known.high) << ");\n";
      break;
    case RangeRule::Argument:
      out << "nacre_range_of_argument(arguments[" << number << "], " << unsigned(step.bits) << ");\n";
      break;
    case RangeRule::ProgramId:
      out << "nacre_range_from(0, (int64_t)grid[" << number << "] - 1);\n";
      break;
    case RangeRule::ProgramCount:
      out << "nacre_range_from(grid[" << number << "], grid[" << number << "]);\n";
      break;
    default:
      out << "nacre_range_by((nacre_range_rule)" << int(step.rule) << ", " << unsigned(step.bits) << ", "
          << unsigned(step.sourceBits) << ", ranges[" << step.operands[0] << "], ranges["
          << step.operands[step.operandCount - 1] << "]);\n";
    }
  }
  auto isNotNegative = [](uint32_t step) { return "ranges[" + std::to_string(step) + "].low >= 0"; };
  out << "  return " << llvm::join(llvm::map_range(check->notNegative, isNotNegative), " && ") << ";\n}\n\n";
  return result;
}

void failExport(const ExportRequest &request, const std::string &message, const std::string &hint) {
  Diagnostic diagnostic;
  diagnostic.kind = Diagnostic::Kind::Argument;
  diagnostic.location.source = request.kernel.kernel.text;
  diagnostic.location.line = request.kernel.kernel.text->firstLine;
  diagnostic.message = message;
  diagnostic.hint = hint;
  throw CompileError(std::move(diagnostic));
}

} // namespace nacre
