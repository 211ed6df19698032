// Drives the compiler: a request for one specialisation of a kernel becomes object code. The only file of the runtime
// that sees MLIR is its implementation.
#pragma once

#include "compiler/frontend/Frontend.h"
#include "runtime/ArgumentAccess.h"
#include "runtime/KernelABI.h"
#include <functional>
#include <string>
#include <vector>

namespace nacre {

// What the user may ask of a compile. Options that mean nothing to the target are not here: they make no second kernel.
struct CompileOptions {
  bool debug = false;
  bool sanitizeOverflow = false;
  bool fpFusion = true;
  bool lineInfo = true;
  std::string cpu;      // as LLVM names it; empty: the host
  std::string features; // likewise
  std::string knobs;    // what the environment says that belongs to the cache key
};

// The options the knobs ask for.
CompileOptions defaultCompileOptions();

struct CompileRequest {
  FunctionSource kernel;
  std::vector<ArgumentSpec> arguments;
  CompileOptions options;
  std::function<void(llvm::StringRef)> staticPrint; // null: to stdout

  // Of everything but the host's answers.
  std::string key() const;
};

struct CompiledCode {
  std::string object; // ELF
  std::string symbol;
  KernelMetadata metadata;
  ArgumentAccess access;
};

// Receives every stage in turn ("tile", "cpu", "llvm", "asm"): its name and a function that writes its text.
using StageSink = std::function<void(const std::string &stage, const std::function<std::string()> &text)>;

// Throws CompileError; a crash of the compiler becomes one too (of kind Internal).
CompiledCode compileKernel(const CompileRequest &request, Host &host, const StageSink &onStage = nullptr);

// The CPU that code is generated for with these options: "znver4 +avx512f,...".
std::string targetDescription(const CompileOptions &options);
// Why code compiled with these options cannot run on this machine; empty when it can. The CPU must be one that LLVM
// knows.
std::string whyNotHere(const CompileOptions &options);

} // namespace nacre
