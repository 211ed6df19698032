// A launch on the host: what its threads share, what each of them has for itself, and the choice between this thread
// alone and the pool.
#include "runtime/launch/Launch.h"
#include "compiler/reference/Machine.h"
#include "compiler/targets/cpu/CpuTarget.h"
#include "compiler/targets/cpu/Disassembly.h"
#include "runtime/Events.h"
#include "runtime/Knobs.h"
#include "runtime/devices/cpu/AtomicsTurn.h"
#include "runtime/devices/cpu/CpuDevice.h"
#include "runtime/devices/cpu/LastWords.h"
#include "runtime/devices/cpu/Sampling.h"
#include "runtime/devices/cpu/ScratchArena.h"
#include "runtime/launch/CheckedAccess.h"
#include "runtime/threads/Crew.h"
#include "runtime/threads/ThreadPool.h"
#include <chrono>
#include <csignal>
#include <cstdio>

namespace nacre::cpu {

namespace {

// A grid that takes less than this is run by the launching thread alone: waking another costs as much.
constexpr float inlineNanoseconds = 10000;
// Output is passed on in pieces of about this size.
constexpr size_t printChunk = size_t(64) << 10;

struct SharedLaunch {
  const CompiledCode &code;
  LoadedCpuKernel &kernel;
  const uint64_t *args;
  const uint32_t *grid;
  const PrintSink *sink;
  const KnownArrays *arrays;
  LaunchWatcher *watcher;
  Stoppable stoppable;
  std::mutex lock{}; // guards what follows
  std::string output{};
  std::optional<DeviceAssertError> failure{};
  std::exception_ptr trouble{}; // a fault; out of memory in a worker
  uint64_t id = 0;
  uint64_t event = 0;             // of who asks when it runs; 0: nobody
  std::atomic<uint64_t> busy = 0; // the sum over the threads, for them
  Crew *crew = nullptr;           // of a grid whose programs may wait for each other
  bool onOneThread = false;       // the launching thread runs all of it, and none of its programs waits
  AtomicsTurn atomics{};          // of its kernel, if that has any

  void flush() {
    if (output.empty())
      return;
    if (sink && *sink) {
      (*sink)(output);
    } else {
      std::fwrite(output.data(), 1, output.size(), stdout);
      std::fflush(stdout);
    }
    output.clear();
  }
};

struct ThreadContext : KernelContext {
  SharedLaunch *shared;
  std::string output; // of the program that is running
  uint32_t printing[3];
  CompiledCall *call;
  Crew::Wait wait;
  std::optional<uint64_t> left; // the program that the watcher ended

  uint64_t numberOf(const uint32_t *id) const {
    return id[0] + uint64_t(grid[0]) * (id[1] + uint64_t(grid[1]) * id[2]);
  }

  // Hands over what a program has printed, in one piece.
  void passOn() {
    if (output.empty())
      return;
    std::lock_guard<std::mutex> guard(shared->lock);
    shared->output += output;
    output.clear();
    if (shared->output.size() >= printChunk)
      shared->flush();
  }
};

// Ends the program that runs on this thread.
[[noreturn]] void leaveProgram(ThreadContext &context, uint64_t number) {
  context.left = number;
  siglongjmp(context.call->leave, 1);
}

void tellWatcher(KernelContext *context, const uint32_t *programId, ToldKind kind, const char *subject,
                 const char *file, uint32_t line, uint32_t column, uint32_t count, const uint32_t *kinds,
                 const int64_t *shapes, const void *const *data) {
  auto *self = static_cast<ThreadContext *>(context);
  ProgramPlace program{programId, self->numberOf(programId)};
  bool goesOn = true, isStopped = false;
  {
    CompiledCall::Callback callback(*self->call);
    goesOn = self->shared->watcher->told({program, kind, subject, file, line, column, count, kinds, shapes, data});
    isStopped = self->call->isToLeave();
  }
  if (isStopped)
    siglongjmp(self->call->leave, 1);
  if (!goesOn)
    leaveProgram(*self, program.number);
}

void printElements(KernelContext *context, const uint32_t *programId, const char *prefix, uint32_t hex, uint32_t count,
                   const uint32_t *kinds, const int64_t *shapes, const void *const *data) {
  auto *self = static_cast<ThreadContext *>(context);
  bool isStopped = false;
  {
    CompiledCall::Callback callback(*self->call);
    if (!std::equal(programId, programId + 3, self->printing)) {
      self->passOn();
      std::copy(programId, programId + 3, self->printing);
    }
    formatPrint(self->output, programId, prefix, hex, count, kinds, shapes, data);
    isStopped = self->call->isToLeave();
  }
  if (isStopped)
    siglongjmp(self->call->leave, 1);
}

void recordAssert(KernelContext *context, const uint32_t *programId, const char *message, const char *file,
                  uint32_t line, uint32_t column) {
  auto *self = static_cast<ThreadContext *>(context);
  {
    CompiledCall::Callback callback(*self->call);
    std::lock_guard<std::mutex> guard(self->shared->lock);
    if (!self->shared->failure)
      self->shared->failure.emplace(message, file, line, column, programId);
  }
  siglongjmp(self->call->leave, 1);
}

void awaitOthers(KernelContext *context) {
  auto *self = static_cast<ThreadContext *>(context);
  bool goesOn = true;
  if (self->shared->crew) {
    CompiledCall::Callback callback(*self->call);
    goesOn = self->shared->crew->wait(self->wait);
  }
  if (!goesOn)
    siglongjmp(self->call->leave, 1);
}

void tellAccess(KernelContext *context, const uint32_t *programId, const char *access, uint32_t effects, uint32_t kind,
                uint32_t size, int32_t argument, uint32_t rank, const int64_t *shape, const uint64_t *addresses,
                const uint8_t *mask, const char *file, uint32_t line, uint32_t column) {
  auto *self = static_cast<ThreadContext *>(context);
  ProgramPlace program{programId, self->numberOf(programId)};
  bool goesOn = true, isStopped = false;
  {
    CompiledCall::Callback callback(*self->call);
    llvm::ArrayRef<int64_t> extents(shape, rank);
    int64_t elements = 1;
    for (int64_t extent : extents)
      elements *= extent;
    bool isInRows = effects & accessInRows;
    AccessEvent event{
        program, access, effects & accessEffectsMask, kind, size, argument, extents, elements, addresses, mask, file,
        line,    column};
    if (isInRows) {
      event.addresses = nullptr;
      event.rows = reinterpret_cast<const AccessRow *>(addresses);
      event.rowAxis = effects >> accessAxisShift;
      event.rowsAreMasked = effects & accessHasMask;
    }
    goesOn = self->shared->watcher->access(event);
    isStopped = self->call->isToLeave();
  }
  if (isStopped)
    siglongjmp(self->call->leave, 1);
  if (!goesOn)
    leaveProgram(*self, program.number);
}

void checkAccess(KernelContext *context, const uint32_t *programId, const char *access, uint32_t writes, uint32_t kind,
                 uint32_t size, int32_t argument, uint32_t rank, const int64_t *shape, const uint64_t *addresses,
                 const uint8_t *mask, const char *file, uint32_t line, uint32_t column) {
  auto *self = static_cast<ThreadContext *>(context);
  bool isAllowed = true;
  {
    CompiledCall::Callback callback(*self->call);
    llvm::ArrayRef<int64_t> extents(shape, rank);
    CheckedAccess checked{programId,
                          access,
                          (writes & AccessWrites) != 0,
                          kind,
                          size,
                          argument,
                          rank ? &extents : nullptr,
                          addresses,
                          mask,
                          file,
                          line,
                          column};
    if (std::optional<OutOfBoundsError> error = refusalOf(checked, *self->shared->arrays)) {
      isAllowed = false;
      std::lock_guard<std::mutex> guard(self->shared->lock);
      if (!self->shared->trouble)
        self->shared->trouble = std::make_exception_ptr(*error);
    }
    isAllowed = isAllowed && !self->call->isToLeave();
  }
  if (!isAllowed)
    siglongjmp(self->call->leave, 1);
}

uint32_t takeAtomicsTurn(KernelContext *context) {
  auto *self = static_cast<ThreadContext *>(context);
  CompiledCall::Callback callback(*self->call);
  SharedLaunch &shared = *self->shared;
  uint64_t longEnough = UINT64_MAX;
  try {
    if (shared.onOneThread)
      longEnough = std::min<uint64_t>(knobInteger(KnobId::LoneAtomics), INT32_MAX) * 1000;
  } catch (const std::exception &) {
    std::lock_guard<std::mutex> guard(shared.lock);
    shared.trouble = std::current_exception();
  }
  return shared.atomics.take(shared.onOneThread, shared.kernel.atomicsNanoseconds, longEnough);
}

uint64_t readClock(KernelContext *) { return clockNanoseconds(); }
uint32_t readProcessor(KernelContext *) { return processorNumber(); }

std::string faultText(const Fault &fault) {
  if (fault.signal == SIGFPE)
    return "divided by zero or overflowed in a division (SIGFPE)";
  if (fault.signal == SIGILL)
    return "ran an instruction that this machine does not have (SIGILL)";
  char address[32];
  std::snprintf(address, sizeof(address), "0x%llx", static_cast<unsigned long long>(fault.address));
  return std::string("accessed memory that is not there or may not be written") +
         (fault.hasAddress ? std::string(", at address ") + address : "") +
         (fault.signal == SIGBUS ? " (SIGBUS)" : " (SIGSEGV)");
}

void recordFault(SharedLaunch &shared, const Fault &fault) {
  SourceLine place;
  if (fault.instruction != 0)
    place = lineOf(shared.code.object, shared.code.symbol,
                   static_cast<int64_t>(fault.instruction - shared.kernel.function));
  std::lock_guard<std::mutex> guard(shared.lock);
  if (!shared.trouble)
    shared.trouble = std::make_exception_ptr(KernelFaultError(
        faultText(fault), shared.code.symbol, fault.hasAddress ? std::optional(fault.address) : std::nullopt,
        place.file, static_cast<uint32_t>(place.line)));
}

// The programs [begin, end) on this thread. False after a failure: nothing more is to be started.
bool runRange(SharedLaunch &shared, uint64_t begin, uint64_t end) {
  if (shared.stoppable.isLaunchingThread())
    shared.stoppable.look();
  if (shared.stoppable.isStopped())
    return false;
  if (shared.watcher)
    end = std::min(end, shared.watcher->firstUnwanted());
  if (begin >= end)
    return true; // lower programs may be wanted
  ThreadContext context;
  std::copy(shared.grid, shared.grid + 3, context.grid);
  context.launchId = shared.id;
  context.reserved = 0;
  context.print = printElements;
  context.assertFailed = recordAssert;
  context.waiting = awaitOthers;
  context.clock = readClock;
  context.processor = readProcessor;
  context.checkAccess = shared.watcher ? tellAccess : shared.arrays ? checkAccess : nullptr;
  context.tell = shared.watcher ? tellWatcher : nullptr;
  context.aloneWithAtomics = takeAtomicsTurn;
  context.launch = &shared;
  context.shared = &shared;
  std::fill(context.printing, context.printing + 3, UINT32_MAX);
  try {
    ScratchLoan scratch(shared.code.metadata.scratchBytes);
    context.scratch = scratch.data();
    KernelFunction function = shared.kernel.code->function;
    bool passed = false;
    do {
      passed = false;
      context.left.reset();
      Fault fault;
      {
        CompiledCall call(shared.kernel.range, shared.stoppable);
        context.call = &call;
        if (sigsetjmp(call.leave, 0) == 0) {
          function(shared.args, begin, end, &context);
          passed = true;
        }
        fault = call.fault();
      }
      if (fault.signal != 0)
        recordFault(shared, fault);
      context.passOn();
      if (context.left) { // the programs after the one that was ended
        begin = *context.left + 1;
        end = std::min(end, shared.watcher->firstUnwanted());
        // Those that wait for one another may wait for the one that was ended.
        passed = !shared.crew || shared.watcher->firstUnwanted() == UINT64_MAX;
      }
    } while (passed && context.left && begin < end);
    return passed;
  } catch (...) {
    std::lock_guard<std::mutex> guard(shared.lock);
    shared.trouble = std::current_exception();
    return false;
  }
}

// The same, and tells when it was.
bool runTimed(SharedLaunch &shared, uint64_t begin, uint64_t end) {
  uint64_t start = events::now();
  bool passed = runRange(shared, begin, end);
  uint64_t stop = events::now();
  shared.busy += stop - start;
  if (!events::isWanted(ProgramEvents))
    return passed;
  ProgramsRun run{shared.event, events::threadNumber(), start, stop, begin, end - begin};
  events::tell(ProgramEvents, [&](EventListener &listener) { listener.programsRun(run); });
  return passed;
}

} // namespace

void run(LoadedCpuKernel &kernel, const EnqueuedLaunch &launch) {
  const LaunchOptions &options = launch.options;
  const uint32_t *grid = launch.grid;
  uint64_t count = uint64_t(grid[0]) * grid[1] * grid[2];
  noteLaunch(kernel.range.name);
  SharedLaunch shared{launch.code,   kernel,         launch.arguments.data(), grid,
                      options.print, options.arrays, launch.watcher,          Stoppable(options.interrupted)};
  static std::atomic<uint64_t> launches{0};
  shared.id = ++launches;
  shared.event = launch.event;
  std::optional<SampledLaunch> sampled;
  if (launch.event && events::isWanted(SampleEvents))
    sampled.emplace(shared.stoppable);
  uint64_t begin = launch.event ? events::now() : 0;
  auto range = launch.event ? runTimed : runRange;
  if (options.cooperative || launch.code.metadata.waits) {
    auto interrupted = [&] { return shared.stoppable.look(), shared.stoppable.isStopped(); };
    auto program = [&](uint64_t number) { return range(shared, number, number + 1); };
    Crew crew(count, program, interrupted);
    shared.crew = &crew;
    if (options.cooperative)
      crew.run(count);
    else
      crew.run(ThreadPool::shared());
  } else if (count == 1) {
    shared.onOneThread = true;
    range(shared, 0, 1);
  } else {
    ThreadPool &pool = ThreadPool::shared();
    float estimate = kernel.programNanoseconds.load(std::memory_order_relaxed);
    bool alone = pool.threads() == 1 || (estimate > 0 && estimate * static_cast<float>(count) < inlineNanoseconds);
    auto start = std::chrono::steady_clock::now();
    shared.onOneThread = alone;
    if (alone)
      range(shared, 0, count);
    else
      pool.run(
          count, [&](uint64_t begin, uint64_t end) { return range(shared, begin, end); },
          [&] { shared.stoppable.look(); });
    auto elapsed = std::chrono::duration<float, std::nano>(std::chrono::steady_clock::now() - start).count();
    int threads = alone ? 1 : static_cast<int>(std::min<uint64_t>(pool.threads(), count));
    kernel.programNanoseconds.store(std::max(1.0f, elapsed * static_cast<float>(threads) / static_cast<float>(count)),
                                    std::memory_order_relaxed);
  }
  if (launch.event) {
    LaunchTimes times{launch.event, begin, events::now(), shared.busy};
    events::tell(LaunchTimeEvents, [&](EventListener &listener) { listener.launchTimes(times); });
    if (sampled)
      sampled->tell(launch.event, launch.code, kernel.function);
  }
  shared.flush();
  if (shared.stoppable.wasInterrupted())
    throw LaunchInterrupted();
  if (shared.trouble)
    std::rethrow_exception(shared.trouble);
  if (shared.failure)
    throw *shared.failure;
}

} // namespace nacre::cpu
