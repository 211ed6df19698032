// See Libraries.h.
#include "compiler/targets/cpu/Libraries.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include <dlfcn.h>
#include <map>

using namespace nacre;
using namespace nacre::cpu;

[[noreturn]] static void fail(const ExternalUse &use, const std::string &message) {
  Diagnostic diagnostic = use.place;
  diagnostic.kind = Diagnostic::Kind::Value;
  diagnostic.message = message;
  throw CompileError(std::move(diagnostic));
}

static std::shared_ptr<const ExternalLibrary> libraryOf(const ExternalUse &use) {
  auto library = ExternalLibrary::find(use.function.library);
  if (!library)
    fail(use, llvm::toString(library.takeError()));
  if ((*library)->digest != use.function.digest)
    fail(use, "`" + use.function.library + "` has changed while the kernel was compiled");
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
  // What it was compiled for: the kernel's own CPU is meant now.
  for (llvm::Function &function : *module)
    for (const char *attribute : {"target-cpu", "target-features", "tune-cpu", "prefer-vector-width",
                                  "min-legal-vector-width", "stack-protector-buffer-size"})
      function.removeFnAttr(attribute);
  return module;
}

std::vector<ExternalFunction> nacre::cpu::linkLibraries(llvm::Module &module, llvm::ArrayRef<ExternalUse> uses) {
  std::vector<ExternalFunction> left;
  std::map<std::string, std::vector<const ExternalUse *>> byDigest;
  for (const ExternalUse &use : uses)
    byDigest[use.function.digest].push_back(&use);
  for (const auto &[digest, functions] : byDigest) {
    std::shared_ptr<const ExternalLibrary> library = libraryOf(*functions.front());
    if (library->kind != ExternalLibrary::Kind::IR) {
      for (const ExternalUse *use : functions)
        left.push_back(use->function);
      continue;
    }
    llvm::StringSet<> known;
    for (const llvm::Function &function : module)
      known.insert(function.getName());
    std::unique_ptr<llvm::Module> text = readModule(*library, functions, module.getContext());
    text->setTargetTriple(module.getTargetTriple());
    text->setDataLayout(module.getDataLayout());
    if (llvm::Linker::linkModules(module, std::move(text), llvm::Linker::Flags::LinkOnlyNeeded))
      fail(*functions.front(), "`" + library->path + "` cannot be linked into the kernel");
    for (const ExternalUse *use : functions)
      if (llvm::Function *function = module.getFunction(use->function.linkName()))
        function->setLinkage(llvm::GlobalValue::InternalLinkage);
    for (const llvm::GlobalValue &value : module.global_values()) {
      bool isIntrinsic = llvm::isa<llvm::Function>(value) && llvm::cast<llvm::Function>(value).isIntrinsic();
      if (!value.isDeclaration() || isIntrinsic || value.use_empty() || known.contains(value.getName()))
        continue;
      if (!dlsym(RTLD_DEFAULT, value.getName().str().c_str()))
        fail(*functions.front(),
             "`" + library->path + "` needs `" + value.getName().str() + "`, which neither it nor this process has");
    }
  }
  return left;
}
