// The stream that torch uses now on a device, without torch's headers or Python: by the C interface of its own library,
// where a process has loaded that.
#pragma once

#include <cstdint>

namespace nacre::cuda {

// Looks whether torch is there; called when a kernel is loaded, since torch may come later than the first one.
void lookForTorch();
// 0, the default stream, where there is no torch.
uint64_t torchStream(int device);

} // namespace nacre::cuda
