// The threads that torch computes with, as a place to run grids.
//
// Two sets of threads on the same cores fight: torch's (its OpenMP runtime's) spin for milliseconds after each parallel
// region for the next one, and a grid on threads of its own would wait for the cores they hold. So where kernels are
// launched on torch's tensors, grids run as parallel regions of torch's own OpenMP runtime, through the entry that
// compilers call for `#pragma omp parallel` and that GNU's, LLVM's and Intel's runtimes all have; a thread that calls
// torch and launches kernels has one team for both. Grids then have as many threads as torch.get_num_threads() says,
// unless a number was asked for.
//
// A region ends when each of its threads has been there, also those that found nothing left to do. Where other programs
// hold the cores that takes as long as the scheduler lets them, thousands of times what a small grid takes; the pool's
// threads need not have been there. So a team that had to be waited for sits out the next launches.
//
// A thread's first region makes its team and waits until the new threads have got cores: 5 to 10 ms where they begin on
// the core of the thread that spins for them. So a thread is lent the team once its grids have taken that long on the
// pool's threads; the first launch of a program, and a program of few launches, never wait for it.
//
// A region must not be entered in a child after fork: OpenMP's threads are not there, and its runtime would wait for
// them for ever. The pool's own threads serve there.
#pragma once

#include <chrono>

namespace nacre {

// To be called when torch is known to be loaded; once is enough, more often does no harm. From any thread.
void lookForTorchThreads();

// How many threads torch uses on this thread; 0 where torch is not known, or computes without OpenMP.
int torchThreads();

// One loan of the team to the calling thread. Launches of several threads at once, or of a region's own threads, get
// none but the first: so no more threads run than torch was given, and those of the pool.
class TorchTeam {
public:
  TorchTeam();
  ~TorchTeam();
  TorchTeam(const TorchTeam &) = delete;
  explicit operator bool() const { return isLent; }

  // Has this many threads, the calling one among them, call `member(data)`, and returns when all of them have.
  void run(int threads, void (*member)(void *data), void *data);
  // A grid of the calling thread took so long without the team.
  static void tellTimeWithout(std::chrono::nanoseconds time);
  // Whether the calling thread has yet to tell enough of that to be lent the team.
  static bool isYetToBeEarned();
  // For so long the calling thread waited for threads that had nothing left to do.
  void tellWait(std::chrono::nanoseconds time);

private:
  bool isLent;
};

} // namespace nacre
