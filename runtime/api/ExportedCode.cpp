// See ExportedCode.h.
#include "runtime/api/ExportedCode.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace nacre {

#include "runtime/AheadOfTimeTexts.inc"

ExportedFile aheadOfTimeFile(llvm::StringRef name) {
  const char *text = llvm::StringSwitch<const char *>(name)
                         .Case("nacre_kernel.h", kernelHeader)
                         .Case("nacre_kernel.c", kernelSource)
                         .Case("nacre_cuda.h", cudaHeader)
                         .Case("nacre_cuda.c", cudaSource)
                         .Default(nullptr);
  assert(text && "there is no such file");
  return {name.str(), text};
}

std::string ExportedFunction::argumentArray() const {
  return "  const uint64_t arguments[] = {" + (slots.empty() ? "0" : llvm::join(slots, ", ")) + "};\n";
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
