// The code of a kernel compiled ahead of time: how C calls it. Devices that it can be called on say so
// (Driver::exportedCode), and write the source of the function that does.
#pragma once

#include "runtime/api/AheadOfTime.h"

namespace nacre {

// The parts of the C function that launches a kernel.
struct ExportedFunction {
  std::string name, prototype;
  std::string stem;               // of the names of its files, up to their last point
  std::vector<std::string> slots; // the kernel's arguments, each as eight bytes
  std::string declarations;       // what the grid's expressions may name; empty: nothing
  std::vector<std::string> grid;  // three expressions

  std::string include() const { return "#include \"" + stem + ".h\"\n\n"; }
  std::string argumentArray() const; // its declaration, as a statement
};

struct ExportedCode {
  bool hasStream;            // launches do, as the first parameter
  const char *runtimeHeader; // what the function's header includes
  // Its source, its code, and what it needs besides nacre_kernel.h. Throws CompileError.
  std::vector<ExportedFile> (*files)(const ExportedFunction &function, const CompiledCode &code,
                                     const ExportRequest &request);
};

// A file of ahead_of_time/.
ExportedFile aheadOfTimeFile(llvm::StringRef name);

[[noreturn]] void failExport(const ExportRequest &request, const std::string &message, const std::string &hint = "");

} // namespace nacre
