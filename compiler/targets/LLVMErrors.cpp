// See LLVMErrors.h.
#include "compiler/targets/LLVMErrors.h"
#include "compiler/targets/PassRunner.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Verifier.h"

using namespace nacre;

// Keeps the first error.
struct LLVMErrors::Handler : llvm::DiagnosticHandler {
  explicit Handler(std::shared_ptr<Reported> error) : error(std::move(error)) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() != llvm::DS_Error || !error->text.empty())
      return true;
    if (auto *text = llvm::dyn_cast<llvm::DiagnosticInfoSrcMgr>(&info)) { // the assembler's, which shows the line
      error->assembly = text->getLocCookie();
      error->text = text->getSMDiag().getMessage().str() + ": " + text->getSMDiag().getLineContents().trim().str();
      return true;
    }
    if (auto *assembly = llvm::dyn_cast<llvm::DiagnosticInfoInlineAsm>(&info)) {
      error->assembly = assembly->getLocCookie();
      error->text = assembly->getMsgStr().str();
      return true;
    }
    llvm::raw_string_ostream stream(error->text);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    return true;
  }
  std::shared_ptr<Reported> error;
};

LLVMErrors::LLVMErrors(llvm::LLVMContext &context) {
  context.setDiagnosticHandler(std::make_unique<Handler>(reported));
}

void LLVMErrors::watchAssembly(mlir::ModuleOp module) {
  module.walk(
      [&](mlir::LLVM::InlineAsmOp op) { places.try_emplace({op.getAsmString(), op.getConstraints()}, op.getLoc()); });
}

void LLVMErrors::mark(llvm::Module &module) const {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      auto *assembly = call ? llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()) : nullptr;
      if (!assembly)
        continue;
      auto found = places.find({assembly->getAsmString(), assembly->getConstraintString()});
      if (found == places.end())
        continue;
      auto *number =
          llvm::ConstantInt::get(llvm::Type::getInt64Ty(module.getContext()), std::distance(places.begin(), found) + 1);
      call->setMetadata("srcloc", llvm::MDNode::get(module.getContext(), llvm::ConstantAsMetadata::get(number)));
    }
}

void LLVMErrors::throwIfAny() const {
  if (reported->text.empty())
    return;
  Diagnostic diagnostic;
  diagnostic.kind = Diagnostic::Kind::Value;
  bool isAssembly = reported->assembly != 0 && reported->assembly <= places.size();
  if (isAssembly)
    setPlace(diagnostic, std::next(places.begin(), static_cast<int64_t>(reported->assembly) - 1)->second);
  diagnostic.message =
      (isAssembly ? "this inline assembly cannot be assembled: " : "LLVM cannot make machine code of this kernel: ") +
      reported->text;
  throw CompileError(diagnostic);
}

void nacre::verifyLLVM(const llvm::Module &module) {
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (!llvm::verifyModule(module, &stream))
    return;
  Diagnostic diagnostic;
  diagnostic.kind = Diagnostic::Kind::Internal;
  diagnostic.message = "the compiler made LLVM IR that does not verify: " + problem;
  throw CompileError(diagnostic);
}
