// The CUDA target from tile IR to a cubin, on one page.
#include "compiler/ir/simt/AccessRecord.h"
#include "compiler/ir/simt/Boxes.h"
#include "compiler/ir/simt/ScopeRecord.h"
#include "compiler/ir/simt/StatedFacts.h"
#include "compiler/language/meaning/Diagnostic.h"
#include "compiler/passes/gpu/AssignLayouts.h"
#include "compiler/passes/gpu/ChooseDots.h"
#include "compiler/passes/gpu/ExpandDots.h"
#include "compiler/passes/gpu/HoistDescriptors.h"
#include "compiler/passes/gpu/LowerToLLVM.h"
#include "compiler/passes/gpu/OrderAccesses.h"
#include "compiler/passes/gpu/Passes.h"
#include "compiler/passes/gpu/PlaceBarriers.h"
#include "compiler/passes/gpu/PlaceShared.h"
#include "compiler/passes/gpu/SoftwarePipeline.h"
#include "compiler/passes/gpu/Specialize.h"
#include "compiler/passes/gpu/StageBoxes.h"
#include "compiler/passes/tile/CanonicalizeInnerRegions.h"
#include "compiler/passes/tile/CheckAccesses.h"
#include "compiler/passes/tile/ExpandDescriptors.h"
#include "compiler/passes/tile/ExpandScaledDots.h"
#include "compiler/passes/tile/ScalarizeCarried.h"
#include "compiler/targets/LLVMStage.h"
#include "compiler/targets/PassRunner.h"
#include "compiler/targets/StageText.h"
#include "compiler/targets/ThreadCode.h"
#include "compiler/targets/cuda/Assembler.h"
#include "compiler/targets/cuda/CudaTarget.h"
#include "compiler/targets/cuda/Instructions.h"
#include "compiler/targets/cuda/Libraries.h"
#include "compiler/targets/cuda/Occupancy.h"
#include "compiler/targets/cuda/PtxCode.h"
#include "compiler/targets/cuda/ScopeClocks.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include <map>

using namespace mlir;
using namespace nacre;
using namespace nacre::cuda;

namespace {

class CudaTarget : public nacre::Target {
public:
  llvm::StringRef name() const override { return "cuda"; }
  llvm::StringRef title() const override { return "CUDA"; }
  llvm::ArrayRef<StageName> stages() const override {
    static constexpr StageName names[] = {
        {"tile", "ttir"}, {"gpu", "gpu"}, {"gpu-scheduled", "ttgir"}, {"llvm", "llir"}, {"ptx", "ptx"}};
    return names;
  }
  llvm::ArrayRef<llvm::StringRef> moduleStages() const override {
    static constexpr llvm::StringRef names[] = {"tile", "gpu", "gpu-scheduled"};
    return names;
  }
  llvm::StringRef binaryName() const override { return "cubin"; }
  llvm::ArrayRef<TargetOption> options() const override {
    static constexpr TargetOption taken[] = {{LaunchOptionId::NumWarps, 1, 32, /*isPowerOfTwo=*/true},
                                             {LaunchOptionId::NumStages, 0, 1024},
                                             {LaunchOptionId::NumCtas, 1, 8, /*isPowerOfTwo=*/true},
                                             {LaunchOptionId::MaxRegisters, 0, 65536},
                                             {LaunchOptionId::CooperativeGrid, 0, 1},
                                             {LaunchOptionId::DependentLaunch, 0, 1}};
    return taken;
  }
  int warpSize(llvm::StringRef) const override { return cuda::warpSize; }
  AssemblyNotation assembly() const override {
    return {.machine = "PTX", .isPtx = true, .operandLetters = {}, .operandHint = {}};
  }
  std::string languageName(const TargetOptions &options) const override;
  void registerDialects(DialectRegistry &registry) const override;
  void registerPasses() const override;
  std::string description(const TargetOptions &options) const override;
  Artifact compile(ModuleOp module, const TargetOptions &options, const CompileObserver &observer) const override;
};

} // namespace

const nacre::Target &nacre::cuda::target() {
  static const CudaTarget instance;
  return instance;
}

bool nacre::cuda::isPtx(llvm::StringRef binary) {
  return !binary.starts_with("\x7f"
                             "ELF");
}

void CudaTarget::registerDialects(DialectRegistry &registry) const {
  registry.insert<tile::TileDialect, simt::SimtDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                  func::FuncDialect, ub::UBDialect, LLVM::LLVMDialect, cf::ControlFlowDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

static const Architecture &architectureOf(const TargetOptions &options) {
  return architectureNamed(options.architecture.empty() ? "90" : options.architecture);
}

std::string CudaTarget::languageName(const TargetOptions &options) const {
  return "cuda:" + std::to_string(architectureOf(options).capability);
}

std::string CudaTarget::description(const TargetOptions &options) const {
  const Architecture &architecture = architectureOf(options);
  std::string text = std::string(architecture.name) + " " + options.features + " ptx" +
                     std::to_string(architecture.ptxVersion) + " libdevice " + libdeviceDigest(options);
  if (!options.assembles)
    return text;
  std::optional<std::string> assembler = findAssembler(options);
  llvm::sys::fs::file_status status;
  if (!assembler || llvm::sys::fs::status(*assembler, status))
    return text;
  return text + " ptxas " + std::to_string(status.getSize()) + " " +
         std::to_string(llvm::sys::toTimeT(status.getLastModificationTime())) + " " + options.assemblerOptions;
}

static std::vector<simt::TensorMapRecipe> tensorMapsOf(func::FuncOp kernel) {
  std::vector<simt::TensorMapRecipe> recipes;
  for (BlockArgument argument : kernel.getArguments())
    if (kernel.getArgAttr(argument.getArgNumber(), simt::recipeAttribute))
      recipes.push_back(simt::recipeOf(argument));
  return recipes;
}

// Parameters that are structures stay where the launch put them, and are not copied when their address is taken: a
// tensor map must be there.
static void keepParametersInPlace(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Argument &argument : function.args())
      if (argument.hasByValAttr())
        argument.addAttr(llvm::Attribute::get(module.getContext(), "nvvm.grid_constant"));
}

static LLVM::DIScopeForLLVMFuncOpPassOptions lineDirectives() {
  // Other kinds make LLVM ask ptxas for code that can be debugged, which it then does not optimize.
  LLVM::DIScopeForLLVMFuncOpPassOptions options;
  options.emissionKind = LLVM::DIEmissionKind::DebugDirectivesOnly;
  return options;
}

// What the machine can do, and is told to do or to leave (TargetOptions::features).
namespace {
struct Features {
  bool producers = true; // loops are specialized that ask for it or gain by it; said with +: all that may be
  bool always = false;
  bool overlapDots = true;

  explicit Features(llvm::StringRef text) {
    for (llvm::StringRef feature : llvm::split(text, ',')) {
      llvm::StringRef name = feature.trim();
      if (name.empty())
        continue;
      bool isAdded = name.consume_front("+");
      bool isSigned = isAdded || name.consume_front("-");
      if (isSigned && name == "producers")
        producers = always = isAdded;
      else if (isSigned && name == "overlap-dots")
        overlapDots = isAdded;
      else
        refuse(feature.trim());
    }
  }

private:
  [[noreturn]] static void refuse(llvm::StringRef feature) {
    nacre::Diagnostic diagnostic;
    diagnostic.kind = nacre::Diagnostic::Kind::Argument;
    diagnostic.message = "unknown feature of the CUDA target '" + feature.str() + "'";
    diagnostic.hint = "NACRE_CUDA_FEATURES takes producers and overlap-dots, each after + or -";
    throw CompileError(diagnostic);
  }
};
} // namespace

static simt::SpecializeOptions specializeOptions(const Instructions &instructions, const Architecture &architecture,
                                                 const Features &features) {
  return {.pipeline = simt::SoftwarePipelineOptions::of(instructions),
          .hasProducers = architecture.hasWarpgroupProducts,
          .always = features.always,
          .overlapDots = features.overlapDots};
}

// Writes on the kernel's producer what registers it leaves to the other warps.
static void giveRegisters(ModuleOp module, const RoleRegisters &roles) {
  module.walk([&](simt::ProducerOp producer) {
    if (roles.producer)
      producer.setRegisters(
          ArrayRef<int32_t>{static_cast<int32_t>(roles.producer), static_cast<int32_t>(roles.others)});
  });
}

[[noreturn]] static void failWithoutAssembler() {
  nacre::Diagnostic diagnostic;
  diagnostic.kind = nacre::Diagnostic::Kind::Argument;
  diagnostic.message = "there is no ptxas, which assembles PTX";
  diagnostic.hint =
      "install CUDA's (pip install nvidia-cuda-nvcc), put it on the PATH, or name it with TRITON_PTXAS_PATH";
  throw CompileError(diagnostic);
}

// Architectures without clusters run a program in one block.
static void checkClusters(int64_t ctas, const Architecture &architecture) {
  if (ctas == 1 || architecture.has(90))
    return;
  nacre::Diagnostic diagnostic;
  diagnostic.kind = nacre::Diagnostic::Kind::Argument;
  diagnostic.message = "num_ctas=" + std::to_string(ctas) + ": a GPU of compute capability " +
                       std::to_string(architecture.capability / 10) + "." +
                       std::to_string(architecture.capability % 10) + " has no clusters of blocks";
  diagnostic.hint = "launch it with num_ctas=1, or on a GPU of compute capability 9.0 or higher";
  throw CompileError(diagnostic);
}

Artifact CudaTarget::compile(ModuleOp module, const TargetOptions &options, const CompileObserver &observer) const {
  const Architecture &architecture = architectureOf(options);
  Instructions instructions(architecture);
  const Features features(options.features);
  PassRunner passRunner(*this, module, observer);
  const int64_t ctas = tile::LaunchOptions::of(module).numCtas.value_or(1);
  checkClusters(ctas, architecture);
  Artifact code;
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(tile::kernelAttribute))
      code.symbol = function.getName().str();
  MovedLinesFinder moved(module);

  // The front end tells arithmetic for sanitizers, which watch other targets; marks stay.
  module.walk([](tile::TellOp told) {
    if (told.getKind() == ToldKind::Arithmetic)
      told.erase();
  });
  passRunner.run("tile passes", [&](OpPassManager &passes) {
    if (options.checkAccesses) { // every access is checked, also those that nobody reads
      passes.addPass(createExpandDescriptors());
      passes.addPass(createCheckAccesses());
    }
    addSimplification(passes);
  });
  passRunner.stage("tile");
  if (moved.hasScopes())
    moved.noteSimplified(module);
  widenHalfArguments(module.lookupSymbol<func::FuncOp>(code.symbol));
  const simt::BoxCopies *boxCopies = instructions.boxCopies();
  passRunner.run("tile passes", [&](OpPassManager &passes) {
    if (boxCopies && !options.checkAccesses) // accesses that are checked go through pointers
      passes.addPass(simt::createHoistDescriptors(boxCopies->limits()));
    passes.addPass(createExpandDescriptors());
    passes.addPass(createExpandScaledDots());
    addSimplification(passes);
    passes.addPass(createScalarizeCarried());
    addSimplification(passes);
  });
  std::vector<ExternalUse> externals = externalUses(module);
  code.metadata.tensorMaps = tensorMapsOf(module.lookupSymbol<func::FuncOp>(code.symbol));
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
  Occupancy occupancy(module.lookupSymbol<func::FuncOp>(code.symbol));
  passRunner.stage("gpu");
  passRunner.run("scheduling", [&](OpPassManager &passes) {
    if (features.producers && ctas == 1) // other warps that load would be other threads of the cluster
      passes.addPass(simt::createSpecialize(specializeOptions(instructions, architecture, features)));
    passes.addNestedPass<func::FuncOp>(simt::createSoftwarePipeline(simt::SoftwarePipelineOptions::of(instructions)));
    passes.addNestedPass<func::FuncOp>(simt::createStageBoxes());
    passes.addPass(simt::createPlaceShared());
    passes.addNestedPass<func::FuncOp>(simt::createPlaceBarriers());
  });
  simt::BlockShape block = simt::BlockShape::of(module);
  tile::LaunchOptions launch = tile::LaunchOptions::of(module);
  const int32_t mostRegisters = launch.maxRegisters.value_or(0);
  const bool isLimited = mostRegisters > 0 && mostRegisters < 256; // a larger number bounds nothing
  std::optional<RoleRegisters> roles;
  if (int64_t warps = simt::producerWarps(module); warps && !isLimited) {
    int64_t sharedBytes = module->getAttrOfType<IntegerAttr>(simt::sharedAttribute).getInt();
    roles = occupancy.ofRoles(block.threads(), warps * block.lanes, sharedBytes, architecture);
    giveRegisters(module, *roles);
  }
  passRunner.stage("gpu-scheduled");
  passRunner.run("lowering to LLVM", [&](OpPassManager &passes) {
    passes.addPass(simt::createLowerToLLVM(instructions));
    addConversionsToLLVM(passes);
    if (options.lineInfo)
      passes.addPass(LLVM::createDIScopeForLLVMFuncOpPass(lineDirectives()));
  });
  code.metadata.warps = static_cast<uint64_t>(block.warps + simt::producerWarps(module));
  code.metadata.ctas = static_cast<uint64_t>(block.ctas);
  if (auto shared = module->getAttrOfType<IntegerAttr>(simt::sharedAttribute))
    code.metadata.sharedBytes = static_cast<uint64_t>(shared.getInt());
  code.metadata.accessSites = simt::stated<simt::AccessSite>(module, simt::accessSitesAttribute);
  code.metadata.marks = simt::stated<simt::MarkPlace>(module, simt::scopeMarksAttribute);
  code.metadata.tells = !code.metadata.marks.empty();
  if (auto check = module->getAttrOfType<StringAttr>(simt::launchCheckAttribute))
    code.metadata.launchCheck = check.getValue().str();
  code.metadata.cooperative = launch.cooperativeGrid;
  code.metadata.dependentLaunch = launch.dependentLaunch && architecture.has(90);
  code.metadata.callsLibraries = !externals.empty();

  std::unique_ptr<llvm::TargetMachine> machine = makeTargetMachine(architecture, options);
  LLVMStage stage(*this, module, code.symbol, *machine, observer);
  keepParametersInPlace(stage.module());
  if (!externals.empty())
    linkLibraries(stage.module(), externals, options);
  if (code.metadata.dependentLaunch)
    waitForEarlierKernels(*stage.kernel());
  code.metadata.movedLines = stage.optimize(
      moved, [&] { return scopeClocks(code.metadata.marks); },
      [&](llvm::PassInstrumentationCallbacks *callbacks) {
        optimize(stage.module(), *machine, callbacks, !externals.empty());
      });
  stage.takeReplacement();
  stage.finish();
  code.metadata.prints = prints(stage.module());

  std::optional<std::string> assembler = options.assembles ? findAssembler(options) : std::nullopt;
  if (!assembler && options.mustAssemble)
    failWithoutAssembler();
  std::optional<OccupancyHint> hint;
  if (roles) // without it the assembler does not let threads change their registers
    stage.kernel()->addFnAttr("nvvm.minctasm", std::to_string(roles->blocks));
  else if (assembler && !isLimited)
    hint = occupancy.hint(block.threads(), static_cast<int64_t>(code.metadata.sharedBytes), architecture);
  std::unique_ptr<llvm::Module> withoutHint = hint ? llvm::CloneModule(stage.module()) : nullptr;
  if (hint)
    stage.kernel()->addFnAttr("nvvm.minctasm", std::to_string(hint->blocks));
  std::string ptx = emitPtx(stage.module(), *machine, options.debug);
  stage.throwIfAny();
  bool isReplaced = false;
  if (std::optional<StageText> other = observer.replacement("ptx", [&] { return ptx; })) {
    ptx = other->text;
    isReplaced = true;
    code.metadata.prints = prints(ptx);
  }
  observer.show("ptx", [&] { return ptx; });
  observer.keep("ptx", [&] { return ptx; });
  if (!assembler) { // whoever runs it assembles it
    code.binary = std::move(ptx);
    return code;
  }
  AssembledCode assembled = assemble(ptx, *assembler, architecture, options);
  if (hint && !isReplaced && static_cast<int64_t>(assembled.report.spilledBytes) > hint->mostSpilled)
    assembled = assemble(emitPtx(*withoutHint, *machine, options.debug), *assembler, architecture, options);
  code.binary = std::move(assembled.cubin);
  code.metadata.registers = assembled.report.registers;
  code.metadata.spilledBytes = assembled.report.spilledBytes;
  code.metadata.remarks = std::move(assembled.report.remarks);
  return code;
}

namespace {
struct ArchitectureOption : PassPipelineOptions<ArchitectureOption> {
  Option<std::string> architecture{*this, "architecture", llvm::cl::desc("compute capability"), llvm::cl::init("90")};

  // Lives as long as the passes that hold it.
  const Instructions &instructions() const {
    static std::map<int, std::unique_ptr<Instructions>> made;
    const Architecture &row = architectureNamed(architecture);
    std::unique_ptr<Instructions> &known = made[row.capability];
    if (!known)
      known = std::make_unique<Instructions>(row);
    return *known;
  }
};
} // namespace

void CudaTarget::registerPasses() const {
  simt::registerGpuPasses();
  // Each with the option architecture=90.
  auto add = [](llvm::StringRef name, llvm::StringRef description,
                void (*build)(OpPassManager &passes, const Instructions &instructions)) {
    PassPipelineRegistration<ArchitectureOption>(
        name, description,
        [build](OpPassManager &passes, const ArchitectureOption &option) { build(passes, option.instructions()); });
  };
  add("cuda-expand-dots", "expand-dots for an NVIDIA GPU", [](OpPassManager &passes, const Instructions &instructions) {
    passes.addNestedPass<func::FuncOp>(simt::createExpandDots(instructions));
  });
  add("cuda-choose-dots", "choose-dots for an NVIDIA GPU", [](OpPassManager &passes, const Instructions &instructions) {
    passes.addPass(simt::createChooseDots(instructions));
  });
  add("cuda-software-pipeline", "software-pipeline for an NVIDIA GPU",
      [](OpPassManager &passes, const Instructions &instructions) {
        passes.addNestedPass<func::FuncOp>(
            simt::createSoftwarePipeline(simt::SoftwarePipelineOptions::of(instructions)));
      });
  add("cuda-specialize", "specialize for an NVIDIA GPU", [](OpPassManager &passes, const Instructions &instructions) {
    passes.addPass(simt::createSpecialize({.pipeline = simt::SoftwarePipelineOptions::of(instructions)}));
  });
  add("cuda-lower-to-llvm", "lower-to-llvm for an NVIDIA GPU, and the conversions to LLVM's dialect behind it",
      [](OpPassManager &passes, const Instructions &instructions) {
        passes.addPass(simt::createLowerToLLVM(instructions));
        addConversionsToLLVM(passes);
      });
}
