// LLVM IR to PTX text for one GPU.
#pragma once

#include "compiler/targets/Target.h"
#include "compiler/targets/cuda/Architectures.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/Target/TargetMachine.h"

namespace nacre::cuda {

std::unique_ptr<llvm::TargetMachine> makeTargetMachine(const Architecture &architecture, const TargetOptions &options);
// For launches that may begin before the one before them on their stream has ended (launch_pdl): the kernel waits for
// that before it touches memory, unless it says itself where it waits.
void waitForEarlierKernels(llvm::Function &kernel);
// Optimizes in place by a short list of passes: tiles are scalars already, in the order in which they are to run, so
// that nothing is to be unrolled or vectorized. `callbacks`, when there are any, watch the passes. Functions of
// libraries, if there are any, are inlined.
void optimize(llvm::Module &module, llvm::TargetMachine &machine, llvm::PassInstrumentationCallbacks *callbacks,
              bool hasLibraries);
// `isChecked`: a kernel that checks its accesses, and need not be as fast as another.
std::string emitPtx(llvm::Module &module, llvm::TargetMachine &machine, bool isChecked);

// Whether the kernel or a library that is linked into it may write text. Of PTX, too, that the user put in the place of ours.
bool prints(const llvm::Module &module);
bool prints(llvm::StringRef ptx);

} // namespace nacre::cuda
