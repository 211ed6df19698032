#include "compiler/targets/cpu/Disassembly.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrAnalysis.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include <map>
#include <optional>

namespace nacre::cpu {

namespace {

// LLVM's machinery for one machine; every feature is known, since the code may be of another CPU.
class Machine {
public:
  explicit Machine(const llvm::Triple &triple) {
    static const bool prepared = [] {
      LLVMInitializeX86TargetInfo();
      LLVMInitializeX86TargetMC();
      LLVMInitializeX86Disassembler();
      return true;
    }();
    (void)prepared;
    std::string problem;
    target = llvm::TargetRegistry::lookupTarget(triple, problem);
    if (!target)
      return;
    registers.reset(target->createMCRegInfo(triple));
    assembly.reset(target->createMCAsmInfo(*registers, triple, options));
    subtarget.reset(target->createMCSubtargetInfo(triple, "", ""));
    instructions.reset(target->createMCInstrInfo());
    context = std::make_unique<llvm::MCContext>(triple, assembly.get(), registers.get(), subtarget.get());
    disassembler.reset(target->createMCDisassembler(*subtarget, *context));
    analysis.reset(target->createMCInstrAnalysis(instructions.get()));
    printer.reset(
        target->createMCInstPrinter(triple, assembly->getAssemblerDialect(), *assembly, *instructions, *registers));
    printer->setPrintImmHex(true);
    printer->setPrintBranchImmAsAddress(true);
  }

  const llvm::Target *target = nullptr;
  llvm::MCTargetOptions options;
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> assembly;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> disassembler;
  std::unique_ptr<llvm::MCInstrAnalysis> analysis;
  std::unique_ptr<llvm::MCInstPrinter> printer;
};

struct Decoded {
  llvm::MCInst instruction;
  uint64_t address, size;
  std::optional<uint64_t> target; // of a branch inside the function
  bool isKnown;
};

std::string orEmpty(llvm::Expected<llvm::StringRef> text) {
  if (text)
    return text->str();
  llvm::consumeError(text.takeError());
  return "";
}

// What is referred to at each address of a section: "expf", ".rodata + 64".
std::map<uint64_t, std::string> references(const llvm::object::ObjectFile &file,
                                           const llvm::object::SectionRef &section) {
  std::map<uint64_t, std::string> result;
  for (const llvm::object::SectionRef &other : file.sections()) {
    auto relocated = other.getRelocatedSection();
    if (!relocated || *relocated == file.section_end() || **relocated != section) {
      llvm::consumeError(relocated.takeError());
      continue;
    }
    for (const llvm::object::RelocationRef &relocation : other.relocations()) {
      auto symbol = relocation.getSymbol();
      if (symbol == file.symbol_end())
        continue;
      std::string text = orEmpty(symbol->getName());
      if (auto owner = symbol->getSection(); !owner)
        llvm::consumeError(owner.takeError());
      else if (text.empty() && *owner != file.section_end())
        text = orEmpty((*owner)->getName());
      result[relocation.getOffset()] = text;
    }
  }
  return result;
}

DisassembledFunction disassembleFunction(Machine &machine, llvm::DWARFContext &lines,
                                         const llvm::object::SectionRef &section, llvm::ArrayRef<uint8_t> bytes,
                                         uint64_t start, uint64_t size, const std::map<uint64_t, std::string> &names) {
  std::vector<Decoded> decoded;
  std::map<uint64_t, std::string> labels; // by address
  for (uint64_t at = start; at < start + size;) {
    Decoded next{{}, at, 0, std::nullopt, false};
    next.isKnown = machine.disassembler->getInstruction(next.instruction, next.size, bytes.slice(at, start + size - at),
                                                        at, llvm::nulls()) == llvm::MCDisassembler::Success;
    next.size = std::max<uint64_t>(next.size, 1);
    uint64_t target;
    if (next.isKnown && machine.analysis->evaluateBranch(next.instruction, at, next.size, target) && target >= start &&
        target < start + size && names.lower_bound(at) == names.lower_bound(at + next.size)) {
      next.target = target;
      labels[target] = "";
    }
    at += next.size;
    decoded.push_back(std::move(next));
  }
  int count = 0;
  for (auto &[address, label] : labels)
    label = "L" + std::to_string(count++);

  DisassembledFunction function;
  llvm::DILineInfoSpecifier wanted(llvm::DILineInfoSpecifier::FileLineInfoKind::AbsoluteFilePath);
  for (const Decoded &next : decoded) {
    if (auto label = labels.find(next.address); label != labels.end())
      function.instructions.push_back({next.address, "", 0, label->second + ":"});
    DisassembledInstruction shown;
    shown.address = next.address;
    if (auto info = lines.getLineInfoForAddress({next.address, section.getIndex()}, wanted); info && info->Line) {
      shown.file = info->FileName;
      shown.line = static_cast<int>(info->Line);
    }
    llvm::raw_string_ostream out(shown.text);
    if (next.isKnown)
      machine.printer->printInst(&next.instruction, next.address, "", *machine.subtarget, out);
    else
      out << ".byte 0x" << llvm::utohexstr(bytes[next.address], /*LowerCase=*/true);
    std::string text = llvm::StringRef(shown.text).trim().str();
    std::replace(text.begin(), text.end(), '\t', ' ');
    if (next.target)
      text = llvm::StringRef(text).rsplit(' ').first.str() + " " + labels[*next.target];
    if (auto name = names.lower_bound(next.address);
        name != names.end() && name->first < next.address + next.size && !name->second.empty())
      text += "  # " + name->second;
    shown.text = text;
    function.instructions.push_back(std::move(shown));
  }
  return function;
}

} // namespace

std::string disassemble(llvm::StringRef object, llvm::StringRef symbol, std::vector<DisassembledFunction> &functions) {
  auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "object"));
  if (!file)
    return llvm::toString(file.takeError());
  llvm::Triple triple((*file)->makeTriple());
  if (triple.getArch() != llvm::Triple::x86_64)
    return "they are not x86-64 code";
  Machine machine(triple);
  if (!machine.target)
    return "this build has no disassembler for them";
  std::unique_ptr<llvm::DWARFContext> lines = llvm::DWARFContext::create(**file);
  for (const llvm::object::SymbolRef &candidate : (*file)->symbols()) {
    auto type = candidate.getType();
    auto name = candidate.getName();
    auto section = candidate.getSection();
    auto value = candidate.getValue();
    bool isReadable = type && name && section && value;
    llvm::consumeError(type.takeError());
    llvm::consumeError(name.takeError());
    llvm::consumeError(section.takeError());
    llvm::consumeError(value.takeError());
    if (!isReadable || *type != llvm::object::SymbolRef::ST_Function || *section == (*file)->section_end() ||
        (!symbol.empty() && *name != symbol))
      continue;
    auto content = (*section)->getContents();
    if (!content)
      return llvm::toString(content.takeError());
    uint64_t size = llvm::object::ELFSymbolRef(candidate).getSize();
    if (*value + size > content->size())
      return "a function is larger than its section";
    functions.push_back(disassembleFunction(machine, *lines, **section, llvm::arrayRefFromStringRef(*content), *value,
                                            size, references(**file, **section)));
    functions.back().name = name->str();
  }
  if (functions.empty())
    return symbol.empty() ? "they hold no function" : "they hold no function `" + symbol.str() + "`";
  return "";
}

// Where the texts of the standard library say that they are.
static constexpr llvm::StringLiteral libraryFolder = "nacre/language/";

SourceLine lineOf(llvm::StringRef object, llvm::StringRef symbol, int64_t offset) {
  return linesOf(object, symbol, offset).front();
}

std::vector<SourceLine> linesOf(llvm::StringRef object, llvm::StringRef symbol, llvm::ArrayRef<int64_t> offsets) {
  std::vector<SourceLine> results(offsets.size());
  auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "object"));
  if (!file) {
    llvm::consumeError(file.takeError());
    return results;
  }
  std::unique_ptr<llvm::DWARFContext> lines = llvm::DWARFContext::create(**file);
  for (const llvm::object::SymbolRef &candidate : (*file)->symbols()) {
    auto name = candidate.getName();
    auto section = candidate.getSection();
    auto value = candidate.getValue();
    bool isFound = name && section && value && *name == symbol && *section != (*file)->section_end();
    for (size_t place = 0; isFound && place < offsets.size(); ++place) {
      SourceLine &result = results[place];
      llvm::object::SectionedAddress address{*value + static_cast<uint64_t>(offsets[place]), (*section)->getIndex()};
      llvm::DILineInfoSpecifier wanted(llvm::DILineInfoSpecifier::FileLineInfoKind::AbsoluteFilePath);
      llvm::DIInliningInfo calls = lines->getInliningInfoForAddress(address, wanted);
      for (uint32_t i = 0; i < calls.getNumberOfFrames() && result.line == 0; ++i) // the innermost first
        if (const llvm::DILineInfo &info = calls.getFrame(i); !llvm::StringRef(info.FileName).contains(libraryFolder))
          result = {info.FileName, static_cast<int>(info.Line)};
    }
    llvm::consumeError(name.takeError());
    llvm::consumeError(section.takeError());
    llvm::consumeError(value.takeError());
  }
  return results;
}

} // namespace nacre::cpu
