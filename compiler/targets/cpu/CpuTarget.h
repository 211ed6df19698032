// The CPU target: tile IR to an object file for the host, or for a named CPU. Its whole pipeline is Pipeline.cpp.
#pragma once

#include "compiler/language/ExternalFunction.h"
#include "runtime/KernelABI.h"
#include "llvm/ADT/ArrayRef.h"
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace mlir {
class ModuleOp;
class MLIRContext;
class DialectRegistry;
} // namespace mlir

namespace nacre::cpu {

// The text of a stage, and the file it stands in.
struct StageText {
  std::string text, file;
};

struct CpuOptions {
  std::string cpu;      // LLVM's name ("znver4", "skylake-avx512"); empty: the host
  std::string features; // "+avx512f,-avx2"; empty with an empty cpu: the host's
  bool fpFusion = true; // contract a*b+c
  bool lineInfo = true;
  bool dumpPasses = false;     // print the IR after every pass that changed it
  bool dumpLLVMPasses = false; // the same for LLVM's passes
  std::string dumpPath;        // the file to which both are appended; empty: stderr
  std::string reproducerPath;  // where a failing pass leaves its input; empty: nowhere
  // "tile" or "cpu": the lines of the machine code are those of that stage's text, which is written to the file; empty:
  // those of the kernel.
  std::string linesOfStage, linesFile;
  // Called after each stage with its name ("tile", "cpu", "llvm", "asm") and a function that gives its text; null: none
  // wanted.
  std::function<void(const std::string &stage, const std::function<std::string()> &text)> onStage;
  // Asked after each stage for what is to take its place; none: nothing. Null: nobody is asked.
  std::function<std::optional<StageText>(const std::string &stage, const std::function<std::string()> &text)>
      replaceStage;
};

struct CpuCode {
  std::string object;                      // an ELF relocatable object
  std::string symbol;                      // the KernelFunction in it
  std::vector<ExternalFunction> externals; // what it calls of libraries that are not part of it
  KernelMetadata metadata;
};

// Everything a context must know to compile for the CPU (dialects and LLVM translations).
void registerDialects(mlir::DialectRegistry &registry);

// Compiles the module's one kernel. The module is consumed (lowered in place). Throws CompileError on failure; LLVM's
// own fatal errors become one too.
CpuCode compile(mlir::ModuleOp module, const CpuOptions &options);

// The host's CPU name and features as LLVM writes them.
std::string hostCpu();
std::string hostFeatures();

// Kernels loaded from now on are told to Linux' perf.
void announceToPerf();

// Loads object code into this process and finds its symbol; the code lives as long as the returned handle.
class LoadedKernel {
public:
  virtual ~LoadedKernel() = default;
  KernelFunction function = nullptr;
  uintptr_t codeBegin = 0, codeEnd = 0; // all of the kernel's own instructions
};
// `externals` are found in their libraries, which stay loaded as long as the process.
std::unique_ptr<LoadedKernel> load(const std::string &object, const std::string &symbol,
                                   llvm::ArrayRef<ExternalFunction> externals = {});

} // namespace nacre::cpu
