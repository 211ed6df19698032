// See Libraries.h.
#include "compiler/targets/cuda/Libraries.h"
#include "compiler/targets/cuda/DeviceFunctions.h"
#include "compiler/targets/cuda/Toolkit.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/SourceMgr.h"

using namespace nacre;

// A function that is called and is nowhere; null: there is none. `prefix`: of its name.
static const llvm::Function *firstMissing(const llvm::Module &module, llvm::StringRef prefix) {
  // What a GPU's runtime itself has.
  static const llvm::StringSet<> provided = {cuda::printFunction, cuda::assertFunction, "malloc", "free",
                                             "__nvvm_reflect"};
  for (const llvm::Function &function : module)
    if (function.isDeclaration() && !function.isIntrinsic() && !function.use_empty() &&
        function.getName().starts_with(prefix) && !provided.contains(function.getName()))
      return &function;
  return nullptr;
}

// The file of libdevice; empty: there is none.
static std::string findLibdevice(const TargetOptions &options) {
  if (!options.libdevice.empty())
    return options.libdevice;
  return cuda::findInToolkit(options, {"nvvm", "libdevice", "libdevice.10.bc"}).value_or("");
}

std::string nacre::cuda::libdeviceDigest(const TargetOptions &options) {
  std::string path = findLibdevice(options);
  if (path.empty())
    return "";
  auto library = ExternalLibrary::find(path);
  if (!library) { // whoever needs it is told
    llvm::consumeError(library.takeError());
    return "";
  }
  return (*library)->digest;
}

static void linkLibdevice(llvm::Module &module, const ExternalUse &use, llvm::StringRef needed,
                          const TargetOptions &options) {
  std::string path = findLibdevice(options);
  if (path.empty())
    failUse(use, "`" + use.function.library + "` needs `" + needed.str() + "` of NVIDIA's libdevice, which is not here",
            "name the file libdevice.10.bc of the CUDA toolkit with TRITON_LIBDEVICE_PATH, or the toolkit with "
            "CUDA_HOME");
  auto file = ExternalLibrary::find(path);
  if (!file)
    failUse(use, "libdevice, `" + path + "`, cannot be read: " + llvm::toString(file.takeError()));
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> library = llvm::parseIR((*file)->content(), error, module.getContext());
  if (!library)
    failUse(use, "libdevice, `" + path + "`, cannot be read: " + error.getMessage().str());
  library->setTargetTriple(module.getTargetTriple());
  library->setDataLayout(module.getDataLayout());
  llvm::SmallVector<std::string> names;
  for (const llvm::Function &function : *library)
    if (!function.isDeclaration())
      names.push_back(function.getName().str());
  if (llvm::Linker::linkModules(module, std::move(library), llvm::Linker::Flags::LinkOnlyNeeded))
    failUse(use, "libdevice, `" + path + "`, cannot be linked into the kernel");
  for (const std::string &name : names)
    if (llvm::Function *function = module.getFunction(name); function && !function->isDeclaration())
      function->setLinkage(llvm::GlobalValue::InternalLinkage);
}

void nacre::cuda::linkLibraries(llvm::Module &module, llvm::ArrayRef<ExternalUse> uses, const TargetOptions &options) {
  for (const LibraryUse &use : byLibrary(uses)) {
    if (use.library->kind != ExternalLibrary::Kind::IR)
      failUse(*use.functions.front(),
              "`" + use.library->path + "` holds machine code of this computer, which a GPU cannot run",
              "give the library as LLVM bitcode for nvptx64 (clang --cuda-device-only -emit-llvm -c)");
    linkIR(module, use);
  }
  if (const llvm::Function *missing = firstMissing(module, "__nv_"))
    linkLibdevice(module, uses.front(), missing->getName(), options);
  if (const llvm::Function *missing = firstMissing(module, ""))
    failUse(uses.front(), "`" + uses.front().function.library + "` needs `" + missing->getName().str() +
                              "`, which neither it nor the GPU has");
}
