// The CPU target from tile IR to object code, on one page.
#include "compiler/language/Diagnostic.h"
#include "compiler/passes/cpu/DeepenDots.h"
#include "compiler/passes/cpu/LowerToLoops.h"
#include "compiler/passes/tile/ScalariseCarried.h"
#include "compiler/targets/cpu/CpuTarget.h"
#include "compiler/targets/cpu/Libraries.h"
#include "compiler/targets/cpu/MaskedAccess.h"
#include "compiler/targets/cpu/ObjectCode.h"
#include "compiler/targets/cpu/PassReport.h"
#include "compiler/targets/cpu/StageText.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/LocationSnapshot.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

void nacre::cpu::registerDialects(DialectRegistry &registry) {
  registry.insert<tile::TileDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect, func::FuncDialect,
                  ub::UBDialect, vector::VectorDialect, LLVM::LLVMDialect, cf::ControlFlowDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

// What the machine offers to the loops.
static VectorTarget vectorTarget(const llvm::TargetMachine &machine) {
  const llvm::MCSubtargetInfo *info = machine.getMCSubtargetInfo();
  VectorTarget target;
  if (info->checkFeatures("+avx512f,+avx512bw,+avx512vl,+avx512dq"))
    target = {64, 32, info->checkFeatures("+avx512bf16")};
  else if (info->checkFeatures("+avx2"))
    target = {32, 16, false};
  else
    target = {16, 16, false};
  target.convertsHalf = info->checkFeatures("+f16c");
  target.bf16Tiles = target.bf16Dot && info->checkFeatures("+amx-tile,+amx-bf16") && mayUseTileRegisters();
  return target;
}

// The place of an operation, and the calls that led there. Their text is for who knows it to add.
static void setPlace(nacre::Diagnostic &diagnostic, Location location) {
  location->walk([&](Location part) {
    auto place = dyn_cast<FileLineColLoc>(part);
    if (!place)
      return WalkResult::advance();
    auto source = std::make_shared<SourceText>();
    source->fileName = place.getFilename().str();
    int line = static_cast<int>(place.getLine()), column = std::max(static_cast<int>(place.getColumn()) - 1, 0);
    SourceLocation found{source, line, column, line, column};
    if (diagnostic.location.source)
      diagnostic.calls.push_back(found);
    else
      diagnostic.location = found;
    return WalkResult::advance();
  });
}

// Runs the passes; what they report becomes one CompileError.
static void run(ModuleOp module, const CpuOptions &options, const char *stage,
                llvm::function_ref<void(OpPassManager &)> build) {
  std::string reported;
  nacre::Diagnostic diagnostic;
  ScopedDiagnosticHandler handler(module.getContext(), [&](mlir::Diagnostic &error) {
    if (error.getSeverity() == DiagnosticSeverity::Error && reported.empty()) {
      reported = error.str();
      setPlace(diagnostic, error.getLocation());
    }
    return success();
  });
  PassManager passes(module.getContext(), ModuleOp::getOperationName());
  passes.enableVerifier(false);
  if (options.dumpPasses)
    reportPasses(passes, reportStream(options.dumpPath));
  if (!options.reproducerPath.empty())
    passes.enableCrashReproducerGeneration(options.reproducerPath);
  build(passes);
  if (succeeded(passes.run(module)))
    return;
  diagnostic.kind = nacre::Diagnostic::Kind::Internal;
  diagnostic.message = std::string("the CPU target failed in ") + stage + ": " + reported;
  diagnostic.hint = options.reproducerPath.empty()
                        ? "set TRITON_REPRODUCER_PATH to a file to keep what failed for nacre-opt"
                        : "nacre-opt --run-reproducer " + options.reproducerPath + " shows it again";
  throw CompileError(diagnostic);
}

// The first error that LLVM reports, and the number of the inline assembly that it is about, or 0.
struct ReportedError {
  std::string text;
  uint64_t assembly = 0;
};

// Keeps the first error; LLVM's own handler would end the process.
struct KeepFirstError : llvm::DiagnosticHandler {
  explicit KeepFirstError(ReportedError &error) : error(error) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() != llvm::DS_Error || !error.text.empty())
      return true;
    if (auto *text = llvm::dyn_cast<llvm::DiagnosticInfoSrcMgr>(&info)) { // the assembler's, which shows the line
      error.assembly = text->getLocCookie();
      error.text = text->getSMDiag().getMessage().str() + ": " + text->getSMDiag().getLineContents().trim().str();
      return true;
    }
    if (auto *assembly = llvm::dyn_cast<llvm::DiagnosticInfoInlineAsm>(&info)) {
      error.assembly = assembly->getLocCookie();
      error.text = assembly->getMsgStr().str();
      return true;
    }
    llvm::raw_string_ostream stream(error.text);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    return true;
  }
  ReportedError &error;
};

// Numbers the inline assembly of a module, from 1 on, so that an error about it can be placed.
class AssemblyPlaces {
public:
  explicit AssemblyPlaces(ModuleOp module) {
    module.walk(
        [&](LLVM::InlineAsmOp op) { numbers.try_emplace({op.getAsmString(), op.getConstraints()}, op.getLoc()); });
  }
  void mark(llvm::Module &module) const {
    for (llvm::Function &function : module)
      for (llvm::Instruction &instruction : llvm::instructions(function)) {
        auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction);
        auto *assembly = call ? llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()) : nullptr;
        if (!assembly)
          continue;
        auto found = numbers.find({assembly->getAsmString(), assembly->getConstraintString()});
        if (found == numbers.end())
          continue;
        auto *number = llvm::ConstantInt::get(llvm::Type::getInt64Ty(module.getContext()),
                                              std::distance(numbers.begin(), found) + 1);
        call->setMetadata("srcloc", llvm::MDNode::get(module.getContext(), llvm::ConstantAsMetadata::get(number)));
      }
  }
  std::optional<Location> place(uint64_t number) const {
    if (number == 0 || number > numbers.size())
      return std::nullopt;
    return std::next(numbers.begin(), static_cast<int64_t>(number) - 1)->second;
  }

private:
  std::map<std::pair<StringRef, StringRef>, Location> numbers;
};

static std::string printed(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return text;
}

// Writes the module to a file; its operations stand where they are in that file from now on.
static void takeLines(ModuleOp module, const std::string &file) {
  if (succeeded(generateLocationsFromIR(file, module, OpPrintingFlags())))
    return;
  nacre::Diagnostic diagnostic;
  diagnostic.kind = nacre::Diagnostic::Kind::Argument;
  diagnostic.message = "the IR whose lines USE_IR_LOC asks for cannot be written to " + file;
  throw CompileError(diagnostic);
}

CpuCode nacre::cpu::compile(ModuleOp module, const CpuOptions &options) {
  std::unique_ptr<llvm::TargetMachine> machine = makeTargetMachine(options);
  auto stage = [&](const char *name, const std::function<std::string()> &text) {
    if (options.onStage)
      options.onStage(name, text);
  };
  auto replacement = [&](const char *name, const std::function<std::string()> &text) {
    return options.replaceStage ? options.replaceStage(name, text) : std::nullopt;
  };
  auto moduleStage = [&](const char *name) {
    auto text = [&] { return printed(module); };
    if (std::optional<StageText> other = replacement(name, text))
      replaceModule(module, name, *other);
    stage(name, text);
    if (options.linesOfStage == name)
      takeLines(module, options.linesFile);
  };
  CpuCode code;
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(tile::kernelAttribute))
      code.symbol = function.getName().str();

  run(module, options, "tile passes", [](OpPassManager &passes) {
    passes.addPass(createCanonicalizerPass());
    passes.addPass(createCSEPass());
    passes.addPass(createScalariseCarried());
    passes.addPass(createCanonicalizerPass());
    passes.addPass(createCSEPass());
  });
  moduleStage("tile");
  std::vector<ExternalUse> externals;
  module.walk([&](tile::ExternalCallOp op) {
    ExternalUse use{{op.getLibrary().str(), op.getDigest().str(), op.getSymbol().str()}, {}};
    setPlace(use.place, op.getLoc());
    bool isKnown = llvm::any_of(
        externals, [&](const ExternalUse &other) { return other.function.linkName() == use.function.linkName(); });
    if (!isKnown)
      externals.push_back(std::move(use));
  });

  VectorTarget vectors = vectorTarget(*machine);
  run(module, options, "lowering to loops", [&](OpPassManager &passes) {
    if (vectors.bf16Dot) {
      passes.addPass(createDeepenDots(vectors.bf16Tiles ? 128 : 64));
      passes.addPass(createCanonicalizerPass());
      passes.addPass(createCSEPass());
    }
    passes.addPass(createLowerToLoops(vectors));
    passes.addPass(createCanonicalizerPass());
    passes.addPass(createCSEPass());
  });
  moduleStage("cpu");
  if (auto scratch = module->getAttrOfType<IntegerAttr>(scratchAttribute))
    code.metadata.scratchBytes = scratch.getInt();
  module->removeAttr(scratchAttribute);
  code.metadata.waits = module->removeAttr(waitsAttribute) != nullptr;

  run(module, options, "conversion to LLVM", [&](OpPassManager &passes) {
    passes.addPass(createSCFToControlFlowPass());
    passes.addPass(createConvertVectorToLLVMPass());
    passes.addPass(createConvertMathToLLVMPass());
    passes.addPass(createArithToLLVMConversionPass());
    passes.addPass(createUBToLLVMConversionPass());
    passes.addPass(createConvertControlFlowToLLVMPass());
    passes.addPass(createConvertFuncToLLVMPass());
    passes.addPass(createReconcileUnrealizedCastsPass());
    if (options.lineInfo)
      passes.addPass(LLVM::createDIScopeForLLVMFuncOpPass());
  });

  ReportedError reported;
  AssemblyPlaces assemblyPlaces(module);
  llvm::LLVMContext context;
  context.setDiagnosticHandler(std::make_unique<KeepFirstError>(reported));
  std::unique_ptr<llvm::Module> llvmModule = translateModuleToLLVMIR(module, context, code.symbol);
  if (!llvmModule) {
    nacre::Diagnostic diagnostic;
    diagnostic.kind = nacre::Diagnostic::Kind::Internal;
    diagnostic.message = "the CPU target could not translate the kernel to LLVM IR";
    throw CompileError(diagnostic);
  }
  llvmModule->setTargetTriple(machine->getTargetTriple());
  llvmModule->setDataLayout(machine->createDataLayout());
  assemblyPlaces.mark(*llvmModule);
  code.externals = linkLibraries(*llvmModule, externals);
  code.metadata.callsLibraries = !externals.empty();
  for (llvm::Function &function : *llvmModule) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", machine->getTargetCPU());
    function.addFnAttr("target-features", machine->getTargetFeatureString());
    // Full-width vectors, also where LLVM would by itself prefer halves.
    function.addFnAttr("prefer-vector-width", "512");
    function.addFnAttr("min-legal-vector-width", "512");
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
  llvm::PassInstrumentationCallbacks callbacks;
  if (options.dumpLLVMPasses)
    reportLLVMPasses(callbacks, reportStream(options.dumpPath));
  optimise(*llvmModule, *machine, options.dumpLLVMPasses ? &callbacks : nullptr,
           /*hasElementLoops=*/code.externals.size() < externals.size());
  auto llvmText = [&] {
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvmModule->print(stream, nullptr);
    return text;
  };
  if (std::optional<StageText> other = replacement("llvm", llvmText))
    llvmModule = parseLLVM(other->text, context, code.symbol);
  legaliseMaskedAccesses(*llvmModule, vectors.vectorBytes);
  stage("llvm", llvmText);

  auto assembly = [&] {
    std::unique_ptr<llvm::Module> copy = llvm::CloneModule(*llvmModule);
    return emitAssembly(*copy, *machine);
  };
  if (std::optional<StageText> other = replacement("asm", assembly)) {
    stage("asm", [&] { return other->text; });
    code.object = assemble(other->text, *machine);
  } else {
    stage("asm", assembly);
    code.object = emitObject(*llvmModule, *machine);
  }
  if (!reported.text.empty()) {
    nacre::Diagnostic diagnostic;
    diagnostic.kind = nacre::Diagnostic::Kind::Value;
    std::optional<Location> place = assemblyPlaces.place(reported.assembly);
    if (place)
      setPlace(diagnostic, *place);
    diagnostic.message =
        (place ? "this inline assembly cannot be assembled: " : "LLVM cannot make machine code of this kernel: ") +
        reported.text;
    throw CompileError(diagnostic);
  }
  return code;
}
