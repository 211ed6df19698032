// What is said where the process ends by a fault or an abort outside of kernels: a kernel that stores beyond its arrays
// damages the heap, and what happens then happens elsewhere. Names the kernels that ran, and how such a store is found.
#pragma once

namespace nacre {

// A kernel is launched. Costs a comparison where it is the one that was launched before.
void noteLaunch(const char *kernel);

// Looks up what the next function reads; before a handler calls it.
void prepareLastWords();

// From the handler of SIGABRT: whether the C library ends the process because it found memory damaged. It may hold the
// lock of the allocator then, and nothing that allocates may run after it. False of assertions, and of another C library
// than glibc.
bool isAbortForDamage();

// From a signal handler. Says nothing where no kernel ran, or in the child of a fork: tuners let candidates crash there.
void sayLastWords(const char *signal);

} // namespace nacre
