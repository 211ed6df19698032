// The stages of a kernel as an entry of the cache, beside the kernel's own: compressed, read when somebody asks for
// them.
#pragma once

#include "compiler/targets/Target.h"

namespace nacre {

std::string encodeStages(const KeptStages &stages);
// Empty when it is not what encodeStages wrote.
KeptStages decodeStages(llvm::StringRef bytes);

} // namespace nacre
