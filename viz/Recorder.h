// Records what the programs of a launch access, for the visualizer.
//
// Every access of a program that is recorded is kept with its lanes' addresses; of the others only sums are kept. The
// programs to record are chosen before the launch, so that a large grid stays small: all of a small one, else some that
// are spread over it.
#pragma once

#include "compiler/support/ForkSafety.h"
#include "runtime/Events.h"
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace nacre::viz {

struct RecordedAccess {
  uint64_t program;
  std::string name; // "load"
  uint32_t effects, kind, size;
  int32_t argument;
  std::vector<int64_t> shape;
  std::vector<uint64_t> addresses; // of the lanes that the mask lets through
  std::vector<int64_t> lanes;      // their places in the tile; empty: all
  uint32_t site;
};

// The tiles that one operation gave, after those that it took where these are told.
struct RecordedValue {
  uint64_t program;
  std::string name, file; // "dot"
  uint32_t line, column;
  uint64_t accessesBefore; // of the same program
  struct Tile {
    std::vector<int64_t> shape;
    std::vector<double> first; // elements, row-major
  };
  std::vector<Tile> tiles;
};

// All accesses at one place of the kernel's text, of every program.
struct Site {
  std::string name, file;
  uint32_t line, column;
  uint64_t accesses = 0, lanes = 0, enabled = 0, bytes = 0;
  uint64_t cacheLines = 0; // of 64 bytes that were touched, access by access
};

class Recorder : public LaunchWatcher {
public:
  // At most so many lanes are kept altogether.
  Recorder(const uint32_t (&grid)[3], uint64_t lanesKept);

  bool access(const AccessEvent &access) override;
  bool told(const ToldEvent &event) override;

  bool isRecorded(uint64_t program) const { return program % step == 0; }

  static constexpr int64_t keptElements = 256; // of a tile

  std::vector<RecordedAccess> accesses;
  std::vector<RecordedValue> values;
  std::vector<Site> sites;
  struct ProgramSums {
    uint64_t loaded = 0, stored = 0, lanes = 0, enabled = 0, accesses = 0;
    // Nanoseconds, the recorder's own included: each stretch of a thread from one event to the next is the time of the
    // next one's program.
    uint64_t time = 0;
  };
  std::vector<ProgramSums> programs;
  uint64_t step = 1;           // every n-th program is recorded
  uint64_t leftOut = 0;        // accesses and values that were not kept for want of room
  std::vector<uint64_t> order; // the programs as they began

private:
  uint32_t siteOf(const AccessEvent &access);
  void passTime(uint64_t program); // with the lock held

  RenewedLock lock;
  uint64_t lanesLeft, elementsLeft;
  std::map<std::thread::id, uint64_t> lastEvents; // of each thread: when it ended
  std::map<std::pair<const char *, uint64_t>, uint32_t> siteNumbers;
};

} // namespace nacre::viz
