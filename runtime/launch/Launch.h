// Runs a kernel over a grid on a device.
#pragma once

#include "compiler/reference/MemoryMap.h"
#include "runtime/launch/DevicePrint.h"
#include "runtime/launch/Kernel.h"
#include <map>

namespace nacre {

// A device_assert that failed; the programs not yet started were not run.
class DeviceAssertError : public std::runtime_error {
public:
  DeviceAssertError(std::string message, std::string file, uint32_t line, uint32_t column, const uint32_t *program);
  std::string message, file;
  uint32_t line, column; // from 1 on; 0: not known
  uint32_t program[3];
};

// Compiled code did what the machine forbids: it accessed memory that is not there or may not be written, or trapped.
// What its programs had written before stays written.
class KernelFaultError : public std::runtime_error {
public:
  // `what`: "divided by zero"; the place is added to it.
  KernelFaultError(const std::string &what, std::string kernel, std::optional<uint64_t> address, std::string file,
                   uint32_t line);
  std::string summary; // without what to do about it
  std::string kernel;
  std::optional<uint64_t> address; // what was accessed, where that is known
  std::string file;
  uint32_t line; // 0: not known
};

// An access that a kernel was about to make, outside of the arrays that it was given.
class OutOfBoundsError : public std::runtime_error {
public:
  OutOfBoundsError(Diagnostic diagnostic, const uint32_t *program);
  Diagnostic diagnostic; // its location has no text; columns count from 0
  uint32_t program[3];
};

// Where the elements of a view are that leaves memory out between them, from the beginning of its range on.
struct ViewElements {
  uint32_t bytes = 0;                              // of an element
  std::vector<std::pair<uint64_t, uint64_t>> axes; // stride in bytes and extent, outermost first
};

// The arrays of a launch, for kernels that check their accesses.
struct KnownArrays {
  MemoryMap memory;
  std::vector<uint32_t> ofArgument{};       // the number in `memory` of each argument's; 0: not known
  std::map<uint32_t, ViewElements> views{}; // by the number in `memory`
};

// A launch was stopped in the middle because LaunchOptions::interrupted said so.
class LaunchInterrupted : public std::runtime_error {
public:
  LaunchInterrupted() : std::runtime_error("the launch was interrupted") {}
};

struct LaunchOptions {
  void *caller = nullptr;              // LaunchEvent::caller
  std::optional<uint64_t> stream;      // none: the device's current one
  const PrintSink *print = nullptr;    // null: standard output
  bool cooperative = false;            // all programs at the same time from the beginning
  const KnownArrays *arrays = nullptr; // null: accesses are not checked
  // Asked by the launching thread now and then, once the launch has lasted for a tenth of a second; null: nobody
  // interrupts. It may be asked from a signal handler that interrupted the kernel's own instructions.
  const std::function<bool()> *interrupted = nullptr;
};

// `arguments`: one slot an argument, as EnqueuedLaunch says. A grid with a zero runs nothing. On the host it returns
// when the last program has ended, and the next launch finds everything in order whatever happened; other devices may
// run behind, and report at a later call. Programs may wait for each other. Throws DeviceAssertError, OutOfBoundsError,
// KernelFaultError, LaunchInterrupted, DeviceError, OutOfResourcesError, std::bad_alloc, std::runtime_error.
void launch(const Kernel &kernel, Device &device, const uint32_t grid[3], llvm::ArrayRef<uint64_t> arguments,
            const LaunchOptions &options = {});

// "(0, 1, 2)"
std::string shownProgram(const uint32_t *program);

} // namespace nacre
