// See LibraryMachine.h.
#include "compiler/language/meaning/LibraryMachine.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/TargetParser/Triple.h"

namespace nacre {

constexpr llvm::StringLiteral hostTriple = "x86_64-unknown-linux-gnu", cudaTriple = "nvptx64-nvidia-cuda";

std::string problemWithMachine(const ExternalLibrary &library, llvm::StringRef targetName) {
  if (library.kind != ExternalLibrary::Kind::IR)
    return "";
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> module = llvm::parseIR(library.content(), error, context);
  if (!module)
    return ""; // what is wrong with it is said by whoever looks for a function in it
  bool isForGpu = targetName.starts_with("cuda");
  llvm::Triple target(isForGpu ? cudaTriple : hostTriple), triple = module->getTargetTriple();
  // NVIDIA's own libraries name no system, or another one.
  if (!triple.empty() && (triple.getArch() != target.getArch() || (!isForGpu && triple.getOS() != target.getOS())))
    return "`" + library.path + "` is made for " + triple.str() + ", and this kernel for " + target.str();
  std::string given = module->getDataLayoutStr(), layout = target.computeDataLayout();
  // Compilers of other versions say more or less of a GPU's; what they say of pointers must agree.
  bool fits = given.empty() || given == layout ||
              (isForGpu && module->getDataLayout().isLittleEndian() &&
               module->getDataLayout().getPointerSizeInBits(0) == llvm::DataLayout(layout).getPointerSizeInBits(0));
  return fits ? ""
              : "`" + library.path + "` lays its data out in another way than this machine: " + given + ", not " +
                    layout;
}

} // namespace nacre
