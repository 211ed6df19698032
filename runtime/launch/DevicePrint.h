// How the elements of a device_print look, and where they go.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace nacre {

// Appends one line an element: "pid (0, 0, 0) idx (  7) x: 1.000000". The arguments are those of KernelContext::print.
void formatPrint(std::string &out, const uint32_t *programId, const char *prefix, bool hex, uint32_t count,
                 const uint32_t *kinds, const int64_t *shapes, const void *const *data);

// An element of such an operand as a number: whatever its type, rounded to what a double holds.
double elementAsNumber(uint32_t kind, const void *data, int64_t index);

// Takes whole lines, from any thread but one call at a time.
using PrintSink = std::function<void(const std::string &text)>;

} // namespace nacre
