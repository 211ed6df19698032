// Drives the compiler: a request for one specialization of a kernel becomes object code. Of the runtime's headers none
// shows MLIR.
#pragma once

#include "compiler/analysis/ArgumentAccess.h"
#include "compiler/frontend/Frontend.h"
#include "compiler/targets/Target.h"
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace nacre {

// What a compile tells the person who watches it. No part of any key.
struct CompileReports {
  bool verify = false;          // the IR after every pass
  std::string dumpPasses = "0"; // a switch, or the name of the kernel whose passes are shown
  bool dumpLLVMPasses = false;
  std::string dumpPath; // the file to which both are appended; empty: stderr
  std::string reproducerPath;
};

// What the user may ask of a compile. Options that mean nothing to the target are not here: they make no second kernel.
struct CompileOptions : TargetOptions {
  const Target *target = targets().front();
  bool sanitizeOverflow = false;
  bool keepsMarks = false;           // of scopes, which a profiler reads
  tile::LaunchOptions launch;        // those that the target compiles by; they stand on the module
  std::string knobs;                 // what the environment says that belongs to the cache key
  std::string defaultInputPrecision; // of a dot that names none; empty: the language's
  std::map<std::string, std::string> externLibraries; // files by the names that extern_elementwise has for them
  std::string linesOfStage; // the stage whose text gives the machine code its lines; empty: the kernel's
  CompileReports reports;
};

// The options the knobs ask for, but for the machine: see compileOptionsFor of Device.h.
CompileOptions defaultCompileOptions(const Target &target);

// Adds what a launch says: what every target takes, and what this one compiles by. Throws std::invalid_argument, naming
// the option, on a value that the target does not take. Text and libraries are the caller's to add.
void applyLaunchOptions(CompileOptions &options, const LaunchOptionValues &values);

struct CompileRequest {
  FunctionSource kernel;
  std::vector<ArgumentSpec> arguments;
  CompileOptions options;
  std::function<void(llvm::StringRef)> staticPrint; // null: to stdout
  bool isTileIR = false;                            // the kernel's text is tile IR; there are no `arguments`
  std::map<std::string, StageText> stages;          // what the user put in the place of stages, by name

  // Of everything but the embedder's answers.
  std::string key() const;
  // The same without the compiler's build and the machine: what the user wrote, and asked for at the launch.
  std::string sourceKey() const;
};

// How long the steps of a compile took, in microseconds.
struct CompileTimes {
  int64_t frontEnd = 0;
  std::vector<std::pair<std::string, int64_t>> stages;
};

struct CompiledCode {
  const Target *target = targets().front(); // that made it
  std::string object;                       // its binary
  std::string symbol;
  KernelMetadata metadata;
  ArgumentAccess access;
  std::vector<ExternalFunction> externals; // what it calls of libraries that are loaded beside it
  CompileTimes times;                      // of the compile that made it; empty when it was read
};

// Receives every stage of the target in turn: its name and a function that writes its text.
using StageSink = std::function<void(const std::string &stage, const std::function<std::string()> &text)>;
// Gives what is to take a stage's place, or none.
using StageReplacement =
    std::function<std::optional<StageText>(const std::string &stage, const std::function<std::string()> &text)>;

// Those who take part in a compile. Each may be null.
struct CompileWatchers {
  StageSink onStage;
  StageReplacement replace;
  // Where to put a file about this compile, named after its contents' kind ("tile"). Asked when the front end is done.
  std::function<std::string(const std::string &kind)> fileFor;
  // Given each stage in the form that is kept (targets/KeptStages.h).
  std::function<void(const std::string &stage, std::string form)> keep;
};

// Throws CompileError; a crash of the compiler becomes one too (of kind Internal).
CompiledCode compileKernel(const CompileRequest &request, Embedder &embedder, const CompileWatchers &watchers = {});

// The texts of the stages that a compile of the request kept. Empty when they are not what a compile of this build
// kept. Throws CompileError as compileKernel does.
StageTexts textsOfKept(const CompileRequest &request, const KeptStages &kept);

} // namespace nacre
