// What is said where the process ends by a fault or an abort outside of kernels: a kernel that stores beyond its arrays
// damages the heap, and what happens then happens elsewhere. Names the kernels that ran, and how such a store is found.
#pragma once

namespace nacre {

// A kernel is launched. Costs a comparison where it is the one that was launched before.
void noteLaunch(const char *kernel);

// From a signal handler. Says nothing where no kernel ran, or in the child of a fork: tuners let candidates crash there.
void sayLastWords(const char *signal);

} // namespace nacre
