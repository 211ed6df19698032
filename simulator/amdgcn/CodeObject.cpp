// Reads a code object: the ELF file, the kernels' descriptors and the metadata.
#include "simulator/amdgcn/CodeObject.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include <algorithm>

namespace nacre::simulator::amdgcn {
namespace {

using Elf = llvm::object::ELF64LEObjectFile;

template <typename T> T must(llvm::Expected<T> value) {
  if (!value)
    throw Error("the code object cannot be read: " + llvm::toString(value.takeError()));
  return std::move(*value);
}

class DwarfLines : public DebugLines {
public:
  DwarfLines(std::unique_ptr<llvm::MemoryBuffer> buffer, std::unique_ptr<llvm::object::ObjectFile> object)
      : buffer(std::move(buffer)), object(std::move(object)), context(llvm::DWARFContext::create(*this->object)) {}
  std::string place(uint64_t address) override {
    std::optional<llvm::DILineInfo> line =
        context->getLineInfoForAddress({address, llvm::object::SectionedAddress::UndefSection});
    if (!line || line->Line == 0)
      return "";
    return line->FileName + ":" + std::to_string(line->Line);
  }
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  std::unique_ptr<llvm::object::ObjectFile> object;
  std::unique_ptr<llvm::DWARFContext> context;
};

template <typename T> T field(const std::byte *bytes, unsigned offset) {
  T value;
  std::memcpy(&value, bytes + offset, sizeof value);
  return value;
}

// The 64 bytes of a kernel descriptor, as LLVM's documentation of AMDGPU lays them out.
void readDescriptor(const std::byte *bytes, uint64_t address, const Processor &processor, Kernel &kernel) {
  kernel.info.ldsBytes = field<uint32_t>(bytes, 0);
  kernel.privateBytes = kernel.info.scratchBytes = field<uint32_t>(bytes, 4);
  kernel.info.kernargBytes = field<uint32_t>(bytes, 8);
  kernel.entry = address + static_cast<uint64_t>(field<int64_t>(bytes, 16));
  auto first = field<uint32_t>(bytes, 48), second = field<uint32_t>(bytes, 52);
  auto properties = field<uint16_t>(bytes, 56), preload = field<uint16_t>(bytes, 58);
  kernel.mode = first >> 12 & 0xff; // rounding and denormals
  kernel.scratchOffset = (second & 1) && !processor.architectedScratch;
  kernel.userScalars = second >> 1 & 31;
  kernel.groupIdX = second >> 7 & 1;
  kernel.groupIdY = second >> 8 & 1;
  kernel.groupIdZ = second >> 9 & 1;
  kernel.groupInfo = second >> 10 & 1;
  kernel.workItemIds = second >> 11 & 3;
  kernel.privateBuffer = properties & 1;
  kernel.dispatchPointer = properties >> 1 & 1;
  kernel.queuePointer = properties >> 2 & 1;
  kernel.kernargPointer = properties >> 3 & 1;
  kernel.dispatchId = properties >> 4 & 1;
  kernel.flatScratch = properties >> 5 & 1;
  kernel.privateSize = properties >> 6 & 1;
  kernel.lanes = (properties >> 10 & 1) ? 32 : 64;
  kernel.preloadedWords = preload & 127;
  kernel.preloadOffset = preload >> 7;
  if (kernel.preloadedWords)
    kernel.entry += 256; // past the code that loads what hardware without preloading did not
}

void readMetadata(const Elf &elf, std::vector<Kernel> &kernels) {
  const auto &file = elf.getELFFile();
  for (const auto &header : must(file.sections())) {
    if (header.sh_type != llvm::ELF::SHT_NOTE)
      continue;
    llvm::Error problem = llvm::Error::success();
    for (auto note : file.notes(header, problem)) {
      if (note.getName() != "AMDGPU" || note.getType() != llvm::ELF::NT_AMDGPU_METADATA)
        continue;
      llvm::msgpack::Document document;
      if (!document.readFromBlob(note.getDescAsStringRef(4), false))
        throw Error("the metadata of the code object cannot be read");
      auto text = [](llvm::msgpack::DocNode node) { return node.isString() ? node.getString().str() : std::string(); };
      auto number = [](llvm::msgpack::DocNode node) {
        return node.getKind() == llvm::msgpack::Type::Int    ? static_cast<uint32_t>(node.getInt())
               : node.getKind() == llvm::msgpack::Type::UInt ? static_cast<uint32_t>(node.getUInt())
                                                             : 0u;
      };
      auto &list = document.getRoot().getMap(true)["amdhsa.kernels"];
      if (!list.isArray())
        continue;
      for (auto &node : list.getArray()) {
        auto &map = node.getMap();
        std::string name = text(map[".name"]);
        for (Kernel &kernel : kernels)
          if (kernel.info.name == name && map[".args"].isArray())
            for (auto &argument : map[".args"].getArray()) {
              auto &fields = argument.getMap();
              kernel.info.arguments.push_back(
                  {number(fields[".offset"]), number(fields[".size"]), text(fields[".value_kind"])});
            }
      }
    }
    if (problem)
      throw Error("the notes of the code object cannot be read: " + llvm::toString(std::move(problem)));
  }
}

// Addresses of the image's own things, stored in its data.
void relocate(const Elf &elf, std::vector<std::byte> &image) {
  auto base = reinterpret_cast<uint64_t>(image.data());
  for (const auto &header : must(elf.getELFFile().sections())) {
    if (header.sh_type != llvm::ELF::SHT_RELA)
      continue;
    for (const auto &entry : must(elf.getELFFile().relas(header))) {
      uint32_t type = entry.getType(false);
      if (type != llvm::ELF::R_AMDGPU_RELATIVE64)
        throw Error("the code object refers to something outside of it (relocation " + std::to_string(type) + ")");
      uint64_t value = base + static_cast<uint64_t>(entry.r_addend);
      if (entry.r_offset + sizeof value > image.size())
        throw Error("a relocation of the code object lies outside of it");
      std::memcpy(image.data() + entry.r_offset, &value, sizeof value);
    }
  }
}

} // namespace

static Processor processorOf(unsigned flags) {
  switch (flags & llvm::ELF::EF_AMDGPU_MACH) {
  case llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX90A:
    return {.name = "gfx90a", .architectedScratch = false};
  case llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX942:
    return {.name = "gfx942"};
  case llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX950:
    return {.name = "gfx950", .ldsBytes = 160 * 1024, .ldsBanks = 64};
  case llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1100:
    return {.name = "gfx1100", .generation = 11, .zeroesHighHalf = false};
  case llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1201:
    return {.name = "gfx1201", .generation = 12, .groupIdsInTemporaries = true, .zeroesHighHalf = false};
  default:
    throw Error(
        "the code object is of a processor that is not simulated; gfx90a, gfx942, gfx950, gfx1100 and gfx1201 are");
  }
}

std::unique_ptr<Program> loadProgram(std::string_view bytes) {
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(bytes.data(), bytes.size()), "code object");
  auto object = must(llvm::object::ObjectFile::createELFObjectFile(buffer->getMemBufferRef()));
  auto *elf = llvm::dyn_cast<Elf>(object.get());
  if (!elf || elf->getELFFile().getHeader().e_machine != llvm::ELF::EM_AMDGPU ||
      elf->getELFFile().getHeader().e_type != llvm::ELF::ET_DYN)
    throw Error("it is not a linked code object of an AMD GPU");
  auto program = std::make_unique<Program>();
  program->processor = processorOf(elf->getELFFile().getHeader().e_flags);
  for (const auto &segment : must(elf->getELFFile().program_headers())) {
    if (segment.p_type != llvm::ELF::PT_LOAD)
      continue;
    if (segment.p_vaddr + segment.p_memsz > (1ull << 32) || segment.p_offset + segment.p_filesz > bytes.size() ||
        segment.p_filesz > segment.p_memsz)
      throw Error("a segment of the code object lies outside of it");
    program->image.resize(std::max<size_t>(program->image.size(), segment.p_vaddr + segment.p_memsz));
    std::memcpy(program->image.data() + segment.p_vaddr, bytes.data() + segment.p_offset, segment.p_filesz);
    if (segment.p_flags & llvm::ELF::PF_X)
      program->code.push_back({segment.p_vaddr, segment.p_vaddr + segment.p_memsz});
  }
  relocate(*elf, program->image);
  for (const auto &symbol : elf->getDynamicSymbolIterators()) {
    std::string symbolName = must(symbol.getName()).str();
    if (!symbolName.ends_with(".kd"))
      continue;
    uint64_t address = must(symbol.getAddress());
    if (address + 64 > program->image.size())
      throw Error("the descriptor of `" + symbolName + "` lies outside of the code object");
    Kernel kernel;
    kernel.info.name = symbolName.substr(0, symbolName.size() - 3);
    readDescriptor(program->image.data() + address, address, program->processor, kernel);
    program->kernels.push_back(std::move(kernel));
  }
  readMetadata(*elf, program->kernels);
  program->lines = std::make_unique<DwarfLines>(std::move(buffer), std::move(object));
  return program;
}

void Program::prepare(unsigned lanesOfKernel) {
  if (decoder && lanes == lanesOfKernel)
    return;
  for (auto &instruction : instructions)
    if (instruction)
      earlier.push_back(std::move(instruction));
  instructions.clear();
  instructions.resize(image.size() / 4 + 1);
  lanes = lanesOfKernel;
  decoder = makeDecoder(processor, lanes);
}

const Instruction &instructionAt(Program &program, uint64_t address) {
  bool isCode = std::any_of(program.code.begin(), program.code.end(), [&](const Program::CodeRange &range) {
    return address >= range.begin && address < range.end;
  });
  if (!isCode || address % 4 != 0)
    throw Error("the kernel jumps to " + std::to_string(address) + ", which is not its code");
  std::unique_ptr<Instruction> &known = program.instructions[address / 4];
  if (known)
    return *known;
  auto instruction = std::make_unique<Instruction>();
  instruction->address = address;
  auto *bytes = reinterpret_cast<const uint8_t *>(program.image.data()) + address;
  std::string text =
      program.decoder->decode(bytes, std::min<size_t>(20, program.image.size() - address), address, instruction->bytes);
  if (text.empty())
    throw Error("what stands at " + placeOf(program, address) + " is no instruction of " + program.processor.name);
  parse(text, program.processor, program.lanes, *instruction);
  for (const Instruction *half = instruction.get(); half; half = half->second.get())
    if (!half->handler)
      throw Error("`" + half->mnemonic + "` is not simulated (`" + half->text + "` at " + placeOf(program, address) +
                  ")");
  known = std::move(instruction);
  return *known;
}

void Program::checkReachable(uint64_t entry) {
  std::vector<uint64_t> open{entry};
  std::vector<bool> seen(image.size() / 4 + 1);
  while (!open.empty()) {
    uint64_t address = open.back();
    open.pop_back();
    while (address / 4 < seen.size() && !seen[address / 4]) {
      seen[address / 4] = true;
      const Instruction &instruction = instructionAt(*this, address);
      const std::string &name = instruction.mnemonic;
      bool jumps = name == "s_branch" || name.starts_with("s_cbranch_");
      if (jumps)
        open.push_back(instruction.next() +
                       static_cast<uint64_t>(4 * int64_t(static_cast<int16_t>(instruction.operands.at(0).integer))));
      if (name == "s_branch" || name == "s_endpgm" || name.starts_with("s_setpc") || name.starts_with("s_swappc"))
        break;
      address = instruction.next();
    }
  }
}

uint64_t hostAddress(const Program &program, uint64_t address) {
  return reinterpret_cast<uint64_t>(program.image.data()) + address;
}
uint64_t codeAddress(const Program &program, uint64_t host) {
  return host - reinterpret_cast<uint64_t>(program.image.data());
}

std::string placeOf(Program &program, uint64_t address) {
  if (program.lines)
    if (std::string line = program.lines->place(address); !line.empty())
      return line;
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
  return text;
}

} // namespace nacre::simulator::amdgcn
