// Instructions as text, by LLVM's disassembler; source lines, by its reader of DWARF.
#include "simulator/amdgcn/CodeObject.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUDisassembler();
}

namespace nacre::simulator::amdgcn {
namespace {

class LLVMDecoder : public Decoder {
public:
  LLVMDecoder(const Processor &processor, unsigned lanes) : triple("amdgcn-amd-amdhsa") {
    static const bool ready = [] {
      LLVMInitializeAMDGPUTargetInfo();
      LLVMInitializeAMDGPUTargetMC();
      LLVMInitializeAMDGPUDisassembler();
      return true;
    }();
    (void)ready;
    std::string problem;
    const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, problem);
    if (!target)
      throw Error("LLVM was built without AMDGPU: " + problem);
    std::string features = lanes == 32 ? "+wavefrontsize32" : "+wavefrontsize64";
    if (processor.generation >= 11)
      features += ",+real-true16"; // halves of registers by name: v1.l, v1.h
    registers.reset(target->createMCRegInfo(triple));
    assembly.reset(target->createMCAsmInfo(*registers, triple, options));
    subtarget.reset(target->createMCSubtargetInfo(triple, processor.name, features));
    instructions.reset(target->createMCInstrInfo());
    context = std::make_unique<llvm::MCContext>(triple, assembly.get(), registers.get(), subtarget.get());
    disassembler.reset(target->createMCDisassembler(*subtarget, *context));
    printer.reset(
        target->createMCInstPrinter(triple, assembly->getAssemblerDialect(), *assembly, *instructions, *registers));
    if (!disassembler || !printer)
      throw Error("LLVM cannot disassemble the code of " + processor.name);
  }

  std::string decode(const uint8_t *bytes, size_t size, uint64_t address, uint32_t &length) override {
    llvm::MCInst instruction;
    uint64_t consumed = 0;
    auto status = disassembler->getInstruction(instruction, consumed, {bytes, size}, address, llvm::nulls());
    if (status != llvm::MCDisassembler::Success)
      return "";
    length = static_cast<uint32_t>(consumed);
    std::string text;
    llvm::raw_string_ostream stream(text);
    printer->printInst(&instruction, address, "", *subtarget, stream);
    return text;
  }

private:
  llvm::Triple triple;
  llvm::MCTargetOptions options;
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> assembly;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> disassembler;
  std::unique_ptr<llvm::MCInstPrinter> printer;
};

} // namespace

std::unique_ptr<Decoder> makeDecoder(const Processor &processor, unsigned lanes) {
  return std::make_unique<LLVMDecoder>(processor, lanes);
}

} // namespace nacre::simulator::amdgcn
