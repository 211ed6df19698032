// See Link.h.
#include "compiler/targets/amd/Link.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>
#include <vector>

using namespace llvm;
using namespace nacre;
using namespace nacre::amd;

namespace {

using File = object::ELF64LEFile;
using Header = object::ELF64LE::Ehdr;
using Segment = object::ELF64LE::Phdr;
using SectionHeader = object::ELF64LE::Shdr;
using Symbol = object::ELF64LE::Sym;
using Dynamic = object::ELF64LE::Dyn;

constexpr uint64_t page = 4096;

struct Section {
  std::string name, content;
  // In the file; in memory too, if it is loaded. Those that are not refer to each other by offsets.
  uint64_t address = 0;
  uint32_t type = ELF::SHT_PROGBITS;
  uint64_t flags = 0, alignment = 1, entrySize = 0;
  uint32_t link = 0, info = 0;
  bool isLoaded() const { return flags & ELF::SHF_ALLOC; }
  uint64_t base() const { return isLoaded() ? address : 0; }
};

template <typename T> void append(std::string &bytes, const T &value) {
  bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
}

// Names, one after the other.
struct Names {
  std::string content = std::string(1, '\0');
  uint32_t add(StringRef name) {
    if (name.empty())
      return 0;
    auto place = static_cast<uint32_t>(content.size());
    content += name;
    content += '\0';
    return place;
  }
};

class Linker {
public:
  explicit Linker(StringRef object) : object(object) {}

  Expected<std::string> run() {
    if (Error error = read())
      return std::move(error);
    place();
    if (Error error = relocate())
      return std::move(error);
    fillTables();
    return write();
  }

private:
  template <typename... Parts> Error refuse(const Parts &...parts) {
    return createStringError((Twine("") + ... + Twine(parts)));
  }

  Error read() {
    Expected<File> opened = File::create(object);
    if (!opened)
      return opened.takeError();
    file.emplace(std::move(*opened));
    auto found = file->sections();
    if (!found)
      return found.takeError();
    inputs = *found;
    places.assign(inputs.size(), 0);
    sections.emplace_back(); // the first entry of the table means none
    sections.back().type = ELF::SHT_NULL;
    auto takeWhere = [&](auto isWanted) -> Error {
      for (auto [number, input] : llvm::enumerate(inputs)) {
        bool isKept = input.sh_type == ELF::SHT_PROGBITS || input.sh_type == ELF::SHT_NOTE;
        if (!isKept || (input.sh_flags & ELF::SHF_EXCLUDE) || !isWanted(input))
          continue;
        auto name = file->getSectionName(input);
        auto content = file->getSectionContents(input);
        if (!name || !content)
          return joinErrors(name.takeError(), content.takeError());
        if ((input.sh_flags & ELF::SHF_ALLOC) && (input.sh_flags & ELF::SHF_WRITE) && input.sh_size)
          return refuse("the section ", *name, " is data that is written");
        places[number] = static_cast<uint32_t>(sections.size());
        Section &section = sections.emplace_back();
        section.name = name->str();
        section.content = toStringRef(*content).str();
        section.type = input.sh_type;
        section.flags = input.sh_flags;
        section.alignment = std::max<uint64_t>(input.sh_addralign, 1);
        section.entrySize = input.sh_entsize;
      }
      return Error::success();
    };
    auto isCode = [](const SectionHeader &input) { return (input.sh_flags & ELF::SHF_EXECINSTR) != 0; };
    auto isLoaded = [](const SectionHeader &input) { return (input.sh_flags & ELF::SHF_ALLOC) != 0; };
    if (Error error = takeWhere([&](const SectionHeader &input) { return input.sh_type == ELF::SHT_NOTE; }))
      return error;
    if (sections.size() == 1)
      return refuse("it has no notes about kernels");
    dynamicSymbols = add(".dynsym", ELF::SHT_DYNSYM, ELF::SHF_ALLOC, 8, sizeof(Symbol));
    hash = add(".hash", ELF::SHT_HASH, ELF::SHF_ALLOC, 4, 4);
    dynamicNames = add(".dynstr", ELF::SHT_STRTAB, ELF::SHF_ALLOC, 1, 0);
    if (Error error = takeWhere([&](const SectionHeader &input) {
          return isLoaded(input) && !isCode(input) && input.sh_type != ELF::SHT_NOTE;
        }))
      return error;
    firstCode = sections.size();
    if (Error error = takeWhere(isCode))
      return error;
    dynamic = add(".dynamic", ELF::SHT_DYNAMIC, ELF::SHF_ALLOC | ELF::SHF_WRITE, 8, sizeof(Dynamic));
    if (Error error =
            takeWhere([&](const SectionHeader &input) { return !isLoaded(input) && input.sh_type != ELF::SHT_NOTE; }))
      return error;
    symbols = add(".symtab", ELF::SHT_SYMTAB, 0, 8, sizeof(Symbol));
    names = add(".strtab", ELF::SHT_STRTAB, 0, 1, 0);
    sectionNames = add(".shstrtab", ELF::SHT_STRTAB, 0, 1, 0);
    return readSymbols();
  }

  size_t add(const char *name, uint32_t type, uint64_t flags, uint64_t alignment, uint64_t entrySize) {
    Section &section = sections.emplace_back();
    section.name = name, section.type = type, section.flags = flags;
    section.alignment = alignment, section.entrySize = entrySize;
    return sections.size() - 1;
  }

  // Local symbols come first, as in the object.
  Error readSymbols() {
    Names all, exported;
    append(sections[symbols].content, Symbol{});
    append(sections[dynamicSymbols].content, Symbol{});
    sections[symbols].info = 1;
    for (const SectionHeader &input : inputs) {
      if (input.sh_type != ELF::SHT_SYMTAB)
        continue;
      auto found = file->symbols(&input);
      auto strings = file->getStringTableForSymtab(input);
      if (!found || !strings)
        return joinErrors(found.takeError(), strings.takeError());
      given = *found;
      for (const Symbol &symbol : given) {
        auto name = symbol.getName(*strings);
        if (!name)
          return name.takeError();
        bool isPlaced = symbol.st_shndx < places.size() && places[symbol.st_shndx];
        if (symbol.getType() == ELF::STT_SECTION || name->empty() || (!isPlaced && symbol.st_shndx != ELF::SHN_ABS))
          continue;
        Symbol copy = symbol;
        copy.st_name = all.add(*name);
        if (isPlaced)
          copy.st_shndx = static_cast<uint16_t>(places[symbol.st_shndx]);
        append(sections[symbols].content, copy);
        if (symbol.getBinding() == ELF::STB_LOCAL) {
          sections[symbols].info = static_cast<uint32_t>(sections[symbols].content.size() / sizeof(Symbol));
        } else if (symbol.getVisibility() != ELF::STV_HIDDEN && isPlaced) {
          copy.st_name = exported.add(*name);
          append(sections[dynamicSymbols].content, copy);
          exportedNames.push_back(name->str());
        }
      }
    }
    sections[names].content = std::move(all.content);
    sections[dynamicNames].content = std::move(exported.content);
    sections[dynamicSymbols].info = 1;
    sections[symbols].link = static_cast<uint32_t>(names);
    sections[dynamicSymbols].link = sections[dynamic].link = static_cast<uint32_t>(dynamicNames);
    sections[hash].link = static_cast<uint32_t>(dynamicSymbols);
    Names headers;
    for (const Section &section : sections)
      nameOffsets.push_back(headers.add(section.name));
    sections[sectionNames].content = std::move(headers.content);
    fillHash();
    sections[dynamic].content.assign(6 * sizeof(Dynamic), '\0');
    return Error::success();
  }

  // One bucket: there are two symbols for each kernel.
  void fillHash() {
    auto count = static_cast<uint32_t>(exportedNames.size() + 1);
    std::string &table = sections[hash].content;
    auto put = [&](uint32_t value) { append(table, support::ulittle32_t(value)); };
    put(1), put(count), put(count > 1 ? 1 : 0), put(0);
    for (uint32_t number = 1; number < count; ++number)
      put(number + 1 < count ? number + 1 : 0);
  }

  void place() {
    uint64_t end = sizeof(Header) + segmentCount * sizeof(Segment);
    for (auto [number, section] : llvm::enumerate(sections)) {
      if (number == 0)
        continue;
      bool beginsPage = number == firstCode || number == dynamic;
      section.address = alignTo(end, beginsPage ? std::max(section.alignment, page) : section.alignment);
      end = section.address + section.content.size();
    }
    tableAddress = alignTo(end, 8);
  }

  Error relocate() {
    for (const SectionHeader &input : inputs) {
      if (input.sh_type != ELF::SHT_RELA || input.sh_info >= places.size() || !places[input.sh_info])
        continue;
      auto relocations = file->relas(input);
      if (!relocations)
        return relocations.takeError();
      Section &section = sections[places[input.sh_info]];
      for (const auto &relocation : *relocations)
        if (Error error = apply(section, relocation))
          return error;
    }
    return Error::success();
  }

  Error apply(Section &section, const object::ELF64LE::Rela &relocation) {
    uint32_t number = relocation.getSymbol(/*isMips64EL=*/false), type = relocation.getType(/*isMips64EL=*/false);
    if (number >= given.size())
      return refuse("a relocation has no symbol");
    const Symbol &symbol = given[number];
    uint64_t target = symbol.st_value;
    bool isPlaced = symbol.st_shndx < places.size() && places[symbol.st_shndx];
    if (isPlaced)
      target += sections[places[symbol.st_shndx]].base();
    else if (symbol.st_shndx != ELF::SHN_ABS)
      return refuse("nothing defines the symbol that is asked for at byte ", Twine(relocation.r_offset).str(), " of ",
                    section.name);
    uint64_t value = target + static_cast<uint64_t>(relocation.r_addend), here = section.base() + relocation.r_offset;
    bool isRelative = type == ELF::R_AMDGPU_REL32 || type == ELF::R_AMDGPU_REL64 || type == ELF::R_AMDGPU_REL32_LO ||
                      type == ELF::R_AMDGPU_REL32_HI;
    if (!isRelative && isPlaced && section.isLoaded())
      return refuse("the section ", section.name, " holds an address, which only a loader knows");
    unsigned size = 4;
    switch (type) {
    case ELF::R_AMDGPU_REL32:
    case ELF::R_AMDGPU_REL32_LO:
      value -= here;
      break;
    case ELF::R_AMDGPU_REL32_HI:
      value = (value - here) >> 32;
      break;
    case ELF::R_AMDGPU_REL64:
      value -= here;
      size = 8;
      break;
    case ELF::R_AMDGPU_ABS32:
    case ELF::R_AMDGPU_ABS32_LO:
      break;
    case ELF::R_AMDGPU_ABS32_HI:
      value >>= 32;
      break;
    case ELF::R_AMDGPU_ABS64:
      size = 8;
      break;
    default:
      return refuse("a relocation of type ", Twine(type).str(), " in ", section.name);
    }
    if (relocation.r_offset + size > section.content.size())
      return refuse("a relocation outside of ", section.name);
    support::ulittle64_t bytes(value);
    std::memcpy(section.content.data() + relocation.r_offset, &bytes, size);
    return Error::success();
  }

  // What is known once sections have addresses.
  void fillTables() {
    for (size_t table : {symbols, dynamicSymbols}) {
      std::string &content = sections[table].content;
      for (size_t at = sizeof(Symbol); at < content.size(); at += sizeof(Symbol)) {
        Symbol symbol;
        std::memcpy(&symbol, content.data() + at, sizeof symbol);
        if (symbol.st_shndx != ELF::SHN_ABS)
          symbol.st_value = symbol.st_value + sections[symbol.st_shndx].base();
        std::memcpy(content.data() + at, &symbol, sizeof symbol);
      }
    }
    std::string entries;
    auto put = [&](int64_t tag, uint64_t value) {
      Dynamic entry;
      entry.d_tag = tag;
      entry.d_un.d_val = value;
      append(entries, entry);
    };
    put(ELF::DT_SYMTAB, sections[dynamicSymbols].address);
    put(ELF::DT_SYMENT, sizeof(Symbol));
    put(ELF::DT_STRTAB, sections[dynamicNames].address);
    put(ELF::DT_STRSZ, sections[dynamicNames].content.size());
    put(ELF::DT_HASH, sections[hash].address);
    put(ELF::DT_NULL, 0);
    assert(entries.size() == sections[dynamic].content.size() && "its size was known before");
    sections[dynamic].content = std::move(entries);
  }

  Segment segment(uint32_t type, uint32_t flags, uint64_t begin, uint64_t end, uint64_t alignment) {
    Segment made{};
    made.p_type = type, made.p_flags = flags;
    made.p_offset = begin, made.p_vaddr = begin, made.p_paddr = begin;
    made.p_filesz = end - begin, made.p_memsz = end - begin;
    made.p_align = alignment;
    return made;
  }
  uint64_t endOf(const Section &section) const { return section.address + section.content.size(); }

  std::string write() {
    std::string bytes;
    Header header{};
    std::memcpy(&header, object.data(), sizeof header); // the machine, its flags and its loader's conventions
    header.e_type = ELF::ET_DYN;
    header.e_entry = 0;
    header.e_phoff = sizeof(Header);
    header.e_phentsize = sizeof(Segment);
    header.e_phnum = segmentCount;
    header.e_shoff = tableAddress;
    header.e_shnum = static_cast<uint16_t>(sections.size());
    header.e_shstrndx = static_cast<uint16_t>(sectionNames);
    append(bytes, header);
    const Section &last = sections[dynamic], &note = sections[1];
    append(bytes, segment(ELF::PT_LOAD, ELF::PF_R, 0, endOf(sections[firstCode - 1]), page));
    append(bytes, segment(ELF::PT_LOAD, ELF::PF_R | ELF::PF_X, sections[firstCode].address,
                          endOf(sections[dynamic - 1]), page));
    append(bytes, segment(ELF::PT_LOAD, ELF::PF_R | ELF::PF_W, last.address, endOf(last), page));
    append(bytes, segment(ELF::PT_DYNAMIC, ELF::PF_R | ELF::PF_W, last.address, endOf(last), 8));
    append(bytes, segment(ELF::PT_NOTE, ELF::PF_R, note.address, endOf(note), 4));
    for (const Section &section : drop_begin(sections)) {
      bytes.resize(section.address, '\0');
      bytes += section.content;
    }
    bytes.resize(tableAddress, '\0');
    for (auto [section, name] : zip_equal(sections, nameOffsets)) {
      SectionHeader made{};
      made.sh_name = name, made.sh_type = section.type, made.sh_flags = section.flags;
      made.sh_addr = section.base();
      made.sh_offset = section.address, made.sh_size = section.content.size();
      made.sh_link = section.link, made.sh_info = section.info;
      made.sh_addralign = section.alignment, made.sh_entsize = section.entrySize;
      append(bytes, made);
    }
    return bytes;
  }

  static constexpr uint16_t segmentCount = 5;

  StringRef object;
  std::optional<File> file;
  ArrayRef<SectionHeader> inputs;
  ArrayRef<Symbol> given;
  std::vector<Section> sections;
  std::vector<uint32_t> places; // of the object's sections among ours; 0: left out
  std::vector<uint32_t> nameOffsets;
  std::vector<std::string> exportedNames;
  size_t dynamicSymbols = 0, hash = 0, dynamicNames = 0, firstCode = 0, dynamic = 0, symbols = 0, names = 0,
         sectionNames = 0;
  uint64_t tableAddress = 0;
};

} // namespace

Expected<std::string> nacre::amd::linked(StringRef object) { return Linker(object).run(); }
