// The CPU target: tile IR to an object file for the host, or for a named CPU; and that object file into this process.
// Its whole pipeline is Pipeline.cpp.
#pragma once

#include "compiler/passes/cpu/KernelABI.h"
#include "compiler/targets/Target.h"
#include <memory>

namespace nacre::cpu {

// Its architectures are LLVM's CPUs ("znver4", "skylake-avx512"), its binary an ELF relocatable object.
const Target &target();

std::string hostCpu();
std::string hostFeatures();
// Why code compiled with these options cannot run on this machine; empty when it can. The architecture must be one that
// the target knows.
std::string whyNotOnHost(const TargetOptions &options);

// Kernels loaded from now on are told to Linux' perf.
void announceToPerf();

// Loads object code into this process and finds its symbol; the code lives as long as the returned handle.
class LoadedCode {
public:
  virtual ~LoadedCode() = default;
  KernelFunction function = nullptr;
  uintptr_t codeBegin = 0, codeEnd = 0; // all of the kernel's own instructions
};
// `externals` are found in their libraries, which stay loaded as long as the process.
std::unique_ptr<LoadedCode> load(const std::string &object, const std::string &symbol,
                                 llvm::ArrayRef<ExternalFunction> externals = {});

} // namespace nacre::cpu
