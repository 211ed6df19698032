// The CPU target from tile IR to object code, on one page.
#include "compiler/ir/cpu/Cpu.h"
#include "compiler/language/meaning/Diagnostic.h"
#include "compiler/passes/cpu/DeepenDots.h"
#include "compiler/passes/cpu/DivideVectors.h"
#include "compiler/passes/cpu/KernelEntry.h"
#include "compiler/passes/cpu/LowerMicroKernels.h"
#include "compiler/passes/cpu/LowerToLoops.h"
#include "compiler/passes/cpu/MachineMath.h"
#include "compiler/passes/cpu/PackDots.h"
#include "compiler/passes/cpu/PlaceScratch.h"
#include "compiler/passes/cpu/ShareCode.h"
#include "compiler/passes/cpu/SplitBlocks.h"
#include "compiler/passes/tile/CanonicalizeInnerRegions.h"
#include "compiler/passes/tile/CheckAccesses.h"
#include "compiler/passes/tile/ExpandDescriptors.h"
#include "compiler/passes/tile/ExpandScaledDots.h"
#include "compiler/passes/tile/ScalarizeCarried.h"
#include "compiler/passes/tile/WatchArithmetic.h"
#include "compiler/passes/tile/WatchValues.h"
#include "compiler/passes/tile/WidenSmallFloats.h"
#include "compiler/targets/LLVMStage.h"
#include "compiler/targets/PassRunner.h"
#include "compiler/targets/StageText.h"
#include "compiler/targets/cpu/CpuTarget.h"
#include "compiler/targets/cpu/Disassembly.h"
#include "compiler/targets/cpu/Libraries.h"
#include "compiler/targets/cpu/MaskedAccess.h"
#include "compiler/targets/cpu/ObjectCode.h"
#include "compiler/targets/cpu/ScopeCalls.h"
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
#include "mlir/Transforms/Passes.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/X86TargetParser.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

namespace {

class CpuTarget : public nacre::Target {
public:
  llvm::StringRef name() const override { return "cpu"; }
  llvm::StringRef title() const override { return "CPU"; }
  llvm::ArrayRef<StageName> stages() const override {
    static constexpr StageName names[] = {{"tile", "ttir"}, {"cpu", "ttgir"}, {"llvm", "llir"}, {"asm", "s"}};
    return names;
  }
  llvm::ArrayRef<llvm::StringRef> moduleStages() const override {
    static constexpr llvm::StringRef names[] = {"tile", "cpu"};
    return names;
  }
  llvm::StringRef binaryName() const override { return "obj"; }
  AssemblyNotation assembly() const override {
    return {.machine = "x86",
            .isPtx = false,
            .operandLetters = "rRqQlabcdSDAxvyftukmoVpinsEFgXIJKLMNOGCeZ",
            .operandHint =
                "use r for an integer register, x for a vector register, {eax} for a register by name, m for "
                "memory, i for a constant, or the number of the output that it shares a register with"};
  }
  void registerDialects(DialectRegistry &registry) const override;
  void registerPasses() const override { registerCpuPasses(); }
  std::string description(const TargetOptions &options) const override;
  Artifact compile(ModuleOp module, const TargetOptions &options, const CompileObserver &observer) const override;
  std::string generatedText(llvm::Module &module, const TargetOptions &options) const override {
    return emitAssembly(module, *makeTargetMachine(options));
  }
  std::string disassemble(llvm::StringRef binary, llvm::StringRef symbol,
                          std::vector<DisassembledFunction> &functions) const override {
    return cpu::disassemble(binary, symbol, functions);
  }
};

} // namespace

const nacre::Target &nacre::cpu::target() {
  static const CpuTarget instance;
  return instance;
}

void CpuTarget::registerDialects(DialectRegistry &registry) const {
  registry.insert<tile::TileDialect, cpu::CpuDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                  func::FuncDialect, ub::UBDialect, vector::VectorDialect, LLVM::LLVMDialect, cf::ControlFlowDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

std::string CpuTarget::description(const TargetOptions &options) const {
  Machine machine = meantMachine(options);
  return machine.cpu + " " + machine.features;
}

std::string nacre::cpu::whyNotOnHost(const TargetOptions &options) {
  llvm::SmallVector<llvm::StringRef> wanted;
  if (!options.architecture.empty())
    llvm::X86::getFeaturesForCPU(options.architecture, wanted);
  for (llvm::StringRef feature : llvm::split(options.features, ','))
    if (feature.consume_front("+"))
      wanted.push_back(feature);
  if (wanted.empty())
    return "";
  static const llvm::StringMap<bool> present = llvm::sys::getHostCPUFeatures();
  std::string missing;
  for (llvm::StringRef feature : wanted)
    if (auto found = present.find(feature); found != present.end() && !found->second)
      missing += (missing.empty() ? "" : ", ") + feature.str();
  return missing.empty()
             ? ""
             : "it was compiled for " + (options.architecture.empty() ? options.features : options.architecture) +
                   ", and this machine lacks " + missing;
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
  target.int8Dot = target.vectorBytes == 64 && info->checkFeatures("+avx512vnni");
  target.bf16Tiles = target.bf16Dot && info->checkFeatures("+amx-tile,+amx-bf16") && mayUseTileRegisters();
  return target;
}

// Whether there is a descriptor or a scaled product; most kernels have none.
static bool holdsOperationsToExpand(ModuleOp module) {
  WalkResult result = module.walk([](Operation *op) {
    auto isDescriptor = [](mlir::Type type) { return isa<tile::DescriptorType>(type); };
    bool isFound = isa<tile::DotScaledOp>(op) || llvm::any_of(op->getResultTypes(), isDescriptor);
    if (auto function = dyn_cast<func::FuncOp>(op))
      isFound = llvm::any_of(function.getArgumentTypes(), isDescriptor);
    return isFound ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

static bool holdsProducts(ModuleOp module) {
  return module.walk([](tile::DotOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

static bool computesWithSmallFloats(ModuleOp module) {
  auto stopAtOne = [](Operation *op) {
    return isSmallFloatArithmetic(op) ? WalkResult::interrupt() : WalkResult::advance();
  };
  return module.walk(stopAtOne).wasInterrupted();
}

// What this target has no instructions for.
static void expand(OpPassManager &passes) {
  passes.addPass(createExpandDescriptors());
  passes.addPass(createExpandScaledDots());
}

static void setFunctionAttributes(llvm::Module &module, const llvm::TargetMachine &machine) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr("target-features", machine.getTargetFeatureString());
    // Full-width vectors, also where LLVM would by itself prefer halves.
    function.addFnAttr("prefer-vector-width", "512");
    function.addFnAttr("min-legal-vector-width", "512");
  }
}

Artifact CpuTarget::compile(ModuleOp module, const TargetOptions &options, const CompileObserver &observer) const {
  std::unique_ptr<llvm::TargetMachine> machine = makeTargetMachine(options);
  PassRunner passRunner(*this, module, observer);
  Artifact code;
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(tile::kernelAttribute))
      code.symbol = function.getName().str();
  MovedLinesFinder moved(module);

  passRunner.run("tile passes", [&](OpPassManager &passes) {
    // Every access is checked or told, also those that nobody reads.
    if (options.checkAccesses || options.isWatched())
      expand(passes);
    // Before accesses are: these stay in their order with what is told of values and arithmetic.
    if (options.watchValues)
      passes.addPass(createWatchValues());
    if (options.watchArithmetic)
      passes.addPass(createWatchArithmetic());
    if (options.watchAccesses)
      passes.addPass(createWatchAccesses());
    else if (options.checkAccesses)
      passes.addPass(createCheckAccesses());
    addSimplification(passes);
  });
  passRunner.stage("tile");
  if (moved.hasScopes())
    moved.noteSimplified(module);
  // From here on tile IR is what this target has: pointers and masks, plain dots, one offset for tiles that move.
  passRunner.run("tile passes", [&](OpPassManager &passes) {
    if (holdsOperationsToExpand(module)) {
      expand(passes);
      addSimplification(passes);
    }
    passes.addPass(createScalarizeCarried());
    addSimplification(passes);
  });
  std::vector<ExternalUse> externals = externalUses(module);
  const bool tells = module.walk([](tile::TellOp) { return WalkResult::interrupt(); }).wasInterrupted();

  VectorTarget vectors = vectorTarget(*machine);
  passRunner.run("lowering to loops", [&](OpPassManager &passes) {
    if (holdsProducts(module)) {
      passes.addPass(createDeepenDots(!vectors.bf16Dot ? 0 : vectors.bf16Tiles ? 128 : 64, /*depthOfF32=*/128));
      addSimplification(passes);
    }
    if (computesWithSmallFloats(module)) {
      passes.addPass(createWidenSmallFloats());
      passes.addPass(createCSEPass()); // the canonicalizer would make i32 -> f32 -> f16 one conversion to f16 again
    }
    passes.addPass(createPackDots(vectors));
    passes.addPass(createLowerToLoops(vectors));
    passes.addPass(createShareCode());
    passes.addPass(createLowerMicroKernels());
    passes.addPass(createPlaceScratch());
    passes.addPass(createExpandMath(machineMath(vectors)));
    passes.addPass(createKernelEntry(vectors.convertsHalf));
    addSimplification(passes);
    passes.addPass(createDivideVectors());
    passes.addPass(createSplitBlocks());
  });
  passRunner.stage("cpu");
  if (auto scratch = module->getAttrOfType<IntegerAttr>(scratchAttribute))
    code.metadata.scratchBytes = scratch.getInt();
  module->removeAttr(scratchAttribute);
  code.metadata.tells = options.isWatched() || tells;
  code.metadata.waits = module->removeAttr(waitsAttribute) != nullptr;

  passRunner.run("conversion to LLVM", [&](OpPassManager &passes) {
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

  LLVMStage stage(*this, module, code.symbol, *machine, observer);
  code.externals = linkLibraries(stage.module(), externals);
  code.metadata.callsLibraries = !externals.empty();
  setFunctionAttributes(stage.module(), *machine);
  code.metadata.movedLines = stage.optimize(moved, cpu::scopeCalls, [&](llvm::PassInstrumentationCallbacks *callbacks) {
    optimize(stage.module(), *machine, callbacks, /*hasElementLoops=*/code.externals.size() < externals.size());
  });
  if (options.llvmAddressChecks)
    addAddressChecks(stage.module(), *machine);
  stage.takeReplacement();
  legalizeMaskedAccesses(stage.module(), vectors.vectorBytes);
  stage.finish();

  auto assembly = [&] {
    std::unique_ptr<llvm::Module> copy = llvm::CloneModule(stage.module());
    return emitAssembly(*copy, *machine);
  };
  if (std::optional<StageText> other = observer.replacement("asm", assembly)) {
    observer.show("asm", [&] { return other->text; });
    observer.keep("asm", [&] { return other->text; });
    code.binary = assemble(other->text, *machine);
  } else {
    observer.show("asm", assembly);
    code.binary = emitObject(stage.module(), *machine);
  }
  stage.throwIfAny();
  return code;
}
