// Runs a kernel over a grid, on this thread and the pool's.
#pragma once

#include "runtime/DevicePrint.h"
#include "runtime/Kernel.h"

namespace nacre {

// A device_assert that failed; the programs not yet started were not run.
class DeviceAssertError : public std::runtime_error {
public:
  DeviceAssertError(std::string message, std::string file, uint32_t line, uint32_t column, const uint32_t *program);
  std::string message, file;
  uint32_t line, column; // from 1 on; 0: not known
  uint32_t program[3];
};

// A launch whose programs wait for each other was stopped because LaunchOptions::interrupted said so.
class LaunchInterrupted : public std::runtime_error {
public:
  LaunchInterrupted() : std::runtime_error("the launch was interrupted") {}
};

struct LaunchOptions {
  const PrintSink *print = nullptr; // null: standard output
  bool cooperative = false;         // all programs at the same time from the beginning
  // Asked by the launching thread while its program waits for another; null: nobody interrupts.
  const std::function<bool()> *interrupted = nullptr;
};

// `args`: one slot an argument, as KernelABI.h says. A grid with a zero runs nothing. Returns when the last program has
// ended. Programs may wait for each other (Crew.h). Throws DeviceAssertError, LaunchInterrupted, std::bad_alloc,
// std::runtime_error.
void launch(const Kernel &kernel, const uint32_t grid[3], const uint64_t *args, const LaunchOptions &options = {});

} // namespace nacre
