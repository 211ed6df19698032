// See Libraries.h.
#include "compiler/targets/cuda/Libraries.h"
#include "llvm/ADT/StringSet.h"

using namespace nacre;

void nacre::cuda::linkLibraries(llvm::Module &module, llvm::ArrayRef<ExternalUse> uses) {
  for (const LibraryUse &use : byLibrary(uses)) {
    if (use.library->kind != ExternalLibrary::Kind::IR)
      failUse(*use.functions.front(),
              "`" + use.library->path + "` holds machine code of this computer, which a GPU cannot run",
              "give the library as LLVM bitcode for nvptx64 (clang --cuda-device-only -emit-llvm -c)");
    linkIR(module, use);
  }
  // What a GPU's runtime itself has; everything else must have been linked.
  static const llvm::StringSet<> provided = {"vprintf", "__assertfail", "malloc", "free", "__nvvm_reflect"};
  for (const llvm::Function &function : module)
    if (function.isDeclaration() && !function.isIntrinsic() && !function.use_empty() &&
        !provided.contains(function.getName()))
      failUse(uses.front(), "`" + uses.front().function.library + "` needs `" + function.getName().str() +
                                "`, which neither it nor the GPU has");
}
