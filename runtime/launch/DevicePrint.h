// How the elements of a device_print look, and where they go.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace nacre {

// Appends one line an element: "pid (0, 0, 0) idx (  7) x: 1.000000". The arguments are those of KernelContext::print.
void formatPrint(std::string &out, const uint32_t *programId, const char *prefix, bool hex, uint32_t count,
                 const uint32_t *kinds, const int64_t *shapes, const void *const *data);

// Takes whole lines, from any thread but one call at a time.
using PrintSink = std::function<void(const std::string &text)>;

} // namespace nacre
