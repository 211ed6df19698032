#include "runtime/cache/CacheLimit.h"
#include "runtime/Knobs.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace nacre {

namespace {

constexpr int64_t useResolution = 3600;
// A folder is looked through when a process writes to it first, and again after so many bytes.
constexpr uint64_t bytesBetweenLooks = 64 << 20;

// Of every kind of entry that is written (ArtifactStore::write).
constexpr const char *suffixes[] = {".kernel", ".manifest", ".stages", ".general", ".general_stages"};

// The folders of entries: of the cache's own by the first digits of their keys, of those that a cache manager keeps by
// their whole keys.
bool holdsEntries(const char *name) {
  size_t length = std::strlen(name);
  return (length == 2 && std::strspn(name, "0123456789abcdef") == length) ||
         (length == 32 && std::strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == length);
}

void filesOf(const std::string &folder, const std::function<void(const CacheFile &)> &visit) {
  DIR *directory = opendir(folder.c_str());
  if (!directory)
    return;
  while (dirent *entry = readdir(directory)) {
    const char *suffix = std::strchr(entry->d_name, '.');
    struct stat status;
    if (!suffix || suffix == entry->d_name ||
        llvm::none_of(suffixes, [&](const char *known) { return std::strcmp(suffix, known) == 0; }))
      continue;
    if (fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode))
      visit({folder + "/" + entry->d_name, static_cast<uint64_t>(status.st_blocks) * 512, status.st_mtime});
  }
  closedir(directory);
}

} // namespace

void forEachCacheFile(const std::string &folder, const std::function<void(const CacheFile &)> &visit) {
  DIR *directory = opendir(folder.c_str());
  if (!directory)
    return;
  std::vector<std::string> parts;
  while (dirent *entry = readdir(directory))
    if (holdsEntries(entry->d_name))
      parts.push_back(folder + "/" + entry->d_name);
  closedir(directory);
  for (const std::string &part : parts)
    filesOf(part, visit);
}

void noteUse(int descriptor, int64_t lastUse) {
  if (time(nullptr) - lastUse < useResolution)
    return;
  timespec times[2] = {{0, UTIME_OMIT}, {0, UTIME_NOW}};
  futimens(descriptor, times); // a folder that cannot be written has nobody who removes from it
}

uint64_t enforceCacheLimit(const std::string &folder, uint64_t limit) {
  if (limit == 0)
    return 0;
  std::vector<CacheFile> files;
  uint64_t total = 0, removed = 0;
  forEachCacheFile(folder, [&](const CacheFile &file) {
    files.push_back(file);
    total += file.bytes;
  });
  if (total <= limit)
    return 0;
  std::sort(files.begin(), files.end(), [](const CacheFile &a, const CacheFile &b) { return a.used < b.used; });
  for (const CacheFile &file : files) {
    if (total - removed <= limit / 5 * 4)
      break;
    if (unlink(file.path.c_str()) == 0)
      removed += file.bytes;
  }
  return removed;
}

void enforceLimitAfterWrite(const std::string &folder, uint64_t written) {
  static std::mutex lock;
  static auto *sinceLook = new std::map<std::string, uint64_t>;
  {
    // Only tried: after fork the holder may not exist any more, and cleaning up can wait.
    std::unique_lock<std::mutex> guard(lock, std::try_to_lock);
    if (!guard)
      return;
    auto [known, isFirst] = sinceLook->try_emplace(folder, 0);
    known->second += written;
    if (!isFirst && known->second < bytesBetweenLooks)
      return;
    known->second = 0;
  }
  enforceCacheLimit(folder, static_cast<uint64_t>(knobInteger(KnobId::CacheMegabytes)) << 20);
}

} // namespace nacre
