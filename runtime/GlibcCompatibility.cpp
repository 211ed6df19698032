// Two functions of newer C libraries that libstdc++ and libgcc, linked statically, ask for. With these of our own the
// wheel runs with glibc 2.34 (Ubuntu 22.04, RHEL 9).
#include <cstdint>
#include <cstdlib>
#include <link.h>
#include <sys/random.h>

extern "C" {

// Since 2.36; std::random_device uses it.
__attribute__((visibility("hidden"))) uint32_t arc4random() {
  uint32_t value;
  if (getrandom(&value, sizeof(value), 0) != sizeof(value))
    abort();
  return value;
}

// Since 2.35; the unwinder finds the tables of the code that an exception passes through with it.
__attribute__((visibility("hidden"))) int _dl_find_object(void *address, dl_find_object *result) {
  struct Search {
    uintptr_t address;
    dl_find_object *result;
  } search{reinterpret_cast<uintptr_t>(address), result};
  auto visit = [](dl_phdr_info *info, size_t, void *data) -> int {
    auto *search = static_cast<Search *>(data);
    uintptr_t lowest = UINTPTR_MAX, highest = 0;
    bool contains = false;
    void *frameTable = nullptr;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const ElfW(Phdr) &header = info->dlpi_phdr[i];
      uintptr_t begin = info->dlpi_addr + header.p_vaddr, end = begin + header.p_memsz;
      if (header.p_type == PT_LOAD) {
        contains |= search->address >= begin && search->address < end;
        lowest = begin < lowest ? begin : lowest;
        highest = end > highest ? end : highest;
      } else if (header.p_type == PT_GNU_EH_FRAME) {
        frameTable = reinterpret_cast<void *>(begin);
      }
    }
    if (!contains || !frameTable)
      return 0;
    *search->result = {};
    search->result->dlfo_map_start = reinterpret_cast<void *>(lowest);
    search->result->dlfo_map_end = reinterpret_cast<void *>(highest);
    search->result->dlfo_eh_frame = frameTable;
    return 1;
  };
  return dl_iterate_phdr(visit, &search) == 1 ? 0 : -1;
}

} // extern "C"
