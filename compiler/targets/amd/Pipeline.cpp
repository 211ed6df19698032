// The HIP target from tile IR to a code object, on one page.
#include "compiler/ir/simt/AccessRecord.h"
#include "compiler/ir/simt/Simt.h"
#include "compiler/ir/simt/StatedFacts.h"
#include "compiler/language/meaning/Diagnostic.h"
#include "compiler/passes/gpu/AssignLayouts.h"
#include "compiler/passes/gpu/ChooseDots.h"
#include "compiler/passes/gpu/ExpandDots.h"
#include "compiler/passes/gpu/LowerToLLVM.h"
#include "compiler/passes/gpu/OrderAccesses.h"
#include "compiler/passes/gpu/PlaceBarriers.h"
#include "compiler/passes/gpu/PlaceShared.h"
#include "compiler/passes/gpu/SoftwarePipeline.h"
#include "compiler/passes/tile/CanonicalizeInnerRegions.h"
#include "compiler/passes/tile/CheckAccesses.h"
#include "compiler/passes/tile/ExpandDescriptors.h"
#include "compiler/passes/tile/ExpandScaledDots.h"
#include "compiler/passes/tile/ScalarizeCarried.h"
#include "compiler/targets/LLVMStage.h"
#include "compiler/targets/Libraries.h"
#include "compiler/targets/PassRunner.h"
#include "compiler/targets/StageText.h"
#include "compiler/targets/ThreadCode.h"
#include "compiler/targets/amd/AmdTarget.h"
#include "compiler/targets/amd/CodeObject.h"
#include "compiler/targets/amd/Instructions.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"
#include <map>

using namespace mlir;
using namespace nacre;
using namespace nacre::amd;

namespace {

class AmdTarget : public nacre::Target {
public:
  llvm::StringRef name() const override { return "hip"; }
  llvm::StringRef title() const override { return "HIP"; }
  llvm::ArrayRef<StageName> stages() const override {
    static constexpr StageName names[] = {
        {"tile", "ttir"}, {"gpu", "gpu"}, {"gpu-scheduled", "ttgir"}, {"llvm", "llir"}, {"amdgcn", "amdgcn"}};
    return names;
  }
  llvm::ArrayRef<llvm::StringRef> moduleStages() const override {
    static constexpr llvm::StringRef names[] = {"tile", "gpu", "gpu-scheduled"};
    return names;
  }
  llvm::StringRef binaryName() const override { return "hsaco"; }
  llvm::ArrayRef<TargetOption> options() const override {
    static constexpr TargetOption taken[] = {{LaunchOptionId::NumWarps, 1, 32, /*isPowerOfTwo=*/true},
                                             {LaunchOptionId::NumStages, 0, 1024},
                                             {LaunchOptionId::NumCtas, 1, 1}};
    return taken;
  }
  int warpSize(llvm::StringRef architecture) const override;
  AssemblyNotation assembly() const override { return {.machine = "AMDGCN"}; }
  std::string languageName(const TargetOptions &options) const override;
  void registerDialects(DialectRegistry &registry) const override;
  void registerPasses() const override;
  std::string description(const TargetOptions &options) const override;
  Artifact compile(ModuleOp module, const TargetOptions &options, const CompileObserver &observer) const override;
};

} // namespace

const nacre::Target &nacre::amd::target() {
  static const AmdTarget instance;
  return instance;
}

void AmdTarget::registerDialects(DialectRegistry &registry) const {
  registry.insert<tile::TileDialect, simt::SimtDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                  func::FuncDialect, ub::UBDialect, LLVM::LLVMDialect, cf::ControlFlowDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

static const Architecture &architectureOf(llvm::StringRef name) {
  return architectureNamed(name.empty() ? "gfx942" : name);
}

int AmdTarget::warpSize(llvm::StringRef architecture) const { return architectureOf(architecture).lanes; }
std::string AmdTarget::languageName(const TargetOptions &options) const {
  return std::string("hip:") + architectureOf(options.architecture).name;
}
std::string AmdTarget::description(const TargetOptions &options) const {
  return std::string(architectureOf(options.architecture).name) + " " + options.features;
}

static void refuseBlocksTooLarge(ModuleOp module, const Architecture &architecture) {
  int64_t warps = tile::LaunchOptions::of(module).numWarps.value_or(4);
  if (warps <= architecture.mostWarps())
    return;
  nacre::Diagnostic diagnostic;
  diagnostic.kind = nacre::Diagnostic::Kind::Argument;
  diagnostic.message = "num_warps=" + std::to_string(warps) + " is more than a work-group of " + architecture.name +
                       " has: 1024 threads are " + std::to_string(architecture.mostWarps()) + " warps of " +
                       std::to_string(architecture.lanes);
  diagnostic.hint = "num_warps=" + std::to_string(architecture.mostWarps()) + " is the most there";
  throw CompileError(diagnostic);
}

static void refuseTooMuchSharedMemory(uint64_t bytes, const Architecture &architecture) {
  if (bytes <= static_cast<uint64_t>(architecture.sharedBytes))
    return;
  nacre::Diagnostic diagnostic;
  diagnostic.kind = nacre::Diagnostic::Kind::Value;
  diagnostic.message = "the kernel needs " + std::to_string(bytes) + " bytes of shared memory, and a work-group of " +
                       architecture.name + " has " + std::to_string(architecture.sharedBytes);
  diagnostic.hint = "smaller blocks need less";
  throw CompileError(diagnostic);
}

namespace {
// What the target cannot do yet is an error at its line.
struct RefuseUnsupported : PassWrapper<RefuseUnsupported, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RefuseUnsupported)
  void runOnOperation() override {
    getOperation().walk([&](Operation *op) {
      StringRef what;
      if (isa<tile::PrintOp>(op))
        what = "device_print";
      else if (auto told = dyn_cast<tile::TellOp>(op))
        what = "a scope of the profiler";
      if (what.empty())
        return;
      op->emitError(what + " is not there on the HIP target yet; it works on cpu and cuda");
      signalPassFailure();
    });
  }
};
} // namespace

// DWARF has the lines of the kernel.
static LLVM::DIScopeForLLVMFuncOpPassOptions lineTables() {
  LLVM::DIScopeForLLVMFuncOpPassOptions options;
  options.emissionKind = LLVM::DIEmissionKind::LineTablesOnly;
  return options;
}

static void linkLibraries(llvm::Module &module, llvm::ArrayRef<ExternalUse> uses) {
  for (const LibraryUse &use : byLibrary(uses)) {
    if (use.library->kind != ExternalLibrary::Kind::IR)
      failUse(*use.functions.front(),
              "`" + use.library->path + "` holds machine code of this computer, which a GPU cannot run",
              "give the library as LLVM bitcode for amdgcn-amd-amdhsa (clang -target amdgcn-amd-amdhsa -emit-llvm -c)");
    linkIR(module, use);
  }
  for (const llvm::Function &function : module)
    if (function.isDeclaration() && !function.isIntrinsic() && !function.use_empty())
      failUse(uses.front(), "`" + uses.front().function.library + "` needs `" + function.getName().str() +
                                "`, which neither it nor the GPU has");
}

Artifact AmdTarget::compile(ModuleOp module, const TargetOptions &options, const CompileObserver &observer) const {
  const Architecture &architecture = architectureOf(options.architecture);
  Instructions instructions(architecture);
  PassRunner passRunner(*this, module, observer);
  Artifact code;
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(tile::kernelAttribute))
      code.symbol = function.getName().str();
  MovedLinesFinder moved(module);

  refuseBlocksTooLarge(module, architecture);
  // The front end tells arithmetic for sanitizers, which watch other targets.
  module.walk([](tile::TellOp told) {
    if (told.getKind() == ToldKind::Arithmetic)
      told.erase();
  });
  passRunner.run("tile passes", [&](OpPassManager &passes) {
    passes.addPass(std::make_unique<RefuseUnsupported>());
    if (options.checkAccesses) { // every access is checked, also those that nobody reads
      passes.addPass(createExpandDescriptors());
      passes.addPass(createCheckAccesses());
    }
    addSimplification(passes);
  });
  passRunner.stage("tile");
  widenHalfArguments(module.lookupSymbol<func::FuncOp>(code.symbol));
  passRunner.run("tile passes", [&](OpPassManager &passes) {
    passes.addPass(createExpandDescriptors());
    passes.addPass(createExpandScaledDots());
    addSimplification(passes);
    passes.addPass(createScalarizeCarried());
    addSimplification(passes);
  });
  std::vector<ExternalUse> externals = externalUses(module);
  code.metadata.makesPointers = module.walk([](tile::IntToPtrOp) { return WalkResult::interrupt(); }).wasInterrupted();

  passRunner.run("choosing dots", [&](OpPassManager &passes) {
    passes.addNestedPass<func::FuncOp>(simt::createExpandDots(instructions));
    passes.addPass(simt::createChooseDots(instructions));
  });
  passRunner.run("assigning layouts", [&](OpPassManager &passes) {
    passes.addPass(simt::createAssignLayouts(instructions.lanes(), options.checksLaunches));
    passes.addNestedPass<func::FuncOp>(simt::createOrderAccesses());
    addSimplification(passes);
  });
  passRunner.stage("gpu");
  passRunner.run("scheduling", [&](OpPassManager &passes) {
    passes.addNestedPass<func::FuncOp>(simt::createSoftwarePipeline(simt::SoftwarePipelineOptions::of(instructions)));
    passes.addPass(simt::createPlaceShared());
    passes.addNestedPass<func::FuncOp>(simt::createPlaceBarriers());
  });
  simt::BlockShape block = simt::BlockShape::of(module);
  passRunner.stage("gpu-scheduled");
  passRunner.run("lowering to LLVM", [&](OpPassManager &passes) {
    passes.addPass(simt::createLowerToLLVM(instructions));
    addConversionsToLLVM(passes);
    if (options.lineInfo)
      passes.addPass(LLVM::createDIScopeForLLVMFuncOpPass(lineTables()));
  });
  code.metadata.warps = static_cast<uint64_t>(block.warps);
  code.metadata.ctas = 1;
  code.metadata.accessSites = simt::stated<simt::AccessSite>(module, simt::accessSitesAttribute);
  if (auto check = module->getAttrOfType<StringAttr>(simt::launchCheckAttribute))
    code.metadata.launchCheck = check.getValue().str();
  code.metadata.callsLibraries = !externals.empty();
  uint64_t placedBytes = 0;
  if (auto shared = module->getAttrOfType<IntegerAttr>(simt::sharedAttribute))
    placedBytes = static_cast<uint64_t>(shared.getInt());
  refuseTooMuchSharedMemory(placedBytes, architecture);

  std::unique_ptr<llvm::TargetMachine> machine = makeTargetMachine(architecture, options);
  LLVMStage stage(*this, module, code.symbol, *machine, observer);
  prepare(stage.module(), placedBytes);
  if (!externals.empty())
    linkLibraries(stage.module(), externals);
  stage.optimize(
      moved, [] { return MarksInCode(); },
      [&](llvm::PassInstrumentationCallbacks *callbacks) {
        const char *first = externals.empty() ? "" : "always-inline,cgscc(inline),globaldce,";
        // What of its surroundings a kernel asks for is known once its code is.
        optimizeThreadCode(stage.module(), *machine, callbacks, first, ",globaldce,amdgpu-attributor");
      });
  stage.takeReplacement();
  stage.finish();

  nameCallersOfLibrary(stage.module());
  std::string assembly = emitAssembly(stage.module(), *machine);
  stage.throwIfAny();
  if (std::optional<StageText> other = observer.replacement("amdgcn", [&] { return assembly; }))
    assembly = other->text;
  observer.show("amdgcn", [&] { return assembly; });
  observer.keep("amdgcn", [&] { return assembly; });
  CodeObject object = assemble(assembly, code.symbol, *machine);
  code.binary = std::move(object.bytes);
  code.metadata.registers = object.facts.registers;
  code.metadata.spilledBytes = object.facts.spilledBytes;
  code.metadata.sharedBytes = object.facts.sharedBytes;
  return code;
}

namespace {
struct ArchitectureOption : PassPipelineOptions<ArchitectureOption> {
  Option<std::string> architecture{*this, "architecture", llvm::cl::desc("processor"), llvm::cl::init("gfx942")};

  // Lives as long as the passes that hold it.
  const Instructions &instructions() const {
    static std::map<std::string, std::unique_ptr<Instructions>> made;
    std::unique_ptr<Instructions> &known = made[architecture];
    if (!known)
      known = std::make_unique<Instructions>(architectureNamed(architecture));
    return *known;
  }
};
} // namespace

void AmdTarget::registerPasses() const {
  // The passes of compiler/passes/gpu are registered by the CUDA target; this has the option architecture=gfx942.
  PassPipelineRegistration<ArchitectureOption>(
      "amd-lower-to-llvm", "lower-to-llvm for an AMD GPU, and the conversions to LLVM's dialect behind it",
      [](OpPassManager &passes, const ArchitectureOption &option) {
        passes.addPass(simt::createLowerToLLVM(option.instructions()));
        addConversionsToLLVM(passes);
      });
}
