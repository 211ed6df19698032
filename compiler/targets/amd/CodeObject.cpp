// See CodeObject.h.
#include "compiler/targets/amd/CodeObject.h"
#include "compiler/language/meaning/Diagnostic.h"
#include "compiler/targets/StageText.h"
#include "compiler/targets/amd/Link.h"
#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
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
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/SourceMgr.h"

using namespace nacre;
using namespace nacre::amd;

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTarget();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUAsmPrinter();
void LLVMInitializeAMDGPUAsmParser();
}

static void initializeOnce() {
  static const bool done = [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
    LLVMInitializeAMDGPUAsmParser();
    return true;
  }();
  (void)done;
}

std::unique_ptr<llvm::TargetMachine> nacre::amd::makeTargetMachine(const Architecture &architecture,
                                                                   const TargetOptions &options) {
  initializeOnce();
  llvm::Triple triple("amdgcn-amd-amdhsa");
  std::string problem;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, problem);
  if (!target)
    llvm::report_fatal_error(llvm::StringRef(problem));
  llvm::TargetOptions targetOptions;
  // Operations say themselves whether they may be fused: those of the kernel may, the steps of expanded functions not.
  targetOptions.AllowFPOpFusion = options.fpFusion ? llvm::FPOpFusion::Standard : llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, architecture.name, options.features, targetOptions, llvm::Reloc::PIC_,
                                  std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

void nacre::amd::prepare(llvm::Module &module, uint64_t sharedBytes) {
  module.addModuleFlag(llvm::Module::Error, "amdhsa_code_object_version", 500); // 5, which every HIP since 5.5 loads
  // Atomics are of memory that is the GPU's own: over a bus to others only some of them work, and LLVM would make loops of
  // compare-and-swap of all. What it adds to may be a subnormal number, which some GPUs take for 0.
  // A division's arcp lets an f32 one be a few ulp off. LLVM would multiply by the reciprocal, also fp16, and a subnormal
  // number has none: 0x1p-24 / 0x1p-24 would be infinite.
  llvm::MDNode *nothing = llvm::MDNode::get(module.getContext(), {});
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (instruction.getOpcode() == llvm::Instruction::FDiv)
        instruction.setHasAllowReciprocal(false);
      else if (llvm::isa<llvm::AtomicRMWInst>(instruction))
        for (const char *name :
             {"amdgpu.no.remote.memory", "amdgpu.no.fine.grained.memory", "amdgpu.ignore.denormal.mode"})
          instruction.setMetadata(name, nothing);
  llvm::GlobalVariable *array = module.getGlobalVariable("shared_memory");
  if (!array)
    return;
  auto *type = llvm::ArrayType::get(llvm::Type::getInt8Ty(module.getContext()), sharedBytes);
  auto *placed = new llvm::GlobalVariable(module, type, /*isConstant=*/false, llvm::GlobalValue::InternalLinkage,
                                          llvm::PoisonValue::get(type), "", array, llvm::GlobalValue::NotThreadLocal,
                                          array->getAddressSpace());
  placed->takeName(array);
  placed->setAlignment(array->getAlign());
  array->replaceAllUsesWith(placed);
  array->eraseFromParent();
}

std::string nacre::amd::emitAssembly(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile);
  passes.run(module);
  return std::string(bytes.data(), bytes.size());
}

// ---- The assembler

// An object file that is not linked.
static std::string objectOf(const std::string &assembly, const llvm::TargetMachine &machine) {
  const llvm::Target &target = machine.getTarget();
  const llvm::Triple &triple = machine.getTargetTriple();
  llvm::SourceMgr sources;
  std::string problem;
  sources.setDiagHandler(
      [](const llvm::SMDiagnostic &found, void *text) {
        auto &first = *static_cast<std::string *>(text);
        if (first.empty() && found.getKind() == llvm::SourceMgr::DK_Error)
          first = "line " + std::to_string(found.getLineNo()) + ": " + found.getMessage().str();
      },
      &problem);
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(assembly, "kernel.amdgcn"), llvm::SMLoc());
  llvm::MCTargetOptions options;
  std::unique_ptr<llvm::MCRegisterInfo> registers(target.createMCRegInfo(triple));
  std::unique_ptr<llvm::MCAsmInfo> syntax(target.createMCAsmInfo(*registers, triple, options));
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      target.createMCSubtargetInfo(triple, machine.getTargetCPU(), machine.getTargetFeatureString()));
  std::unique_ptr<llvm::MCInstrInfo> instructions(target.createMCInstrInfo());
  llvm::MCContext context(triple, syntax.get(), registers.get(), subtarget.get(), &sources, &options);
  std::unique_ptr<llvm::MCObjectFileInfo> sections(target.createMCObjectFileInfo(context, /*PIC=*/true));
  context.setObjectFileInfo(sections.get());
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  std::unique_ptr<llvm::MCAsmBackend> backend(target.createMCAsmBackend(*subtarget, *registers, options));
  std::unique_ptr<llvm::MCObjectWriter> writer = backend->createObjectWriter(stream);
  std::unique_ptr<llvm::MCCodeEmitter> emitter(target.createMCCodeEmitter(*instructions, context));
  std::unique_ptr<llvm::MCStreamer> streamer(target.createMCObjectStreamer(
      triple, context, std::move(backend), std::move(writer), std::move(emitter), *subtarget));
  std::unique_ptr<llvm::MCAsmParser> parser(llvm::createMCAsmParser(sources, context, *streamer, *syntax));
  std::unique_ptr<llvm::MCTargetAsmParser> notation(
      target.createMCAsmParser(*subtarget, *parser, *instructions, options));
  parser->setTargetParser(*notation);
  if (parser->Run(/*NoInitialTextSection=*/true) || !problem.empty())
    failStage("amdgcn", problem.empty() ? "the assembler refuses it" : problem);
  return std::string(bytes.data(), bytes.size());
}

// ---- The linker

[[noreturn]] static void failLink(const std::string &message) {
  nacre::Diagnostic diagnostic;
  diagnostic.kind = nacre::Diagnostic::Kind::Internal;
  diagnostic.message = "the code object cannot be linked: " + message;
  throw CompileError(diagnostic);
}

// ---- The notes

static uint64_t numberOf(llvm::msgpack::MapDocNode &map, llvm::StringRef key) {
  auto found = map.find(key);
  return found != map.end() && found->second.getKind() == llvm::msgpack::Type::UInt ? found->second.getUInt() : 0;
}

// An ELF note of AMD's with a map of MessagePack.
static KernelFacts factsOf(llvm::StringRef bytes, const std::string &symbol) {
  using File = llvm::object::ELF64LEFile;
  llvm::Expected<File> file = File::create(bytes);
  if (!file)
    failLink(llvm::toString(file.takeError()));
  auto sections = file->sections();
  if (!sections)
    failLink(llvm::toString(sections.takeError()));
  KernelFacts facts;
  for (const auto &section : *sections) {
    if (section.sh_type != llvm::ELF::SHT_NOTE)
      continue;
    llvm::Error problem = llvm::Error::success();
    for (const auto &note : file->notes(section, problem)) {
      if (note.getName() != "AMDGPU" || note.getType() != llvm::ELF::NT_AMDGPU_METADATA)
        continue;
      llvm::msgpack::Document document;
      if (!document.readFromBlob(note.getDescAsStringRef(section.sh_addralign), /*Multi=*/false))
        continue;
      for (llvm::msgpack::DocNode &node : document.getRoot().getMap()["amdhsa.kernels"].getArray(/*Convert=*/true)) {
        llvm::msgpack::MapDocNode &kernel = node.getMap();
        if (kernel[".name"].toString() != symbol)
          continue;
        facts.registers = numberOf(kernel, ".vgpr_count");
        facts.spilledBytes = 4 * numberOf(kernel, ".vgpr_spill_count");
        facts.sharedBytes = numberOf(kernel, ".group_segment_fixed_size");
      }
    }
    if (problem)
      failLink(llvm::toString(std::move(problem)));
  }
  return facts;
}

CodeObject nacre::amd::assemble(const std::string &assembly, const std::string &symbol,
                                const llvm::TargetMachine &machine) {
  llvm::Expected<std::string> bytes = linked(objectOf(assembly, machine));
  if (!bytes)
    failLink(llvm::toString(bytes.takeError()));
  KernelFacts facts = factsOf(*bytes, symbol);
  return {std::move(*bytes), facts};
}
