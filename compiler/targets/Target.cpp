// The targets of this build. See Target.h.
#include "compiler/targets/Target.h"
#include "compiler/targets/amd/AmdTarget.h"
#include "compiler/targets/cpu/CpuTarget.h"
#include "compiler/targets/cuda/CudaTarget.h"

using namespace nacre;

llvm::ArrayRef<const Target *> nacre::targets() {
  static const Target *const all[] = {&cpu::target(), &cuda::target(), &amd::target()};
  return all;
}

const Target *nacre::findTarget(llvm::StringRef name) {
  for (const Target *target : targets())
    if (target->name() == name)
      return target;
  return nullptr;
}

std::string Target::stageNamed(llvm::StringRef name) const {
  for (const StageName &stage : stages())
    if (name == stage.name || name == stage.alias)
      return stage.name;
  return "";
}
