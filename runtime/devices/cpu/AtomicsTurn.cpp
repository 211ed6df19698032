// See AtomicsTurn.h.
#include "runtime/devices/cpu/AtomicsTurn.h"
#include "compiler/support/ForkSafety.h"
#include <cerrno>
#include <fcntl.h>
#include <fstream>
#include <optional>
#include <string>
#include <sys/ioctl.h>
#include <unistd.h>

namespace nacre::cpu {

namespace {

// Asks Linux for a mapping of this process that is shared and writable (PROCMAP_QUERY, from 6.11 on): some
// microseconds. None where it cannot be asked.
std::optional<bool> querySharedMemory() {
  struct Query { // struct procmap_query of linux/fs.h, which older headers lack
    uint64_t size = sizeof(Query), flags = 0, address = 0;
    uint64_t found[6] = {}; // start, end, flags, page size, offset, inode
    uint32_t sizes[4] = {}; // device, of the name, of the build's id
    uint64_t texts[2] = {};
  };
  static_assert(sizeof(Query) == 104);
  constexpr uint64_t writable = 0x02, shared = 0x08, coveringOrNext = 0x10;
  Query query;
  query.flags = writable | shared | coveringOrNext;
  int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC); // of this process, also after a fork
  if (file < 0)
    return std::nullopt;
  bool isFound = ioctl(file, _IOWR('f', 17, Query), &query) == 0;
  int error = isFound ? 0 : errno;
  close(file);
  if (!isFound && error != ENOENT)
    return std::nullopt;
  return isFound;
}

// The same, read from the list of all mappings: a good part of a millisecond.
bool readSharedMemory() {
  std::ifstream maps("/proc/self/maps");
  bool sawAny = false;
  for (std::string line; std::getline(maps, line); sawAny = true) {
    size_t rights = line.find(' '); // "begin-end rw-s ..."
    if (rights == std::string::npos || line.size() < rights + 5 || (line[rights + 2] == 'w' && line[rights + 4] == 's'))
      return true;
  }
  return !sawAny;
}

// Whether another process may see what this one writes. Where only the list could tell, and reading it is not worth it,
// it is taken to be so.
bool sharesMemory(bool isWorthReading) {
  std::optional<bool> answer = querySharedMemory();
  return answer ? *answer : !isWorthReading || readSharedMemory();
}

constexpr uint64_t worthReading = 5'000'000; // nanoseconds of a turn

constexpr int32_t alone = -1;
std::atomic<int32_t> running = 0; // launches that share, or `alone`

// Whether this thread runs an alone launch. What it launches from there (a hook, a handler of signals) takes no turn of
// its own: it runs between two instructions of the other.
thread_local bool isInAlone = false;

// Launches of the parent's threads do not end in the child of a fork.
void forgetAfterFork() {
  static const bool registered = (onFork([] {
                                    if (!isInAlone)
                                      running.store(0);
                                  }),
                                  true);
  (void)registered;
}

} // namespace

bool AtomicsTurn::take(bool mayBeAlone, std::atomic<uint64_t> &kept, uint64_t longEnough) {
  Held now = held.load(std::memory_order_acquire);
  if (now != Held::Nothing)
    return now == Held::Alone;
  std::lock_guard<std::mutex> guard(lock);
  now = held.load(std::memory_order_relaxed);
  if (now != Held::Nothing)
    return now == Held::Alone;
  forgetAfterFork();
  uint64_t took = kept.load(std::memory_order_relaxed);
  mayBeAlone = mayBeAlone && took >= longEnough && !sharesMemory(longEnough == 0 || took >= worthReading);
  lasted = &kept;
  least = longEnough;
  begin = std::chrono::steady_clock::now();
  int32_t free = 0;
  if (isInAlone) {
    now = Held::Nested;
  } else if (mayBeAlone && running.compare_exchange_strong(free, alone, std::memory_order_acquire)) {
    now = Held::Alone;
    isInAlone = true;
  } else {
    int32_t seen = running.load(std::memory_order_relaxed);
    do {
      while (seen == alone) {
        running.wait(alone, std::memory_order_relaxed);
        seen = running.load(std::memory_order_relaxed);
      }
    } while (!running.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire));
    now = Held::Shared;
  }
  held.store(now, std::memory_order_release);
  return now == Held::Alone;
}

AtomicsTurn::~AtomicsTurn() {
  if (lasted) {
    // One that was alone was quicker by itself: the next is, unless this was much shorter.
    auto now = uint64_t(std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count());
    if (held.load(std::memory_order_acquire) != Held::Alone || now < least / 10)
      lasted->store(now, std::memory_order_relaxed);
  }
  switch (held.load(std::memory_order_acquire)) {
  case Held::Alone:
    isInAlone = false;
    running.store(0, std::memory_order_release);
    running.notify_all();
    break;
  case Held::Shared: {
    // After a fork in its midst nobody counts it any more.
    int32_t seen = running.load(std::memory_order_relaxed);
    while (seen > 0 && !running.compare_exchange_weak(seen, seen - 1, std::memory_order_release)) {
    }
    break;
  }
  case Held::Nothing:
  case Held::Nested:
    break;
  }
}

} // namespace nacre::cpu
