// A compiled kernel in this process: its code, what it was made from, and where it is loaded.
#pragma once

#include "compiler/analysis/LaunchCheck.h"
#include "compiler/support/ForkSafety.h"
#include "runtime/Device.h"
#include "runtime/cache/DiskCache.h"
#include "runtime/cache/EmbedderRecord.h"
#include <map>

namespace nacre {

class Kernel {
public:
  Kernel(std::string hash, CompiledCode code);
  ~Kernel();

  const std::string hash; // names the artifact; equal for equal code
  const CompiledCode code;
  // The code on a device, loaded when it is asked for first. Throws CompileError or DeviceError when it does not load.
  LoadedKernel &on(Device &device) const {
    const Load *known = first.load(std::memory_order_acquire);
    return known && known->device == &device ? *known->kernel : load(device);
  }

  // The kernel that runs such a launch: this one where the launch passes its check (KernelMetadata::launchCheck), else
  // the conservative version of the kernel, compiled once. Throws CompileError; std::runtime_error where it is
  // not known what it was compiled from.
  const Kernel &forLaunch(const uint32_t grid[3], llvm::ArrayRef<uint64_t> arguments) const {
    return !needsCheck || passes(grid, arguments) ? *this : general();
  }

  // What it was compiled from, so that it can be compiled for other launches later. `record` must have its embedder
  // detached. The compile's stages are in `store` (null: there is none), or they are given (StageEntry.h).
  void setOrigin(CompileRequest request, std::shared_ptr<RecordingEmbedder> record,
                 std::shared_ptr<ArtifactStore> store, std::string stages = "");
  // Name to text ("tile", "llvm", ...). Compiled once more only where what was kept of them is gone or damaged. Empty
  // without an origin.
  const StageTexts &stages() const;

private:
  struct Load {
    Device *device;
    std::unique_ptr<LoadedKernel> kernel;
  };
  LoadedKernel &load(Device &device) const;
  bool passes(const uint32_t grid[3], llvm::ArrayRef<uint64_t> arguments) const;
  const Kernel &general() const;

  const bool needsCheck;
  const std::optional<LaunchCheck> check; // none: nothing passes
  const llvm::SmallVector<uint32_t, 0> checkedArguments;
  const uint64_t number; // of this kernel among all that the process has made
  mutable RenewedLock loadLock;
  mutable std::map<Device *, Load> loads;
  mutable std::atomic<const Load *> first = nullptr;
  struct Origin {
    CompileRequest request;
    std::shared_ptr<RecordingEmbedder> record;
    std::shared_ptr<ArtifactStore> store; // or null
    std::string stages;                   // or empty: in the store, there
    std::string key;
    const char *kind = "stages";
  };
  mutable RenewedLock stageLock;
  std::unique_ptr<Origin> origin;
  mutable StageTexts stageTexts;
  mutable std::unique_ptr<Kernel> generalKernel; // the conservative version, once it was needed
};

} // namespace nacre
