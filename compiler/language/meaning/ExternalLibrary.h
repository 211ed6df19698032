// A user's own library, as tl.extern_elementwise names it: what kind of file it is, what it holds, and whether a
// function in it can be called from a kernel. What is linked or loaded, and when, is the target's affair.
#pragma once

#include "compiler/language/meaning/ExternalFunction.h"
#include "compiler/language/meaning/Type.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <string>

namespace nacre {

// Which content a path has, as far as the file system tells without reading it.
struct FileStamp {
  std::string path;
  uint64_t device = 0, inode = 0, size = 0;
  int64_t changed = 0; // nanoseconds

  static FileStamp of(llvm::StringRef path); // all zero when there is no such file
  bool operator==(const FileStamp &) const = default;
  bool isCurrent() const { return *this == of(path); }
};

class ExternalLibrary {
public:
  enum class Kind { IR, Object, Archive, Shared }; // IR: bitcode or text

  // The library at `path`, read once for each content. The error says what is wrong with it.
  static llvm::Expected<std::shared_ptr<const ExternalLibrary>> find(llvm::StringRef path);

  const std::string path; // absolute
  const std::string digest;
  const Kind kind;
  llvm::MemoryBufferRef content() const { return buffer->getMemBufferRef(); }

  // Why a kernel on this machine cannot call `symbol` with these types; empty when it can. What is no IR tells the
  // symbol's name only, not its types.
  std::string problemWith(llvm::StringRef symbol, llvm::ArrayRef<Type> arguments, Type result) const;

private:
  ExternalLibrary(std::string path, std::unique_ptr<llvm::MemoryBuffer> buffer, Kind kind);
  std::string problemInIR(llvm::StringRef symbol, llvm::ArrayRef<Type> arguments, Type result) const;
  std::string missing(llvm::StringRef symbol, std::vector<std::string> known) const;

  std::unique_ptr<llvm::MemoryBuffer> buffer;
};

} // namespace nacre
