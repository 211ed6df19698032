// The passes of this folder, for nacre-opt. Those that ask a machine are registered by its target, with the
// architecture as an option.
#pragma once

namespace nacre::simt {

void registerGpuPasses();

} // namespace nacre::simt
