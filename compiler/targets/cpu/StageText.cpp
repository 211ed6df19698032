// See StageText.h.
#include "compiler/targets/cpu/StageText.h"
#include "compiler/language/Diagnostic.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/MCAsmBackend.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCObjectWriter.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace nacre;

[[noreturn]] static void fail(const std::string &stage, const std::string &message) {
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

void cpu::replaceModule(ModuleOp module, const std::string &stage, const StageText &text) {
  std::string reported;
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
    fail(stage, reported);
  func::FuncOp before = onlyFunction(module), after = onlyFunction(*parsed);
  if (!after)
    fail(stage, "it has no func.func");
  if (before && (before.getName() != after.getName() || before.getFunctionType() != after.getFunctionType())) {
    std::string message;
    llvm::raw_string_ostream stream(message);
    stream << "its kernel is @" << after.getName() << " of type " << after.getFunctionType()
           << ", and the one it replaces @" << before.getName() << " of type " << before.getFunctionType();
    fail(stage, message);
  }
  module->setAttrs(parsed->getOperation()->getAttrDictionary());
  module.getBody()->clear();
  module.getBody()->getOperations().splice(module.getBody()->end(), parsed->getBody()->getOperations());
}

std::unique_ptr<llvm::Module> cpu::parseLLVM(const std::string &text, llvm::LLVMContext &context,
                                             const std::string &symbol) {
  llvm::SMDiagnostic problem;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, problem, context);
  if (!module)
    fail("llvm", "line " + std::to_string(problem.getLineNo()) + ": " + problem.getMessage().str());
  std::string reported;
  llvm::raw_string_ostream stream(reported);
  if (llvm::verifyModule(*module, &stream))
    fail("llvm", reported);
  llvm::Function *kernel = module->getFunction(symbol);
  if (!kernel || kernel->isDeclaration())
    fail("llvm", "it does not define @" + symbol);
  return module;
}

std::string cpu::assemble(const std::string &text, const llvm::TargetMachine &machine) {
  const llvm::Target &target = machine.getTarget();
  const llvm::Triple &triple = machine.getTargetTriple();
  const llvm::MCTargetOptions &options = machine.Options.MCOptions;
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(text, "asm"), llvm::SMLoc());
  std::string reported;
  sources.setDiagHandler(
      [](const llvm::SMDiagnostic &problem, void *reported) {
        auto &text = *static_cast<std::string *>(reported);
        if (problem.getKind() == llvm::SourceMgr::DK_Error && text.empty())
          text = "line " + std::to_string(problem.getLineNo()) + ": " + problem.getMessage().str();
      },
      &reported);
  llvm::MCContext context(triple, machine.getMCAsmInfo(), machine.getMCRegisterInfo(), machine.getMCSubtargetInfo(),
                          &sources, &options);
  std::unique_ptr<llvm::MCObjectFileInfo> file(target.createMCObjectFileInfo(context, /*PIC=*/true));
  context.setObjectFileInfo(file.get());
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  std::unique_ptr<llvm::MCAsmBackend> backend(
      target.createMCAsmBackend(*machine.getMCSubtargetInfo(), *machine.getMCRegisterInfo(), options));
  std::unique_ptr<llvm::MCObjectWriter> writer = backend->createObjectWriter(stream);
  std::unique_ptr<llvm::MCCodeEmitter> emitter(target.createMCCodeEmitter(*machine.getMCInstrInfo(), context));
  std::unique_ptr<llvm::MCStreamer> streamer(target.createMCObjectStreamer(
      triple, context, std::move(backend), std::move(writer), std::move(emitter), *machine.getMCSubtargetInfo()));
  std::unique_ptr<llvm::MCAsmParser> parser(
      llvm::createMCAsmParser(sources, context, *streamer, *machine.getMCAsmInfo()));
  std::unique_ptr<llvm::MCTargetAsmParser> instructions(
      target.createMCAsmParser(*machine.getMCSubtargetInfo(), *parser, *machine.getMCInstrInfo(), options));
  parser->setTargetParser(*instructions);
  if (parser->Run(/*NoInitialTextSection=*/false) || !reported.empty())
    fail("asm", reported.empty() ? "it cannot be assembled" : reported);
  return std::string(bytes.data(), bytes.size());
}
