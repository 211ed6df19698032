// Files of NVIDIA's toolkit, wherever it is: nothing of it is needed until a kernel asks for it.
#pragma once

#include "compiler/targets/Target.h"
#include <optional>

namespace nacre::cuda {

// A file below the toolkit's folder: that of the options, /usr/local/cuda, those that pip makes beside this library.
std::optional<std::string> findInToolkit(const TargetOptions &options, llvm::ArrayRef<llvm::StringRef> path);

} // namespace nacre::cuda
