// See KeptStages.h.
#include "compiler/targets/KeptStages.h"
#include "compiler/targets/LLVMErrors.h"
#include "compiler/targets/StageText.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"

using namespace mlir;
using namespace nacre;

std::string nacre::keptForm(ModuleOp module) {
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  return succeeded(writeBytecodeToFile(module, stream)) ? bytes : printed(module);
}

std::string nacre::keptForm(const llvm::Module &module) {
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  // The order of uses too: the code generator may go by it, and its text must be that of the binary.
  llvm::WriteBitcodeToFile(module, stream, /*ShouldPreserveUseListOrder=*/true);
  return bytes;
}

// None when it cannot be read.
static std::optional<std::string> textOfModule(llvm::StringRef bytes, const DialectRegistry &dialects) {
  MLIRContext context(dialects, MLIRContext::Threading::DISABLED);
  ScopedDiagnosticHandler silent(&context, [](mlir::Diagnostic &) { return success(); });
  Block block;
  if (failed(readBytecodeFile(llvm::MemoryBufferRef(bytes, "stage"), &block, ParserConfig(&context))) || block.empty())
    return std::nullopt;
  OwningOpRef<ModuleOp> module = dyn_cast<ModuleOp>(block.front());
  if (!module)
    return std::nullopt;
  module->getOperation()->remove(); // it stands alone when it is shown
  return printed(*module);
}

static std::unique_ptr<llvm::Module> readBitcode(llvm::StringRef bytes, llvm::LLVMContext &context) {
  llvm::Expected<std::unique_ptr<llvm::Module>> module =
      llvm::parseBitcodeFile(llvm::MemoryBufferRef(bytes, "stage"), context);
  if (!module) {
    llvm::consumeError(module.takeError());
    return nullptr;
  }
  (*module)->setModuleIdentifier((*module)->getSourceFileName());
  return std::move(*module);
}

StageTexts nacre::textsOfKept(const Target &target, const TargetOptions &options, const KeptStages &kept,
                              const DialectRegistry &dialects) {
  StageTexts texts;
  for (const auto &[stage, bytes] : kept) {
    llvm::StringRef content = bytes;
    if (isBytecode(llvm::MemoryBufferRef(content, stage))) {
      std::optional<std::string> text = textOfModule(content, dialects);
      if (!text)
        return {};
      texts[stage] = std::move(*text);
    } else if (content.starts_with("BC\xC0\xDE")) {
      llvm::LLVMContext context;
      LLVMErrors errors(context);
      std::unique_ptr<llvm::Module> module = readBitcode(content, context);
      if (!module)
        return {};
      texts[stage] = printed(*module);
      std::string generated = target.stages().back().name;
      if (!kept.count(generated))
        texts[generated] = target.generatedText(*module, options);
      errors.throwIfAny();
    } else {
      texts[stage] = bytes;
    }
  }
  return texts;
}
