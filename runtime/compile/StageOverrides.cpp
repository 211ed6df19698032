#include "runtime/compile/StageOverrides.h"
#include "compiler/support/ForkSafety.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <set>

namespace nacre {

namespace {

// Each thing is said once.
void say(const std::string &text) {
  static ProcessLock lock;
  std::lock_guard<ProcessLock> guard(lock);
  static auto *said = new std::set<std::string>;
  if (said->insert(text).second)
    llvm::errs() << "nacre: stage override: " << text << "\n";
}

// The file of a stage, under either name of the stage.
std::optional<StageText> fileOf(const StageName &stage, const std::string &folder, const std::string &kernel) {
  for (const char *suffix : {stage.name, stage.alias}) {
    std::string path = folder + "/" + kernel + "." + suffix;
    if (auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true))
      return StageText{(*buffer)->getBuffer().str(), path};
  }
  return std::nullopt;
}

// The folder of another kernel of that name, perhaps this one before its source was changed; empty when there is none.
std::string otherVersion(const std::string &root, const std::string &kernel, llvm::ArrayRef<StageName> stages) {
  std::error_code error;
  for (llvm::sys::fs::directory_iterator entry(root, error), end; entry != end && !error; entry.increment(error))
    for (const StageName &stage : stages)
      if (fileOf(stage, entry->path(), kernel))
        return entry->path();
  return "";
}

} // namespace

std::map<std::string, StageText> stageOverrides(const std::string &root, const std::string &folder,
                                                const CompileRequest &request,
                                                const std::map<std::string, std::string> &plain) {
  const std::string &kernel = request.kernel.name;
  llvm::ArrayRef<StageName> stages = request.options.target->stages();
  if (!llvm::sys::fs::is_directory(root))
    say("there is no folder " + root);
  std::map<std::string, StageText> found;
  std::string last;
  bool hasFile = false;
  for (const StageName &stage : stages) {
    std::optional<StageText> file = fileOf(stage, root + "/" + folder, kernel);
    if (!file)
      continue;
    hasFile = true;
    auto own = plain.find(stage.name);
    if (own != plain.end() && llvm::StringRef(own->second).rtrim() == llvm::StringRef(file->text).rtrim())
      continue;
    if (!last.empty())
      say(file->file + " hides what " + last + " says; remove the files of stages that you do not want to replace");
    last = file->file;
    found.emplace(stage.name, std::move(*file));
  }
  if (std::string other = hasFile ? "" : otherVersion(root, kernel, stages); !other.empty())
    say(other + " is of another version of " + kernel + ", whose files would stand in " + root + "/" + folder);
  return found;
}

} // namespace nacre
