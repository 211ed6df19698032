// Modifiers that instructions on memory share.
#pragma once

#include "simulator/Decoder.h"

namespace nacre::simulator {

MemoryOrder takeOrder(Decoder &decoder, MemoryOrder fallback);
Scope takeScope(Decoder &decoder, Scope fallback);
bool takeCacheModifiers(Decoder &decoder); // true: a cache policy is an operand
unsigned takeVector(Decoder &decoder);

} // namespace nacre::simulator
