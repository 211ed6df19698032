// See Toolkit.h.
#include "compiler/targets/cuda/Toolkit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <dlfcn.h>

using namespace nacre;

// The folder of Python packages in which this library lies, if it does.
static std::string packageFolder() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void *>(&packageFolder), &info) || !info.dli_fname)
    return "";
  return llvm::sys::path::parent_path(llvm::sys::path::parent_path(info.dli_fname)).str();
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
