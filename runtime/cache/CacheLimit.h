// A limit on the size of a cache folder: what was used least recently goes first. Any number of processes may do this
// at once, and others may be reading: an entry that is gone counts as absent and is compiled again.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace nacre {

// One entry of a cache folder.
struct CacheFile {
  std::string path;
  uint64_t bytes;
  int64_t used; // when it was written or read last, in seconds
};
// Calls visit for every entry of kernels below `folder` (not for unfinished ones, nor for files of others).
void forEachCacheFile(const std::string &folder, const std::function<void(const CacheFile &)> &visit);

// An entry was read: it is among the youngest again. Noted at most once an hour.
void noteUse(int descriptor, int64_t lastUse);

// Removes the entries used least recently until four fifths of `limit` bytes are left, where there are more than
// `limit`. Returns how many bytes it removed. 0: no limit.
uint64_t enforceCacheLimit(const std::string &folder, uint64_t limit);

// After a write of so many bytes to `folder`: enforces the knob's limit now and then, not at every write.
void enforceLimitAfterWrite(const std::string &folder, uint64_t written);

} // namespace nacre
