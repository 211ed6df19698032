// Finds the note that the linker left among the program headers of this very library.
#include "runtime/compile/BuildId.h"
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <link.h>

namespace nacre {

namespace {

struct Search {
  uintptr_t address;
  std::string found;
};

std::string readNote(const char *at, const char *end) {
  static const char digits[] = "0123456789abcdef";
  while (at + sizeof(ElfW(Nhdr)) <= end) {
    auto *header = reinterpret_cast<const ElfW(Nhdr) *>(at);
    const char *name = at + sizeof(*header);
    const char *data = name + (header->n_namesz + 3) / 4 * 4;
    if (header->n_type == NT_GNU_BUILD_ID && header->n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
      std::string text;
      for (uint32_t i = 0; i < header->n_descsz; ++i) {
        auto byte = static_cast<unsigned char>(data[i]);
        text += digits[byte >> 4];
        text += digits[byte & 15];
      }
      return text;
    }
    at = data + (header->n_descsz + 3) / 4 * 4;
  }
  return "";
}

int visit(dl_phdr_info *info, size_t, void *data) {
  auto *search = static_cast<Search *>(data);
  bool ours = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) &header = info->dlpi_phdr[i];
    uintptr_t begin = info->dlpi_addr + header.p_vaddr;
    ours |= header.p_type == PT_LOAD && search->address >= begin && search->address < begin + header.p_memsz;
  }
  if (!ours)
    return 0;
  for (int i = 0; i < info->dlpi_phnum && search->found.empty(); ++i) {
    const ElfW(Phdr) &header = info->dlpi_phdr[i];
    if (header.p_type == PT_NOTE) {
      auto *begin = reinterpret_cast<const char *>(info->dlpi_addr + header.p_vaddr);
      search->found = readNote(begin, begin + header.p_memsz);
    }
  }
  return 1;
}

} // namespace

const std::string &buildId() {
  static const std::string id = [] {
    Search search{reinterpret_cast<uintptr_t>(&visit), ""};
    dl_iterate_phdr(visit, &search);
    return search.found;
  }();
  return id;
}

const char *versionText() { return NACRE_VERSION; }

} // namespace nacre
