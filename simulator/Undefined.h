// Undefined values, watched until they are used.
#pragma once

#include "simulator/Machine.h"

namespace nacre::simulator {

// After a load from local memory: which of the registers hold bytes that nothing has written.
void noteUndefinedLoad(Warp &warp, const Op &op, uint32_t lanes, std::byte *const *host);
// After a store: bytes in local memory are as undefined as the registers they come from.
void noteUndefinedStore(Warp &warp, const Op &op, uint32_t lanes, std::byte *const *host);
// The same for parameters and results of calls, within a frame and from one to another.
void noteUndefinedArgument(Warp &warp, const Op &op, uint32_t mask);
void takeUndefinedArgument(Warp &warp, const Op &op, uint32_t mask);
void passUndefined(Warp &warp, const Frame *from, uint32_t start, const Frame *into, uint32_t target, uint32_t bytes,
                   uint32_t lanes);
// The value of a register of the frame at hand; null: it is defined.
const Undefined *undefinedValue(const Warp &warp, Slot slot);
// Lanes of a register get values, of which some are undefined, as `origin` tells.
void setUndefined(Warp &warp, Slot slot, uint32_t lanes, uint32_t undefined, const Undefined *origin);
// Before an op while some register is undefined: what is computed of it is undefined too; where it decides a branch or
// an address, or leaves the thread, that is reported.
void watchUndefined(Warp &warp, const Op &op, uint32_t mask);

} // namespace nacre::simulator
