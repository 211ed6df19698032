// See PtxCode.h.
#include "compiler/targets/cuda/PtxCode.h"
#include "compiler/targets/LLVMOptions.h"
#include "compiler/targets/ThreadCode.h"
#include "compiler/targets/cuda/DeviceFunctions.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/MC/TargetRegistry.h"
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

void nacre::cuda::optimize(llvm::Module &module, llvm::TargetMachine &machine,
                           llvm::PassInstrumentationCallbacks *callbacks, bool hasLibraries) {
  // Which of a library's variants a GPU takes is asked by __nvvm_reflect; what is then dead goes before it costs time.
  optimizeThreadCode(module, machine, callbacks,
                     hasLibraries ? "nvvm-reflect,function(simplifycfg),always-inline,cgscc(inline),globaldce," : "");
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
