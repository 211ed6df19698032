// An entry is a header (magic, payload size, checksum of the payload) and the payload. Entries live in 256 subfolders;
// unfinished ones in tmp/, from where those of killed writers are removed after an hour. An entry is machine code: what
// another user could have written is not read.
#include "runtime/cache/DiskCache.h"
#include "runtime/cache/CacheLimit.h"
#include "llvm/Support/xxhash.h"
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <mutex>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

namespace nacre {

namespace {

constexpr char magic[8] = {'N', 'A', 'C', 'R', 'E', 'C', '0', '1'};
constexpr time_t staleSeconds = 3600;

struct Header {
  char magic[8];
  uint64_t size;
  uint64_t checksum[2];
};

Header headerOf(const std::string &payload) {
  Header header;
  std::memcpy(header.magic, magic, sizeof(magic));
  header.size = payload.size();
  llvm::XXH128_hash_t hash =
      llvm::xxh3_128bits(llvm::ArrayRef<uint8_t>(reinterpret_cast<const uint8_t *>(payload.data()), payload.size()));
  header.checksum[0] = hash.low64;
  header.checksum[1] = hash.high64;
  return header;
}

struct File {
  int descriptor;
  explicit File(int descriptor) : descriptor(descriptor) {}
  ~File() {
    if (descriptor >= 0)
      close(descriptor);
  }
  File(const File &) = delete;
};

bool readAll(int descriptor, void *data, size_t size) {
  auto *at = static_cast<char *>(data);
  while (size > 0) {
    ssize_t count = ::read(descriptor, at, size);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    at += count;
    size -= static_cast<size_t>(count);
  }
  return true;
}

bool writeAll(int descriptor, const void *data, size_t size) {
  auto *at = static_cast<const char *>(data);
  while (size > 0) {
    ssize_t count = ::write(descriptor, at, size);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    at += count;
    size -= static_cast<size_t>(count);
  }
  return true;
}

// Nobody but this user and root can have written it.
bool isTrusted(const struct stat &status) {
  return (status.st_uid == geteuid() || status.st_uid == 0) && !(status.st_mode & (S_IWGRP | S_IWOTH));
}

// The first time that something of a cache is refused, that is said.
void tellRefused(const std::string &folder, const std::string &path) {
  static std::mutex lock;
  static auto *told = new std::set<std::string>;
  std::unique_lock<std::mutex> guard(lock, std::try_to_lock); // after fork the holder may not exist any more
  if (guard && told->insert(folder).second)
    std::fprintf(stderr,
                 "nacre: kernels in the cache %s are not used: another user owns or may write %s; make the cache your "
                 "own (chmod -R go-w), or set TRITON_CACHE_DIR to another folder\n",
                 folder.c_str(), path.c_str());
}

// Whether code may be taken from there: who can write a folder can put one entry in the place of another.
bool isTrustedFolder(const std::string &cache, const std::string &folder) {
  struct stat status;
  if (stat(folder.c_str(), &status) != 0 || isTrusted(status))
    return true;
  tellRefused(cache, folder);
  return false;
}

bool makeFolders(const std::string &path) {
  if (mkdir(path.c_str(), 0700) == 0 || errno == EEXIST)
    return true;
  size_t slash = path.find_last_of('/');
  if (errno != ENOENT || slash == std::string::npos || slash == 0)
    return false;
  return makeFolders(path.substr(0, slash)) && (mkdir(path.c_str(), 0700) == 0 || errno == EEXIST);
}

// What killed writers left behind. Once for each folder and process.
void removeStale(const std::string &temporaryFolder) {
  static std::mutex lock;
  static auto *visited = new std::set<std::string>;
  {
    // Only tried: after fork the holder may not exist any more, and cleaning up can wait.
    std::unique_lock<std::mutex> guard(lock, std::try_to_lock);
    if (!guard || !visited->insert(temporaryFolder).second)
      return;
  }
  DIR *directory = opendir(temporaryFolder.c_str());
  if (!directory)
    return;
  time_t oldest = time(nullptr) - staleSeconds;
  while (dirent *entry = readdir(directory)) {
    struct stat status;
    if (entry->d_name[0] != '.' && fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(status.st_mode) && status.st_mtime < oldest)
      unlinkat(dirfd(directory), entry->d_name, 0);
  }
  closedir(directory);
}

// A name no other writer of any process or machine uses.
std::string uniqueName() {
  static std::atomic<uint64_t> counter = 0;
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  std::array<char, 64> host{};
  gethostname(host.data(), host.size() - 1);
  return std::string(host.data()) + "." + std::to_string(getpid()) + "." +
         std::to_string(now.tv_sec * 1000000000 + now.tv_nsec) + "." + std::to_string(counter.fetch_add(1));
}

} // namespace

std::string sealEntry(const std::string &payload) {
  Header header = headerOf(payload);
  return std::string(reinterpret_cast<const char *>(&header), sizeof(header)) + payload;
}

std::optional<std::string> openEntry(const std::string &entry) {
  if (entry.size() < sizeof(Header))
    return std::nullopt;
  std::string payload = entry.substr(sizeof(Header));
  Header expected = headerOf(payload);
  if (std::memcmp(entry.data(), &expected, sizeof(expected)) != 0)
    return std::nullopt;
  return payload;
}

std::string DiskCache::path(const std::string &key, const char *kind) const {
  return folder + "/" + key.substr(0, 2) + "/" + key.substr(2) + "." + kind;
}

std::optional<std::string> DiskCache::read(const std::string &key, const char *kind) const {
  if (folder.empty())
    return std::nullopt;
  std::string entry = path(key, kind);
  if (!isTrustedFolder(folder, folder) || !isTrustedFolder(folder, entry.substr(0, entry.find_last_of('/'))))
    return std::nullopt;
  File file(open(entry.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status;
  Header header;
  if (file.descriptor < 0 || fstat(file.descriptor, &status) != 0 || !S_ISREG(status.st_mode) ||
      !readAll(file.descriptor, &header, sizeof(header)))
    return std::nullopt;
  if (!isTrusted(status)) {
    tellRefused(folder, entry);
    return std::nullopt;
  }
  // The size is compared before it is believed: a corrupted one must not allocate.
  if (std::memcmp(header.magic, magic, sizeof(magic)) != 0 ||
      header.size != static_cast<uint64_t>(status.st_size) - sizeof(header))
    return std::nullopt;
  std::string payload(header.size, '\0');
  if (!readAll(file.descriptor, payload.data(), payload.size()))
    return std::nullopt;
  Header expected = headerOf(payload);
  if (std::memcmp(header.checksum, expected.checksum, sizeof(header.checksum)) != 0)
    return std::nullopt;
  noteUse(file.descriptor, status.st_mtime);
  return payload;
}

bool DiskCache::write(const std::string &key, const char *kind, const std::string &payload) const {
  if (folder.empty())
    return false;
  std::string target = path(key, kind);
  std::string temporaryFolder = folder + "/tmp";
  if (!isTrustedFolder(folder, folder)) // it would not be read
    return false;
  if (!makeFolders(temporaryFolder) || !makeFolders(target.substr(0, target.find_last_of('/'))))
    return false;
  removeStale(temporaryFolder);
  std::string temporary = temporaryFolder + "/" + uniqueName();
  bool written = false;
  {
    File file(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (file.descriptor < 0)
      return false;
    Header header = headerOf(payload);
    written =
        writeAll(file.descriptor, &header, sizeof(header)) && writeAll(file.descriptor, payload.data(), payload.size());
  }
  if (written && rename(temporary.c_str(), target.c_str()) == 0) {
    enforceLimitAfterWrite(folder, payload.size());
    return true;
  }
  unlink(temporary.c_str());
  return false;
}

} // namespace nacre
