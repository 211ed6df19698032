// See Toolkit.h.
#include "compiler/targets/cuda/Toolkit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <dlfcn.h>

using namespace nacre;

// The folder of Python packages in which this library lies (as nacre/cpp/lib/libnacre.so), if it does.
static std::string packageFolder() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void *>(&packageFolder), &info) || !info.dli_fname)
    return "";
  llvm::SmallString<128> library(info.dli_fname);
  llvm::sys::path::remove_dots(library, /*remove_dot_dot=*/true);
  llvm::StringRef folder = library;
  for (llvm::StringRef part : {"", "lib", "cpp", "nacre"}) {
    if (!part.empty() && llvm::sys::path::filename(folder) != part)
      return "";
    folder = llvm::sys::path::parent_path(folder);
  }
  return folder.str();
}

std::optional<std::string> nacre::cuda::findInToolkit(const TargetOptions &options,
                                                      llvm::ArrayRef<llvm::StringRef> path) {
  auto in = [&](llvm::StringRef folder) -> std::optional<std::string> {
    llvm::SmallString<128> file(folder);
    for (llvm::StringRef part : path)
      llvm::sys::path::append(file, part);
    return llvm::sys::fs::exists(file) ? std::optional(file.str().str()) : std::nullopt;
  };
  for (llvm::StringRef toolkit : {llvm::StringRef(options.toolkit), llvm::StringRef("/usr/local/cuda")})
    if (std::optional<std::string> found = toolkit.empty() ? std::nullopt : in(toolkit))
      return found;
  std::string folder = packageFolder();
  if (folder.empty())
    return std::nullopt;
  llvm::SmallString<128> packages(folder);
  llvm::sys::path::append(packages, "nvidia");
  std::optional<std::string> newest; // each toolkit has a folder of its own
  std::error_code error;
  for (llvm::sys::fs::directory_iterator entry(packages, error), end; !error && entry != end; entry.increment(error))
    newest = std::max(newest, in(entry->path()));
  return newest;
}
