// See Libraries.h.
#include "compiler/targets/cuda/Libraries.h"
#include "compiler/ir/tile/Tile.h"
#include "compiler/targets/PassRunner.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include <map>

using namespace nacre;
using namespace nacre::cuda;

[[noreturn]] static void fail(const ExternalUse &use, const std::string &message, const std::string &hint = "") {
  Diagnostic diagnostic = use.place;
  diagnostic.kind = Diagnostic::Kind::Value;
  diagnostic.message = message;
  diagnostic.hint = hint;
  throw CompileError(std::move(diagnostic));
}

std::vector<ExternalUse> nacre::cuda::externalUses(mlir::ModuleOp module) {
  std::vector<ExternalUse> uses;
  module.walk([&](tile::ExternalCallOp op) {
    ExternalUse use{{op.getLibrary().str(), op.getDigest().str(), op.getSymbol().str()}, {}};
    setPlace(use.place, op.getLoc());
    bool isKnown = llvm::any_of(
        uses, [&](const ExternalUse &other) { return other.function.linkName() == use.function.linkName(); });
    if (!isKnown)
      uses.push_back(std::move(use));
  });
  return uses;
}

static std::shared_ptr<const ExternalLibrary> libraryOf(const ExternalUse &use) {
  auto library = ExternalLibrary::find(use.function.library);
  if (!library)
    fail(use, llvm::toString(library.takeError()));
  if ((*library)->digest != use.function.digest)
    fail(use, "`" + use.function.library + "` has changed while the kernel was compiled");
  if ((*library)->kind != ExternalLibrary::Kind::IR)
    fail(use, "`" + use.function.library + "` holds machine code of this computer, which a GPU cannot run",
         "give the library as LLVM bitcode for nvptx64 (clang --cuda-device-only -emit-llvm -c)");
  return *library;
}

// The library's text as a module in which only the used functions can be seen, under their link names.
static std::unique_ptr<llvm::Module> readModule(const ExternalLibrary &library,
                                                llvm::ArrayRef<const ExternalUse *> uses, llvm::LLVMContext &context) {
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> module = llvm::parseIR(library.content(), error, context);
  if (!module)
    fail(*uses.front(), "`" + library.path + "` cannot be read: " + error.getMessage().str());
  llvm::StringSet<> kept;
  for (const ExternalUse *use : uses)
    if (llvm::Function *function = module->getFunction(use->function.symbol)) {
      function->setName(use->function.linkName());
      kept.insert(use->function.linkName());
    }
  llvm::internalizeModule(*module, [&](const llvm::GlobalValue &value) { return kept.contains(value.getName()); });
  for (llvm::Function &function : *module) // the kernel's own GPU is meant now
    for (const char *attribute : {"target-cpu", "target-features", "tune-cpu"})
      function.removeFnAttr(attribute);
  return module;
}

void nacre::cuda::linkLibraries(llvm::Module &module, llvm::ArrayRef<ExternalUse> uses) {
  std::map<std::string, std::vector<const ExternalUse *>> byDigest;
  for (const ExternalUse &use : uses)
    byDigest[use.function.digest].push_back(&use);
  for (const auto &[digest, functions] : byDigest) {
    std::shared_ptr<const ExternalLibrary> library = libraryOf(*functions.front());
    std::unique_ptr<llvm::Module> text = readModule(*library, functions, module.getContext());
    text->setTargetTriple(module.getTargetTriple());
    text->setDataLayout(module.getDataLayout());
    if (llvm::Linker::linkModules(module, std::move(text), llvm::Linker::Flags::LinkOnlyNeeded))
      fail(*functions.front(), "`" + library->path + "` cannot be linked into the kernel");
    for (const ExternalUse *use : functions)
      if (llvm::Function *function = module.getFunction(use->function.linkName()))
        function->setLinkage(llvm::GlobalValue::InternalLinkage);
  }
  // What a GPU's runtime itself has; everything else must have been linked.
  static const llvm::StringSet<> provided = {"vprintf", "__assertfail", "malloc", "free", "__nvvm_reflect"};
  for (const llvm::Function &function : module)
    if (function.isDeclaration() && !function.isIntrinsic() && !function.use_empty() &&
        !provided.contains(function.getName()))
      fail(uses.front(), "`" + uses.front().function.library + "` needs `" + function.getName().str() +
                             "`, which neither it nor the GPU has");
}
