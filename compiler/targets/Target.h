// A target: what tile IR is compiled for. The rest of the project knows targets by this interface alone.
//
// A target brings its pipeline, a sequence of named stages from "tile" to its binary, and says what its kernels depend
// on besides their source. It compiles also where nothing can run what it compiles: devices are runtime/Device.h's.
// What is the same for all stands beside this header: running passes and telling of their errors (PassRunner.h), stages
// as text (StageText.h), LLVM's own errors (LLVMErrors.h).
//
// A new target is a folder here, a class that derives from Target, and a line in Target.cpp.
#pragma once

#include "compiler/language/meaning/AssemblyNotation.h"
#include "compiler/language/meaning/ExternalFunction.h"
#include "compiler/targets/Disassembly.h"
#include "compiler/targets/KernelMetadata.h"
#include "compiler/targets/LaunchOptions.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class Module;
}
namespace mlir {
class DialectRegistry;
class ModuleOp;
} // namespace mlir

namespace nacre {

// One stage of a compile, and the name that users of the language know it by: "tile" is "ttir".
struct StageName {
  const char *name, *alias;
};

// The text of a stage, and the file it stands in.
struct StageText {
  std::string text, file;
};

// What is asked of a target, besides the kernel. Part of the cache key as far as the target says (Target::description).
struct TargetOptions {
  std::string architecture; // as the target names its machines ("znver4"); empty: this machine's
  std::string features;     // added and taken away: "+avx512f,-avx2"
  bool fpFusion = true;     // contract a*b+c
  bool lineInfo = true;
  bool debug = false;         // device_assert is live
  bool checkAccesses = false; // accesses of memory are checked against what the launch knows of it
  // What the kernel tells whoever watches its launches (runtime/Events.h): its accesses; integer arithmetic that can go
  // wrong; the tiles that its operations give. Only the host's kernels do.
  bool watchAccesses = false, watchArithmetic = false, watchValues = false;
  // Accesses are checked by LLVM's AddressSanitizer, whose runtime the process must have been started with. Only the
  // host's kernels are.
  bool llvmAddressChecks = false;
  bool isWatched() const { return watchAccesses || watchArithmetic || watchValues; }
  // Code may rely on what every launch is checked for (KernelMetadata::launchCheck): whoever launches it must have code
  // that does not for launches that do not pass.
  bool checksLaunches = false;
  // Of targets that have their code assembled by a program of others. Not assembled, it is as the device's driver or a
  // simulator takes it.
  bool assembles = true;
  bool mustAssemble = false;                                   // where that cannot be done, it is an error
  std::string assembler, assemblerOptions, toolkit, libdevice; // paths; empty: they are looked for
};

// Those who watch a compile and take part in it. No part of any key.
using StageTexts = std::map<std::string, std::string>; // by the stage's name
using KeptStages = std::map<std::string, std::string>; // the same in the forms of KeptStages.h

struct CompileObserver {
  bool verify = false;         // the IR after every pass and at every stage
  bool dumpPasses = false;     // print the IR after every pass that changed it
  bool dumpLLVMPasses = false; // the same for LLVM's passes
  std::string dumpPath;        // the file to which both are appended; empty: stderr
  std::string reproducerPath;  // where a failing pass leaves its input; empty: nowhere
  // A stage of MLIR: the lines of the machine code are those of that stage's text, which is written to the file; empty:
  // those of the kernel.
  std::string linesOfStage, linesFile;
  // Called after each stage with its name and a function that gives its text; null: none wanted.
  std::function<void(const std::string &stage, const std::function<std::string()> &text)> onStage;
  // Asked after each stage for what is to take its place; none: nothing. Null: nobody is asked.
  std::function<std::optional<StageText>(const std::string &stage, const std::function<std::string()> &text)>
      replaceStage;
  // Given each stage in the form that is kept (KeptStages.h); null: none is kept.
  std::function<void(const std::string &stage, std::string form)> keepStage;

  void show(const char *stage, const std::function<std::string()> &text) const {
    if (onStage)
      onStage(stage, text);
  }
  std::optional<StageText> replacement(const char *stage, const std::function<std::string()> &text) const {
    return replaceStage ? replaceStage(stage, text) : std::nullopt;
  }
  void keep(const char *stage, llvm::function_ref<std::string()> form) const {
    if (keepStage)
      keepStage(stage, form());
  }
};

struct Artifact {
  std::string binary;                      // what the target's device loads
  std::string symbol;                      // the kernel in it
  std::vector<ExternalFunction> externals; // what it calls of libraries that are not part of it
  KernelMetadata metadata;
};

class Target {
public:
  virtual ~Target() = default;
  virtual llvm::StringRef name() const = 0;  // "cpu": in options, keys and messages
  virtual llvm::StringRef title() const = 0; // "CPU": in sentences
  // In the order of the pipeline, but for the binary.
  virtual llvm::ArrayRef<StageName> stages() const = 0;
  // Those of them that are MLIR, and so can lend their lines to the machine code.
  virtual llvm::ArrayRef<llvm::StringRef> moduleStages() const = 0;
  virtual llvm::StringRef binaryName() const = 0; // of the last stage: "obj"
  // The options of a launch that change what it compiles to, besides those that mean the same to all (debug,
  // sanitize_overflow, enable_fp_fusion and what takes a stage's or library's place). The others make no second kernel.
  // It finds them on the module (KernelAttributes.h).
  virtual llvm::ArrayRef<TargetOption> options() const { return {}; }
  // Threads of a program that run in step on an architecture (TargetOptions::architecture); the one source of that number.
  virtual int warpSize(llvm::StringRef) const { return 1; }
  virtual AssemblyNotation assembly() const { return {}; } // of inline assembly
  // What kernels ask for as tl.target_info.current_target(): "cpu", "cuda:90".
  virtual std::string languageName(const TargetOptions &) const { return name().str(); }
  virtual void registerDialects(mlir::DialectRegistry &registry) const = 0;
  virtual void registerPasses() const {} // its own ones, as flags of nacre-opt
  // The machine that the options mean, in full: what code depends on besides the kernel.
  virtual std::string description(const TargetOptions &options) const = 0;
  // `module` is tile IR with one function that has the attribute tile.kernel; it is consumed. Throws CompileError.
  virtual Artifact compile(mlir::ModuleOp module, const TargetOptions &options,
                           const CompileObserver &observer) const = 0;
  // The last stage, where it is not kept (KeptStages.h): what the code generator writes of the LLVM IR before it.
  virtual std::string generatedText(llvm::Module &, const TargetOptions &) const { return ""; }
  // The functions of a binary as text, or the one named `symbol` when that is not empty. Returns what is wrong, or an
  // empty text.
  virtual std::string disassemble(llvm::StringRef, llvm::StringRef, std::vector<DisassembledFunction> &) const {
    return title().str() + " code cannot be disassembled";
  }

  // Our name of the stage that either name means; empty when there is none.
  std::string stageNamed(llvm::StringRef name) const;
};

// Every target of this build, the default one first.
llvm::ArrayRef<const Target *> targets();
// Null when there is none of that name.
const Target *findTarget(llvm::StringRef name);

} // namespace nacre
