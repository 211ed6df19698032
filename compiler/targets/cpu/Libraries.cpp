// See Libraries.h.
#include "compiler/targets/cpu/Libraries.h"
#include "llvm/ADT/StringSet.h"
#include <dlfcn.h>

using namespace nacre;

std::vector<ExternalFunction> nacre::cpu::linkLibraries(llvm::Module &module, llvm::ArrayRef<ExternalUse> uses) {
  std::vector<ExternalFunction> left;
  for (const LibraryUse &use : byLibrary(uses)) {
    if (use.library->kind != ExternalLibrary::Kind::IR) {
      for (const ExternalUse *called : use.functions)
        left.push_back(called->function);
      continue;
    }
    llvm::StringSet<> known;
    for (const llvm::Function &function : module)
      known.insert(function.getName());
    linkIR(module, use);
    for (const llvm::GlobalValue &value : module.global_values()) {
      bool isIntrinsic = llvm::isa<llvm::Function>(value) && llvm::cast<llvm::Function>(value).isIntrinsic();
      if (!value.isDeclaration() || isIntrinsic || value.use_empty() || known.contains(value.getName()))
        continue;
      if (!dlsym(RTLD_DEFAULT, value.getName().str().c_str()))
        failUse(*use.functions.front(), "`" + use.library->path + "` needs `" + value.getName().str() +
                                            "`, which neither it nor this process has");
    }
  }
  return left;
}
