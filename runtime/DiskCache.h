// Artifacts on disk, named by content. Any number of processes may use one folder at once, on a disk that is full,
// read-only, shared or gone: an entry is written under a temporary name and renamed into place, its checksum is
// verified when it is read, and whatever is torn or corrupted counts as absent and is written again. Failure to write
// is not an error: the next process compiles again.
#pragma once

#include <optional>
#include <string>

namespace nacre {

class DiskCache {
public:
  // `folder` empty: nothing is kept.
  explicit DiskCache(std::string folder) : folder(std::move(folder)) {}

  // `key` is hexadecimal; `kind` a short word that becomes the file's suffix ("kernel", "manifest").
  std::optional<std::string> read(const std::string &key, const char *kind) const;
  // Whether the entry is now in place.
  bool write(const std::string &key, const char *kind, const std::string &payload) const;
  std::string path(const std::string &key, const char *kind) const;

private:
  std::string folder;
};

} // namespace nacre
