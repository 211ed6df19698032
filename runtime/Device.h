// A device: what kernels run on, and the driver that knows all devices of a kind. The rest of the project knows devices
// by this interface alone; what code for them looks like is the target's business (compiler/targets/Target.h).
//
// A launch has a device and a stream. The device is that of its arrays: a driver recognizes those that are its own, all
// others lie in host memory. A kernel is loaded on each device that it is launched on, once (launch/Kernel.h).
//
// A new device is a folder in devices/, a class that derives from Driver and one from Device, and a line in Device.cpp.
// devices/null is the smallest one there is, to copy from.
#pragma once

#include "runtime/compile/Compiler.h"
#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>

namespace nacre {

class Device;
class Driver;
class LaunchWatcher;
struct ExportedCode;
struct LaunchOptions;

// What is known of a device. Numbers that mean nothing to it are 0.
struct DeviceProperties {
  std::string name;         // as its maker calls it
  std::string architecture; // as its target names it: "znver4", "90a"
  std::string features;     // "+avx2,...", of targets that have such
  int multiprocessors = 1;  // cores; streaming multiprocessors
  int warpSize = 1;
  int64_t sharedBytes = 0; // that one program may have
  int64_t registers = 0;   // of a multiprocessor
  int64_t memoryBytes = 0;
  int64_t clockKilohertz = 0, memoryClockKilohertz = 0, memoryBusBits = 0;
};

// A kernel's code on one device. Its destructor unloads it; launches of it may be under way then.
class LoadedKernel {
public:
  virtual ~LoadedKernel() = default;
  uint64_t function = 0; // address or handle of the kernel, as tools show it
  // What the device made of it; 0: not known.
  int registers = 0, spilledBytes = 0, maximumThreads = 0;
};

// A launch as a device sees it. What it points at is the caller's, and lives until `enqueue` returns.
struct EnqueuedLaunch {
  const CompiledCode &code;
  const uint32_t *grid;               // three extents, none of them 0
  llvm::ArrayRef<uint64_t> arguments; // one slot an argument: pointers, integers extended, floats as their bits (fp16
                                      // and bf16 come as fp32 bits); a tuple's elements and a descriptor's fields each
  const LaunchOptions &options;
  uint64_t event = 0; // LaunchEvent::id where somebody asks when it runs (Events.h: LaunchTimes); 0: nobody
  LaunchWatcher *watcher = nullptr; // of a kernel that tells its accesses; it checks them in the runtime's place
};

// A device reports that something went wrong on it. `kernel` is the launch it belongs to as far as that is known:
// errors of a device that runs behind its host arrive later, at a call that has nothing to do with them.
class DeviceError : public std::runtime_error {
public:
  DeviceError(const std::string &text, std::string kernel = "", bool isLate = false)
      : std::runtime_error(text), kernel(std::move(kernel)), isLate(isLate) {}
  std::string kernel;
  bool isLate; // it was found after the launch had returned
};

// A launch needs more of something than the device has.
class OutOfResourcesError : public std::runtime_error {
public:
  OutOfResourcesError(std::string resource, int64_t required, int64_t limit, const std::string &hint = "");
  std::string resource; // "shared memory"
  int64_t required, limit;
};

// Everything may be called from several threads at once.
class Device {
public:
  Device(const Driver &driver, int index) : driver(driver), index(index) {}
  virtual ~Device() = default;
  Device(const Device &) = delete;

  const Driver &driver;
  const int index;
  std::string name() const; // "cuda:1"; without the number where there can be only one

  virtual const DeviceProperties &properties() = 0;
  // Why code compiled with these options, by the driver's target, cannot run on it; empty when it can.
  virtual std::string whyNot(const TargetOptions &options) = 0;
  // Called before the first launch, where the environment may be read.
  virtual void prepare() {}
  // Whether launches tell it of their arrays, whatever they were compiled with.
  virtual bool wantsArrays() const { return false; }

  // Throws CompileError, DeviceError.
  virtual std::unique_ptr<LoadedKernel> load(const CompiledCode &code) = 0;
  // Starts the grid on a stream; may return before it has ended. Throws what Launch.h says, or DeviceError.
  virtual void enqueue(LoadedKernel &kernel, const EnqueuedLaunch &launch) = 0;

  // The stream of launches that name none: torch's current one where there is torch, else the default one. Streams are
  // numbers that the device gives a meaning; 0 is the default one.
  virtual uint64_t currentStream() { return 0; }
  // Returns when everything on the stream has ended; none: on all streams. Throws the errors that have arrived.
  virtual void synchronize(std::optional<uint64_t> stream = std::nullopt) = 0;

  // Memory of the device, aligned to 256 bytes, in the order of the stream. Throws std::bad_alloc.
  virtual uint64_t allocate(size_t bytes, uint64_t stream) = 0;
  virtual void release(uint64_t address, uint64_t stream) = 0;
  // Return when the copy is done.
  virtual void copyIn(uint64_t to, const void *from, size_t bytes) = 0;
  virtual void copyOut(void *to, uint64_t from, size_t bytes) = 0;
  // Whether its kernels may access this address of host memory (pinned pages); asked where arrays differ in device.
  virtual bool reachesHostMemory(uint64_t address) = 0;
};

// The devices of one kind. One instance each, which lives as long as the process.
class Driver {
public:
  virtual ~Driver() = default;
  virtual llvm::StringRef name() const = 0; // "cuda": in options and messages, and torch's name of the kind
  virtual const Target &target() const = 0; // compiles for its devices
  // How many there are; starts the driver. `whyNone` says what is missing, and what to do, when there is none.
  virtual int count() = 0;
  virtual std::string whyNone() = 0;
  virtual Device *device(int index) = 0; // null: there is none of that number
  virtual int currentIndex() { return 0; }
  // Host memory is its devices' memory: arrays need not be anywhere else.
  virtual bool usesHostMemory() const { return false; }
  // Whether kernels run on it when nothing says otherwise.
  virtual bool isPreferred() { return false; }
  // Adds what the knobs say about the architecture; `device`: the one that it is for, or null.
  virtual void setArchitecture(TargetOptions &options, Device *device) const = 0;

  // Tells of every kernel that its devices run (Events.h: KernelEvents), or does so no more; with `sampleCycles` also
  // which lines it was found at, about every so many cycles, one kernel after another. Why it cannot, and what to do;
  // empty where it does.
  virtual std::string traceKernels(bool isWanted, uint32_t sampleCycles = 0) {
    return "devices of " + name().str() + " tell of launches alone";
  }

  // How C calls its kernels that were compiled ahead of time; null: it cannot.
  virtual const ExportedCode *exportedCode() const { return nullptr; }

  // How arrays say that they are on its devices. Null, or negative: not in this way.
  virtual const char *tensorFlag() const { return nullptr; }     // an attribute of torch's tensors: "is_cuda"
  virtual const char *arrayInterface() const { return nullptr; } // "__cuda_array_interface__"
  virtual int dlpackType() const { return -1; }
  // The device that an address belongs to; null when it is none of them. Does not start the driver.
  virtual Device *deviceOf(uint64_t) { return nullptr; }
};

// Every driver of this build; the first one's device is the host itself.
llvm::ArrayRef<Driver *> drivers();
Driver *findDriver(llvm::StringRef name); // null when there is none of that name

// The device that an address belongs to; null: it is host memory, or nobody's.
Device *deviceOf(uint64_t address);

// Said in the child of a fork by a driver that answers nothing there any more: an address may be its device's, and
// nobody can tell.
void forgetMemory();
bool memoryIsForgotten();

// The host's own processors.
Device &hostDevice();
// Runs kernels whose arrays lie in host memory: the host, or the active device where that uses host memory.
Device &hostMemoryDevice();
// Runs launches that have no arrays: the one that was made active, else that of a driver that is preferred, else the
// host.
Device &activeDevice();
Device *setActiveDevice(Device *device); // null: as if none had been. Gives the one that was

// The options that the knobs ask for, for code that runs on this device, or somewhere on a driver's devices.
CompileOptions compileOptionsFor(Device &device);
CompileOptions compileOptionsFor(const Driver &driver);

} // namespace nacre
