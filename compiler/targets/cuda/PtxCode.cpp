// See PtxCode.h.
#include "compiler/targets/cuda/PtxCode.h"
#include "compiler/targets/LLVMOptions.h"
#include "compiler/targets/cuda/DeviceFunctions.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/IR/TrackingMDRef.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/ErrorHandling.h"

using namespace nacre;
using namespace nacre::cuda;

extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

static void initializeOnce() {
  static const bool done = [] {
    setLLVMOption("nvptx-short-ptr", true); // addresses of shared memory take 32 bits
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)done;
}

std::unique_ptr<llvm::TargetMachine> nacre::cuda::makeTargetMachine(const Architecture &architecture,
                                                                    const TargetOptions &options) {
  initializeOnce();
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string problem;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, problem);
  if (!target)
    llvm::report_fatal_error(llvm::StringRef(problem));
  llvm::TargetOptions targetOptions;
  // Operations say themselves whether they may be fused: those of the kernel may, the steps of expanded functions not.
  targetOptions.AllowFPOpFusion = options.fpFusion ? llvm::FPOpFusion::Standard : llvm::FPOpFusion::Strict;
  std::string features = "+ptx" + std::to_string(architecture.ptxVersion);
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, architecture.name, features, targetOptions, llvm::Reloc::PIC_, std::nullopt,
                                  llvm::CodeGenOptLevel::Aggressive));
}

void nacre::cuda::waitForEarlierKernels(llvm::Function &kernel) {
  const char *text = "griddepcontrol.wait;";
  for (llvm::Instruction &instruction : llvm::instructions(kernel))
    if (auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction))
      if (auto *assembly = llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()))
        if (llvm::StringRef(assembly->getAsmString()).contains("griddepcontrol.wait"))
          return;
  auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(kernel.getContext()), /*isVarArg=*/false);
  auto *wait = llvm::InlineAsm::get(type, text, "~{memory}", /*hasSideEffects=*/true);
  auto place = kernel.getEntryBlock().begin();
  while (!place->isTerminator() && !place->mayReadOrWriteMemory())
    ++place;
  llvm::CallInst::Create(type, wait, "", place)->setDebugLoc(place->getDebugLoc());
}

namespace {
// Keeps the lines of accesses that passes move. LLVM takes the line from an instruction that leaves its block, as a
// debugger wants it; tools that tell of accesses (simulator, compute-sanitizer, samples of lines) want to know whose it
// was. An annotation is metadata that stays with a moved instruction.
class LinesOfAccesses {
public:
  explicit LinesOfAccesses(llvm::Module &module) : module(module) {
    forEachAccess([&](llvm::Instruction &access) {
      llvm::DILocation *line = access.getDebugLoc().get();
      if (!line)
        return;
      llvm::LLVMContext &context = module.getContext();
      llvm::Metadata *name = llvm::MDString::get(context, prefix + std::to_string(lines.size()));
      access.setMetadata(llvm::LLVMContext::MD_annotation, llvm::MDNode::get(context, name));
      lines.emplace_back(line);
    });
  }

  // Gives them back where they are gone, and takes the annotations away.
  void restore() {
    forEachAccess([&](llvm::Instruction &access) {
      llvm::DILocation *line = lineOf(access.getMetadata(llvm::LLVMContext::MD_annotation));
      access.setMetadata(llvm::LLVMContext::MD_annotation, nullptr);
      const llvm::DILocation *left = access.getDebugLoc().get();
      bool isOurs = line && line->getInlinedAtScope()->getSubprogram() == access.getFunction()->getSubprogram();
      if (isOurs && (!left || left->getLine() == 0))
        access.setDebugLoc(line);
    });
  }

private:
  static constexpr const char *prefix = "nacre.access.";

  template <typename Visit> void forEachAccess(Visit visit) {
    for (llvm::Function &function : module)
      for (llvm::Instruction &instruction : llvm::instructions(function))
        if (llvm::isa<llvm::LoadInst, llvm::StoreInst, llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(instruction))
          visit(instruction);
  }

  llvm::DILocation *lineOf(llvm::MDNode *annotation) const {
    size_t number = 0;
    if (annotation)
      for (const llvm::MDOperand &operand : annotation->operands())
        if (auto *name = llvm::dyn_cast_or_null<llvm::MDString>(operand.get()))
          if (llvm::StringRef rest = name->getString();
              rest.consume_front(prefix) && !rest.getAsInteger(10, number) && number < lines.size())
            return llvm::cast<llvm::DILocation>(lines[number].get());
    return nullptr;
  }

  llvm::Module &module;
  std::vector<llvm::TrackingMDRef> lines;
};
} // namespace

void nacre::cuda::optimize(llvm::Module &module, llvm::TargetMachine &machine,
                           llvm::PassInstrumentationCallbacks *callbacks, bool hasLibraries) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = tuning.LoopUnrolling = tuning.LoopInterleaving = false;
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
  llvm::ModulePassManager passes;
  // Which of a library's variants a GPU takes is asked by __nvvm_reflect; what is then dead goes before it costs time.
  std::string text = hasLibraries ? "nvvm-reflect,function(simplifycfg),always-inline,cgscc(inline),globaldce," : "";
  text += "function(sroa,early-cse,instcombine<no-verify-fixpoint>,loop-mssa(loop-rotate,licm),gvn,"
          "instcombine<no-verify-fixpoint>,simplifycfg,adce)";
  if (llvm::Error error = builder.parsePassPipeline(passes, text))
    llvm::report_fatal_error(std::move(error));
  LinesOfAccesses lines(module);
  passes.run(module, modules);
  lines.restore();
}

namespace {
// Leaves out passes of LLVM's code generator, by their arguments' names. It is no pass of a pipeline that is ours to
// put together.
class PassesLeftOut : public llvm::OptPassGate {
public:
  PassesLeftOut(llvm::LLVMContext &context, llvm::SmallVector<llvm::StringRef> names)
      : context(context), before(context.getOptPassGate()), names(std::move(names)) {
    context.setOptPassGate(*this);
  }
  ~PassesLeftOut() override { context.setOptPassGate(before); }
  bool shouldRunPass(llvm::StringRef pass, llvm::StringRef) const override { return !llvm::is_contained(names, pass); }
  bool isEnabled() const override { return true; }

private:
  llvm::LLVMContext &context;
  llvm::OptPassGate &before;
  llvm::SmallVector<llvm::StringRef> names;
};
} // namespace

static size_t longestBlock(const llvm::Module &module) {
  size_t longest = 0;
  for (const llvm::Function &function : module)
    for (const llvm::BasicBlock &block : function)
      longest = std::max(longest, block.size());
  return longest;
}

// Tiles become straight code, of thousands of instructions where threads have much of a tile. Passes that take the
// square of a block's length do not see long ones: the vectorizer of accesses, which are vectors already where the
// layouts say so, and the folding of addresses, which the assembler does too. Checked kernels need not be as fast.
static constexpr size_t longBlock = 8192, longCheckedBlock = 1024;

// PTX has one line for an instruction, and LLVM's NVPTX names no callers. What comes of the standard library stands for
// the line of the kernel, or of the user's function, that calls it: compute-sanitizer, profilers and the simulator show
// that one.
static void nameCallersOfLibrary(llvm::Module &module) {
  auto isOfLibrary = [](const llvm::DILocation &line) { return line.getFilename().starts_with("nacre/language/"); };
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      llvm::DILocation *line = instruction.getDebugLoc().get();
      while (line && isOfLibrary(*line) && line->getInlinedAt())
        line = line->getInlinedAt();
      if (line != instruction.getDebugLoc().get())
        instruction.setDebugLoc(line);
    }
}

std::string nacre::cuda::emitPtx(llvm::Module &module, llvm::TargetMachine &machine, bool isChecked) {
  // Of strength reduction in straight code the assembler leaves no trace, and it takes most of the time where addresses
  // are many.
  llvm::SmallVector<llvm::StringRef> needless = {"slsr"};
  if (longestBlock(module) > (isChecked ? longCheckedBlock : longBlock))
    needless.append({"load-store-vectorizer", "codegenprepare"});
  PassesLeftOut leftOut(module.getContext(), std::move(needless));
  nameCallersOfLibrary(module);
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile);
  passes.run(module);
  return std::string(bytes.data(), bytes.size());
}

bool nacre::cuda::prints(const llvm::Module &module) {
  const llvm::Function *function = module.getFunction(printFunction);
  return function && !function->use_empty();
}

bool nacre::cuda::prints(llvm::StringRef ptx) { return ptx.contains(printFunction); }
