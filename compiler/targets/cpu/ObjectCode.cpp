// LLVM IR to object code. See ObjectCode.h.
#include "compiler/targets/cpu/ObjectCode.h"
#include "compiler/language/meaning/Diagnostic.h"
#include "compiler/targets/LLVMOptions.h"
#include "compiler/targets/StageText.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/LegacyPassManager.h"
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
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/Instrumentation/AddressSanitizer.h"
#include <sys/syscall.h>
#include <unistd.h>

using namespace nacre;
using namespace nacre::cpu;

static void initializeOnce() {
  static bool done = [] {
    // The scheduler compares each access of a block with all others, up to so many; LLVM's own 1,000 take seconds where
    // a loop's body is long.
    setLLVMOption("dag-maps-huge-region", 100u);
    // The pass that splits copies of memory, so that stores just before them are forwarded, cannot bear accesses whose
    // extent is unknown: masked ones of AVX2. Kernels have next to no such copies.
    setLLVMOption("x86-disable-avoid-SFB", true);
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmParser();
    LLVMInitializeX86AsmPrinter();
    return true;
  }();
  (void)done;
}

std::string nacre::cpu::hostCpu() { return llvm::sys::getHostCPUName().str(); }

bool nacre::cpu::mayUseTileRegisters() {
  static const bool granted = [] {
    constexpr long requestPermission = 0x1023, tileData = 18; // of Linux's arch_prctl
    return syscall(SYS_arch_prctl, requestPermission, tileData) == 0;
  }();
  return granted;
}

std::string nacre::cpu::hostFeatures() {
  static const std::string features = [] {
    std::string text;
    for (auto &[name, present] : llvm::sys::getHostCPUFeatures()) {
      bool usable = present && (!name.starts_with("amx") || mayUseTileRegisters());
      text += (text.empty() ? "" : ",") + std::string(usable ? "+" : "-") + name.str();
    }
    return text;
  }();
  return features;
}

Machine nacre::cpu::meantMachine(const TargetOptions &options) {
  if (!options.architecture.empty())
    return {options.architecture, options.features};
  return {hostCpu(), hostFeatures() + (options.features.empty() ? "" : "," + options.features)};
}

// Throws for a feature that LLVM does not know: it would only warn.
static void checkFeatures(const llvm::MCSubtargetInfo &info, llvm::StringRef features) {
  for (llvm::StringRef feature : llvm::split(features, ',')) {
    llvm::StringRef name = feature.trim();
    if (name.empty())
      continue;
    bool isSigned = name.consume_front("+") || name.consume_front("-");
    bool known = llvm::any_of(info.getAllProcessorFeatures(), [&](auto &entry) { return name == entry.Key; });
    if (isSigned && known)
      continue;
    Diagnostic diagnostic;
    diagnostic.kind = Diagnostic::Kind::Argument;
    diagnostic.message = isSigned ? "unknown CPU feature '" + name.str() + "'"
                                  : "expected + or - before the CPU feature '" + name.str() + "'";
    diagnostic.hint = "NACRE_CPU_FEATURES takes LLVM's names with a sign, such as -avx512f,+fma";
    throw CompileError(diagnostic);
  }
}

std::unique_ptr<llvm::TargetMachine> nacre::cpu::makeTargetMachine(const TargetOptions &options) {
  initializeOnce();
  llvm::Triple triple("x86_64-unknown-linux-gnu");
  std::string problem;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, problem);
  Machine machineOf = meantMachine(options);
  const std::string &cpu = machineOf.cpu;
  llvm::TargetOptions targetOptions;
  targetOptions.AllowFPOpFusion = options.fpFusion ? llvm::FPOpFusion::Fast : llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::TargetMachine> machine;
  if (target)
    machine.reset(target->createTargetMachine(triple, cpu, machineOf.features, targetOptions, llvm::Reloc::PIC_,
                                              llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
  if (!machine || !machine->getMCSubtargetInfo()->isCPUStringValid(cpu)) {
    Diagnostic diagnostic;
    diagnostic.kind = Diagnostic::Kind::Argument;
    diagnostic.message = "unknown CPU '" + cpu + "'";
    diagnostic.hint = "NACRE_CPU_TARGET takes LLVM's names, such as x86-64-v3, skylake-avx512 or znver4";
    throw CompileError(diagnostic);
  }
  checkFeatures(*machine->getMCSubtargetInfo(), options.features);
  return machine;
}

// Runs the passes that `fill` gives for the builder.
template <typename Fill> static void runPasses(llvm::Module &module, llvm::PassBuilder &builder, Fill fill) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);
  fill().run(module, modules);
}

void nacre::cpu::optimize(llvm::Module &module, llvm::TargetMachine &machine,
                          llvm::PassInstrumentationCallbacks *callbacks, bool hasElementLoops) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = hasElementLoops;
  tuning.SLPVectorization = false;
  tuning.LoopInterleaving = false;
  tuning.LoopUnrolling = false; // a step already takes several registers
  llvm::PassBuilder builder(&machine, tuning, std::nullopt, callbacks);
  runPasses(module, builder, [&] { return builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2); });
}

void nacre::cpu::addAddressChecks(llvm::Module &module, llvm::TargetMachine &machine) {
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      function.addFnAttr(llvm::Attribute::SanitizeAddress);
  llvm::PassBuilder builder(&machine);
  runPasses(module, builder, [] {
    llvm::ModulePassManager passes;
    // Nobody would call a constructor: constants of kernels have no bounds of their own.
    passes.addPass(llvm::AddressSanitizerPass(llvm::AddressSanitizerOptions(), /*UseGlobalGC=*/false,
                                              /*UseOdrIndicator=*/false, llvm::AsanDtorKind::None,
                                              llvm::AsanCtorKind::None));
    return passes;
  });
}

static std::string emit(llvm::Module &module, llvm::TargetMachine &machine, llvm::CodeGenFileType kind) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  machine.addPassesToEmitFile(passes, stream, nullptr, kind);
  passes.run(module);
  return std::string(bytes.data(), bytes.size());
}

std::string nacre::cpu::emitObject(llvm::Module &module, llvm::TargetMachine &machine) {
  return emit(module, machine, llvm::CodeGenFileType::ObjectFile);
}

std::string nacre::cpu::emitAssembly(llvm::Module &module, llvm::TargetMachine &machine) {
  return emit(module, machine, llvm::CodeGenFileType::AssemblyFile);
}

std::string nacre::cpu::assemble(const std::string &text, const llvm::TargetMachine &machine) {
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
    failStage("asm", reported.empty() ? "it cannot be assembled" : reported);
  return std::string(bytes.data(), bytes.size());
}
