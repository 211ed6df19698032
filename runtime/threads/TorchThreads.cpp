#include "runtime/threads/TorchThreads.h"
#include "compiler/support/ForkSafety.h"
#include <atomic>
#include <cassert>
#include <dlfcn.h>

namespace nacre {

namespace {

// As the compilers that call it know it. The last argument is of `proc_bind`; 0 leaves that to the environment.
using ParallelRegion = void (*)(void (*member)(void *), void *data, unsigned threads, unsigned flags);
using NumberOfThreads = int (*)();

std::atomic<ParallelRegion> parallelRegion = nullptr; // null in a child after fork as well
std::atomic<NumberOfThreads> numberOfThreads = nullptr;
std::atomic<bool> isTeamLent = false;

// What a region's end takes at most while its threads have cores, and how many launches the team then sits out.
constexpr std::chrono::microseconds longestEnd(200);
constexpr int satOut = 256;
std::atomic<int> sitsOut = 0;

// What making a team costs, and what this thread's grids have taken without one.
constexpr std::chrono::milliseconds priceOfATeam(10);
thread_local std::chrono::nanoseconds timeWithout(0);

} // namespace

void lookForTorchThreads() {
  if (numberOfThreads.load(std::memory_order_acquire))
    return;
  // Never loaded here, and never closed: torch cannot be unloaded. Names are looked up in it and in what it was linked
  // with, so the runtime is torch's even where there is another one in the process.
  void *torch = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
  if (!torch)
    return;
  auto region = reinterpret_cast<ParallelRegion>(dlsym(torch, "GOMP_parallel"));
  // at::get_num_threads(), which sees to it that a thread new to torch knows what torch.set_num_threads() has set.
  auto number = reinterpret_cast<NumberOfThreads>(dlsym(torch, "_ZN2at15get_num_threadsEv"));
  if (!region || !number)
    return;
  static const bool registered = (onFork([] {
                                    parallelRegion.store(nullptr);
                                    isTeamLent.store(false);
                                  }),
                                  true);
  (void)registered;
  parallelRegion.store(region, std::memory_order_release);
  numberOfThreads.store(number, std::memory_order_release);
}

int torchThreads() {
  NumberOfThreads number = numberOfThreads.load(std::memory_order_acquire);
  return number ? number() : 0;
}

TorchTeam::TorchTeam() : isLent(false) {
  if (!parallelRegion.load(std::memory_order_acquire) || isYetToBeEarned())
    return;
  if (sitsOut.load(std::memory_order_relaxed) > 0) {
    sitsOut.fetch_sub(1, std::memory_order_relaxed);
    return;
  }
  isLent = !isTeamLent.exchange(true);
}

TorchTeam::~TorchTeam() {
  if (isLent)
    isTeamLent.store(false, std::memory_order_release);
}

bool TorchTeam::isYetToBeEarned() { return timeWithout < priceOfATeam; }

void TorchTeam::tellTimeWithout(std::chrono::nanoseconds time) { timeWithout += time; }

void TorchTeam::run(int threads, void (*member)(void *), void *data) {
  assert(isLent && "a team that was not lent");
  parallelRegion.load(std::memory_order_acquire)(member, data, static_cast<unsigned>(threads), 0);
}

void TorchTeam::tellWait(std::chrono::nanoseconds time) {
  if (time > longestEnd)
    sitsOut.store(satOut, std::memory_order_relaxed);
}

} // namespace nacre
