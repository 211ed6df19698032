// Values that come from local memory which nothing has written: watched until they are used (Undefined.cpp).
#pragma once

#include "simulator/Machine.h"

namespace nacre::simulator {

// After a load from local memory: which of the registers hold bytes that nothing has written.
void noteUndefinedLoad(Warp &warp, const Op &op, uint32_t lanes, std::byte *const *host);
// After a store: bytes in local memory are as undefined as the registers they come from.
void noteUndefinedStore(Warp &warp, const Op &op, uint32_t lanes, std::byte *const *host);
// Before an op while some register is undefined: copies pass it on, uses are reported.
void watchUndefined(Warp &warp, const Op &op, uint32_t mask);

} // namespace nacre::simulator
