// The linker of this target: one object file to a code object, a shared library of ELF that HIP loads.
//
// A kernel is one object file, and needs nothing of others. What is left for a linker is to lay its sections out, to
// write the differences between them that the assembler left open, and to say in tables what there is and where. LLVM's
// own, lld, would bring the code generators of every machine along.
//
//   headers, .note, .dynsym, .hash, .dynstr, .rodata...   read          PT_LOAD, PT_NOTE
//   .text                                                  executed     PT_LOAD
//   .dynamic                                               read, written PT_LOAD, PT_DYNAMIC
//   .debug_... and others, .symtab, .strtab, .shstrtab     not loaded
//
// Each part begins at a page; addresses are offsets in the file.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace nacre::amd {

// An error says what the object has that such a file cannot be made of: a symbol that nothing defines, data that is
// written, an address that only the loader knows.
llvm::Expected<std::string> linked(llvm::StringRef object);

} // namespace nacre::amd
