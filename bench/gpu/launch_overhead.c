// What the bare driver call costs, measured from C: bench/gpu/launch.py compiles and loads this.
#include <time.h>

typedef int (*Launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                      void **);

// Nanoseconds a launch, of `count` in a row; negative: the driver's error.
double launchMany(Launch launch, void *function, unsigned threads, void *stream, void **parameters, int count) {
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (int i = 0; i < count; ++i) {
    int result = launch(function, 1, 1, 1, threads, 1, 1, 0, stream, parameters, 0);
    if (result)
      return -result;
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  return ((end.tv_sec - begin.tv_sec) * 1e9 + (end.tv_nsec - begin.tv_nsec)) / count;
}
