// When launches ran on a GPU, by two of its events around each; told (runtime/Events.h) once they have ended.
#pragma once

#include "runtime/devices/cuda/DriverLibrary.h"
#include <deque>
#include <mutex>
#include <vector>

namespace nacre::cuda {

// Of one device, whose context is current whenever it is called.
class LaunchTimer {
public:
  explicit LaunchTimer(const DriverLibrary &library) : library(library) {}

  // Before and after a launch on a stream. Nothing is measured while the stream is being captured: null then.
  CuEvent begin(CuStream stream);
  void end(CuEvent begin, CuStream stream, uint64_t launch);
  // Tells of the launches that have ended; of all, after a wait for the device.
  void tellEnded();

private:
  struct Measured {
    uint64_t launch;
    CuEvent begin, end;
  };
  CuEvent makeEvent();
  void takeBase(CuStream stream);

  const DriverLibrary &library;
  std::mutex lock; // guards what follows
  std::deque<Measured> pending;
  std::vector<CuEvent> spare;
  // An event, and when the host saw it: the device's times count from there.
  CuEvent base = nullptr;
  uint64_t baseTime = 0;
};

} // namespace nacre::cuda
