// See StageText.h.
#include "compiler/targets/StageText.h"
#include "compiler/language/meaning/Diagnostic.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace nacre;

void nacre::failStage(const std::string &stage, const std::string &message) {
  nacre::Diagnostic diagnostic;
  diagnostic.kind = nacre::Diagnostic::Kind::Syntax;
  diagnostic.message = "the text given for the stage `" + stage + "` cannot be used: " + message;
  throw CompileError(diagnostic);
}

static func::FuncOp onlyFunction(ModuleOp module) {
  auto functions = module.getOps<func::FuncOp>();
  for (func::FuncOp function : functions)
    if (!function.isDeclaration())
      return function;
  return nullptr;
}

// MLIR 22's own reader crashes on an array of indices, and takes memory for as many results as a number behind # says.
static const char *whyUnreadable(llvm::StringRef text) {
  if (llvm::Regex("array[[:space:]]*<[[:space:]]*index").match(text))
    return "it has an array<index: ...>, which cannot be read; write array<i64: ...>";
  if (llvm::Regex("%[-a-zA-Z0-9_$.]+#[0-9]{6}").match(text))
    return "a number behind # is larger than the number of results that any operation has";
  return nullptr;
}

void nacre::replaceModule(ModuleOp module, const std::string &stage, const StageText &text) {
  std::string reported;
  if (const char *why = whyUnreadable(text.text))
    failStage(stage, why);
  OwningOpRef<ModuleOp> parsed;
  {
    ScopedDiagnosticHandler handler(module.getContext(), [&](mlir::Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error && reported.empty()) {
        llvm::raw_string_ostream stream(reported);
        if (auto place = dyn_cast<FileLineColLoc>(diagnostic.getLocation()))
          stream << "line " << place.getLine() << ", column " << place.getColumn() << ": ";
        stream << diagnostic.str();
      }
      return success();
    });
    parsed = parseSourceString<ModuleOp>(text.text, ParserConfig(module.getContext()), text.file);
  }
  if (!parsed)
    failStage(stage, reported);
  func::FuncOp before = onlyFunction(module), after = onlyFunction(*parsed);
  if (!after)
    failStage(stage, "it has no func.func");
  if (before && (before.getName() != after.getName() || before.getFunctionType() != after.getFunctionType())) {
    std::string message;
    llvm::raw_string_ostream stream(message);
    stream << "its kernel is @" << after.getName() << " of type " << after.getFunctionType()
           << ", and the one it replaces @" << before.getName() << " of type " << before.getFunctionType();
    failStage(stage, message);
  }
  module->setAttrs(parsed->getOperation()->getAttrDictionary());
  module.getBody()->clear();
  module.getBody()->getOperations().splice(module.getBody()->end(), parsed->getBody()->getOperations());
}

std::string nacre::printed(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return text;
}

std::string nacre::printed(const llvm::Module &module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}

std::unique_ptr<llvm::Module> nacre::parseLLVM(const std::string &text, llvm::LLVMContext &context,
                                               const std::string &symbol) {
  llvm::SMDiagnostic problem;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, problem, context);
  if (!module)
    failStage("llvm", "line " + std::to_string(problem.getLineNo()) + ": " + problem.getMessage().str());
  std::string reported;
  llvm::raw_string_ostream stream(reported);
  if (llvm::verifyModule(*module, &stream))
    failStage("llvm", reported);
  llvm::Function *kernel = module->getFunction(symbol);
  if (!kernel || kernel->isDeclaration())
    failStage("llvm", "it does not define @" + symbol);
  return module;
}
