// Kernels for the host as C functions: the code is an object beside the source (api/ahead_of_time/nacre_kernel.h).
#include "runtime/devices/cpu/ExportedCode.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace nacre::cpu {

static std::vector<ExportedFile> filesOf(const ExportedFunction &function, const CompiledCode &code,
                                         const CompiledCode *, const ExportRequest &) {
  std::string text;
  llvm::raw_string_ostream(text) << function.include() << "int32_t " << code.symbol
                                 << "(const uint64_t *, uint64_t, uint64_t, nacre_context *);\n\n"
                                 << function.prototype << " {\n"
                                 << "  static nacre_kernel kernel = {" << code.symbol << ", "
                                 << code.metadata.scratchBytes << ", " << code.metadata.waits << ", 0};\n"
                                 << function.argumentArray() << function.declarations
                                 << "  return nacre_launch(&kernel, " << llvm::join(function.grid, ", ")
                                 << ", arguments);\n}\n";
  return {{function.stem + ".c", text}, {function.stem + ".o", code.object}, aheadOfTimeFile("nacre_kernel.c")};
}

const ExportedCode &exportedCode() {
  static constexpr ExportedCode known{/*hasStream=*/false, /*checksLaunches=*/false, "nacre_kernel.h", filesOf};
  return known;
}

} // namespace nacre::cpu
