// After fork the child has one thread: pools have no workers and locks may be held by threads that no longer exist.
// State of that kind is registered here and made new in the child. What a child cannot ask for is asked before the fork.
#pragma once

namespace nacre {

// `renew` runs in every child, in the order of registration. It must only store to memory (no locks).
void onFork(void (*renew)());

// `prepare` runs in the parent before every fork, in the order of registration, in the thread that forks.
void beforeFork(void (*prepare)());

// Said in a child by a driver that answers nothing there any more: an address may be its device's, and nobody can tell.
void forgetMemory();
bool memoryIsForgotten();

} // namespace nacre
