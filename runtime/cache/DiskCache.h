// Artifacts on disk, named by content. Any number of processes may use one folder at once, on a disk that is full,
// read-only, shared or gone: an entry is written under a temporary name and renamed into place, its checksum is
// verified when it is read, and whatever is torn or corrupted counts as absent and is written again. Failure to write
// is not an error: the next process compiles again. The folder has a limit (CacheLimit.h).
#pragma once

#include <optional>
#include <string>

namespace nacre {

// Somewhere to keep artifacts. What cannot be kept or found is simply not there.
class ArtifactStore {
public:
  virtual ~ArtifactStore() = default;
  // `key` is hexadecimal; `kind` a short word ("kernel", "manifest", "stages").
  virtual std::optional<std::string> read(const std::string &key, const char *kind) const = 0;
  // Whether the entry is now in place.
  virtual bool write(const std::string &key, const char *kind, const std::string &payload) const = 0;
};

// An entry as it is stored: the payload behind its size and checksum, so that a damaged one is known for what it is.
std::string sealEntry(const std::string &payload);
// The payload; none when the entry is not whole.
std::optional<std::string> openEntry(const std::string &entry);

class DiskCache : public ArtifactStore {
public:
  // `folder` empty: nothing is kept.
  explicit DiskCache(std::string folder) : folder(std::move(folder)) {}

  // `kind` becomes the file's suffix.
  std::optional<std::string> read(const std::string &key, const char *kind) const override;
  bool write(const std::string &key, const char *kind, const std::string &payload) const override;
  std::string path(const std::string &key, const char *kind) const;

private:
  std::string folder;
};

} // namespace nacre
