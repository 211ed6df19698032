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
  bool checksLaunches;       // the function does (KernelMetadata::launchCheck), and has other code for those that fail
  const char *runtimeHeader; // what the function's header includes
  // Its source, its code, and what it needs besides nacre_kernel.h. `general` is the code for launches that do not pass
  // the check of `code`; null: that checks nothing. Throws CompileError.
  std::vector<ExportedFile> (*files)(const ExportedFunction &function, const CompiledCode &code,
                                     const CompiledCode *general, const ExportRequest &request);
};

// The check of a kernel's launches (KernelMetadata::launchCheck) as a function in C, `static int passes(const uint32_t
// grid[3], const uint64_t *arguments)`; it needs nacre_ranges.h.
std::string launchCheckInC(llvm::StringRef check);

// A file of ahead_of_time/, or nacre_ranges.h.
ExportedFile aheadOfTimeFile(llvm::StringRef name);

[[noreturn]] void failExport(const ExportRequest &request, const std::string &message, const std::string &hint = "");

} // namespace nacre
