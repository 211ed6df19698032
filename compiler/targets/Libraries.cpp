// See Libraries.h.
#include "compiler/targets/Libraries.h"
#include "compiler/ir/tile/Tile.h"
#include "compiler/targets/PassRunner.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include <map>

using namespace nacre;

void nacre::failUse(const ExternalUse &use, const std::string &message, const std::string &hint) {
  Diagnostic diagnostic = use.place;
  diagnostic.kind = Diagnostic::Kind::Value;
  diagnostic.message = message;
  diagnostic.hint = hint;
  throw CompileError(std::move(diagnostic));
}

std::vector<ExternalUse> nacre::externalUses(mlir::ModuleOp module) {
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
    failUse(use, llvm::toString(library.takeError()));
  if ((*library)->digest != use.function.digest)
    failUse(use, "`" + use.function.library + "` has changed while the kernel was compiled");
  return *library;
}

std::vector<LibraryUse> nacre::byLibrary(llvm::ArrayRef<ExternalUse> uses) {
  std::map<std::string, std::vector<const ExternalUse *>> byDigest;
  for (const ExternalUse &use : uses)
    byDigest[use.function.digest].push_back(&use);
  std::vector<LibraryUse> libraries;
  for (auto &[digest, functions] : byDigest)
    libraries.push_back({libraryOf(*functions.front()), std::move(functions)});
  return libraries;
}

// The library's text as a module in which only the used functions can be seen, under their link names.
static std::unique_ptr<llvm::Module> readModule(const LibraryUse &use, llvm::LLVMContext &context) {
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> module = llvm::parseIR(use.library->content(), error, context);
  if (!module)
    failUse(*use.functions.front(), "`" + use.library->path + "` cannot be read: " + error.getMessage().str());
  llvm::StringSet<> kept;
  for (const ExternalUse *called : use.functions)
    if (llvm::Function *function = module->getFunction(called->function.symbol)) {
      function->setName(called->function.linkName());
      kept.insert(called->function.linkName());
    }
  llvm::internalizeModule(*module, [&](const llvm::GlobalValue &value) { return kept.contains(value.getName()); });
  // What it was compiled for: the kernel's own machine is meant now.
  for (llvm::Function &function : *module)
    for (const char *attribute : {"target-cpu", "target-features", "tune-cpu", "prefer-vector-width",
                                  "min-legal-vector-width", "stack-protector-buffer-size"})
      function.removeFnAttr(attribute);
  return module;
}

void nacre::linkIR(llvm::Module &module, const LibraryUse &use) {
  std::unique_ptr<llvm::Module> text = readModule(use, module.getContext());
  text->setTargetTriple(module.getTargetTriple());
  text->setDataLayout(module.getDataLayout());
  if (llvm::Linker::linkModules(module, std::move(text), llvm::Linker::Flags::LinkOnlyNeeded))
    failUse(*use.functions.front(), "`" + use.library->path + "` cannot be linked into the kernel");
  for (const ExternalUse *called : use.functions)
    if (llvm::Function *function = module.getFunction(called->function.linkName()))
      function->setLinkage(llvm::GlobalValue::InternalLinkage);
}
