// LLVM IR to object code. See ObjectCode.h.
#include "compiler/targets/cpu/ObjectCode.h"
#include "compiler/language/Diagnostic.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include <sys/syscall.h>
#include <unistd.h>

using namespace nacre;
using namespace nacre::cpu;

static void initialiseOnce() {
  static bool done = [] {
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

std::unique_ptr<llvm::TargetMachine> nacre::cpu::makeTargetMachine(const CpuOptions &options) {
  initialiseOnce();
  llvm::Triple triple("x86_64-unknown-linux-gnu");
  std::string problem;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, problem);
  bool isHost = options.cpu.empty() && options.features.empty();
  std::string cpu = options.cpu.empty() ? (isHost ? hostCpu() : "x86-64") : options.cpu;
  llvm::TargetOptions targetOptions;
  targetOptions.AllowFPOpFusion = options.fpFusion ? llvm::FPOpFusion::Fast : llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::TargetMachine> machine;
  if (target)
    machine.reset(target->createTargetMachine(triple, cpu, isHost ? hostFeatures() : options.features, targetOptions,
                                              llvm::Reloc::PIC_, llvm::CodeModel::Small,
                                              llvm::CodeGenOptLevel::Default));
  if (!machine || !machine->getMCSubtargetInfo()->isCPUStringValid(cpu)) {
    Diagnostic diagnostic;
    diagnostic.kind = Diagnostic::Kind::Argument;
    diagnostic.message = "unknown CPU '" + cpu + "'";
    diagnostic.hint = "NACRE_CPU_TARGET takes LLVM's names, such as x86-64-v3, skylake-avx512 or znver4";
    throw CompileError(diagnostic);
  }
  return machine;
}

void nacre::cpu::optimise(llvm::Module &module, llvm::TargetMachine &machine,
                          llvm::PassInstrumentationCallbacks *callbacks, bool hasElementLoops) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = hasElementLoops;
  tuning.SLPVectorization = false;
  tuning.LoopInterleaving = false;
  tuning.LoopUnrolling = false; // a step already takes several registers
  llvm::PassBuilder builder(&machine, tuning, std::nullopt, callbacks);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, modules);
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
