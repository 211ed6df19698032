// A libFuzzer target: whatever the text is, loading it ends with a module or an Error.
#include "simulator/Simulator.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  try {
    nacre::simulator::load(std::string_view(reinterpret_cast<const char *>(data), size));
  } catch (const nacre::simulator::Error &) {
  }
  return 0;
}
