// A compiled kernel that is loaded into this process and can be launched.
#pragma once

#include "compiler/passes/cpu/KernelABI.h"
#include "runtime/devices/cpu/CompiledCall.h"
#include "runtime/compile/Compiler.h"
#include "runtime/cache/HostRecord.h"
#include <atomic>
#include <map>
#include <memory>
#include <mutex>

namespace nacre {

namespace cpu {
class LoadedKernel;
}

class Kernel {
public:
  Kernel(std::string hash, CompiledCode code);
  ~Kernel();

  const std::string hash; // names the artifact; equal for equal code
  const CompiledCode code;
  // The code, loaded when it is asked for first. Throws CompileError when it does not load.
  KernelFunction function() const {
    KernelFunction known = entry.load(std::memory_order_acquire);
    return known ? known : load();
  }

  // Where the code lies, once it is loaded.
  const CodeRange &codeRange() const { return range; }

  // How one program of it took lately, in nanoseconds; 0: not known. Decides whether a small grid is worth waking
  // others for.
  mutable std::atomic<float> programNanoseconds = 0;

  // What it was compiled from, so that a stage's text can be had later. `record` must have its host detached.
  void setOrigin(CompileRequest request, std::shared_ptr<RecordingHost> record);
  // Name to text ("tile", "cpu", "llvm", "asm"), made by compiling once more on first use. Empty without an origin.
  const std::map<std::string, std::string> &stages() const;

private:
  KernelFunction load() const;

  mutable std::mutex loadLock;
  mutable std::unique_ptr<cpu::LoadedKernel> loaded;
  mutable std::atomic<KernelFunction> entry = nullptr;
  mutable CodeRange range;
  struct Origin {
    CompileRequest request;
    std::shared_ptr<RecordingHost> record;
  };
  mutable std::mutex stageLock;
  std::unique_ptr<Origin> origin;
  mutable std::map<std::string, std::string> stageTexts;
};

// A kernel as bytes: what the disk holds and what is sent to another process.
std::string encodeKernel(const CompiledCode &code);
// None when it is not what encodeKernel wrote.
std::optional<CompiledCode> decodeKernel(llvm::StringRef bytes);

} // namespace nacre
