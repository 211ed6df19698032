// A code object in memory: its image, its kernels, its instructions as they are reached.
#pragma once

#include "simulator/amdgcn/Machine.h"

namespace nacre::simulator::amdgcn {

// What a kernel descriptor asks for, and what the metadata says of the kernel.
struct Kernel {
  KernelInfo info;
  uint64_t entry = 0;
  unsigned lanes = 64;
  uint32_t privateBytes = 0;
  uint32_t mode = 0; // the register MODE at the start
  unsigned userScalars = 0;
  bool privateBuffer = false, dispatchPointer = false, queuePointer = false, kernargPointer = false, dispatchId = false,
       flatScratch = false, privateSize = false;
  unsigned preloadedWords = 0, preloadOffset = 0;
  bool groupIdX = false, groupIdY = false, groupIdZ = false, groupInfo = false, scratchOffset = false;
  unsigned workItemIds = 0; // the last dimension whose id is given
};

// LLVM's disassembler and printer for one processor and size of wave.
class Decoder {
public:
  virtual ~Decoder() = default;
  // The text of an instruction and its size; an empty text: it is none.
  virtual std::string decode(const uint8_t *bytes, size_t size, uint64_t address, uint32_t &length) = 0;
};
std::unique_ptr<Decoder> makeDecoder(const Processor &processor, unsigned lanes);

struct DebugLines {
  virtual ~DebugLines() = default;
  virtual std::string place(uint64_t address) = 0; // "file:line", or nothing
};

struct Program {
  Processor processor;
  std::vector<Kernel> kernels;
  std::vector<std::byte> image; // the loaded segments, by address
  struct CodeRange {
    uint64_t begin, end;
  };
  std::vector<CodeRange> code;
  std::unique_ptr<DebugLines> lines;
  unsigned lanes = 64; // of the kernel that runs
  std::unique_ptr<Decoder> decoder;
  std::vector<std::unique_ptr<Instruction>> instructions; // by word of the image
  std::vector<std::unique_ptr<Instruction>> earlier;      // of another size of wave: reports name them

  void prepare(unsigned lanesOfKernel);
  // Decodes all that a kernel may reach by known branches. Throws Error for what is not simulated.
  void checkReachable(uint64_t entry);
};

std::unique_ptr<Program> loadProgram(std::string_view bytes);
Report runKernel(Program &program, const Kernel &kernel, const Launch &launch);

} // namespace nacre::simulator::amdgcn
