// See Sampling.h.
#include "runtime/devices/cpu/Sampling.h"
#include "compiler/support/ForkSafety.h"
#include "compiler/targets/cpu/Disassembly.h"
#include "runtime/Events.h"
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <map>
#include <mutex>
#include <new>
#include <semaphore.h>
#include <thread>

namespace nacre {

// Pages that nobody writes cost nothing.
Samples::Samples() : instructions(static_cast<uint64_t *>(std::calloc(most, sizeof(uint64_t)))) {
  if (!instructions)
    throw std::bad_alloc();
}

Samples::~Samples() { std::free(instructions); }

namespace cpu {

namespace {

// The thread that nudges. Asleep while no launch is sampled.
class Sampler {
public:
  static Sampler &get() {
    static ProcessLock making;
    static bool forgets = (onFork([] { made = nullptr; }), true); // the child has no such thread
    (void)forgets;
    std::lock_guard<ProcessLock> guard(making);
    if (!made)
      made = new Sampler;
    return *made;
  }

  void enter() {
    if (launches.fetch_add(1) == 0)
      sem_post(&awake);
  }
  void leave() { launches.fetch_sub(1); }

private:
  Sampler() {
    sem_init(&awake, 0, 0);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); // what is sent to the process is not for this thread
    std::thread([this] { work(); }).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  [[noreturn]] void work() {
    for (;;) {
      if (launches.load() == 0) {
        sem_wait(&awake);
        continue;
      }
      uint64_t microseconds = std::max(1u, events::sampleInterval.load(std::memory_order_relaxed));
      timespec pause{static_cast<time_t>(microseconds / 1000000), static_cast<long>(microseconds % 1000000 * 1000)};
      clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, nullptr);
      nudgeCalls();
    }
  }

  static inline Sampler *made = nullptr;
  sem_t awake;
  std::atomic<int> launches{0};
};

} // namespace

SampledLaunch::SampledLaunch(Stoppable &launch) : launch(launch) {
  launch.samples = &samples;
  Sampler::get().enter();
}

SampledLaunch::~SampledLaunch() {
  Sampler::get().leave();
  launch.samples = nullptr;
}

void SampledLaunch::tell(uint64_t number, const CompiledCode &code, uint64_t function) const {
  std::map<uint64_t, uint64_t> counts; // by instruction
  for (uint64_t instruction : samples.all())
    ++counts[instruction];
  std::vector<int64_t> offsets;
  for (const auto &[instruction, count] : counts)
    if (instruction != 0)
      offsets.push_back(static_cast<int64_t>(instruction - function));
  std::vector<SourceLine> places = linesOf(code.object, code.symbol, offsets);
  std::map<std::pair<std::string, int>, uint64_t> byLine;
  size_t next = 0;
  for (const auto &[instruction, count] : counts) {
    SourceLine place = instruction != 0 ? places[next++] : SourceLine();
    byLine[{place.file, place.line}] += count;
  }
  std::vector<LineSamples> lines;
  for (const auto &[place, count] : byLine)
    lines.push_back({place.first, static_cast<uint32_t>(place.second), count});
  LaunchSamples told{number, lines};
  events::tell(SampleEvents, [&](EventListener &listener) { listener.launchSamples(told); });
}

} // namespace cpu
} // namespace nacre
