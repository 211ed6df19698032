// The CPU target: tile IR to an object file for the host, or for a named CPU. Its whole pipeline is Pipeline.cpp.
#pragma once

#include "runtime/KernelABI.h"
#include <functional>
#include <memory>
#include <string>

namespace mlir {
class ModuleOp;
class MLIRContext;
class DialectRegistry;
} // namespace mlir

namespace nacre::cpu {

struct CpuOptions {
  std::string cpu;      // LLVM's name ("znver4", "skylake-avx512"); empty: the host
  std::string features; // "+avx512f,-avx2"; empty with an empty cpu: the host's
  bool fpFusion = true; // contract a*b+c
  bool lineInfo = true;
  bool dumpPasses = false;    // print the IR to stderr after every pass that changed it
  std::string reproducerPath; // where a failing pass leaves its input; empty: nowhere
  // Called after each stage with its name ("tile", "cpu", "llvm", "asm") and a function that gives its text; null: none
  // wanted.
  std::function<void(const std::string &stage, const std::function<std::string()> &text)> onStage;
};

struct CpuCode {
  std::string object; // an ELF relocatable object
  std::string symbol; // the KernelFunction in it
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

// Loads object code into this process and finds its symbol; the code lives as long as the returned handle.
class LoadedKernel {
public:
  virtual ~LoadedKernel() = default;
  KernelFunction function = nullptr;
};
std::unique_ptr<LoadedKernel> load(const std::string &object, const std::string &symbol);

} // namespace nacre::cpu
