#include "runtime/compile/Fingerprint.h"
#include "llvm/ADT/StringExtras.h"

namespace nacre {

std::string Fingerprint::hex() const {
  llvm::BLAKE3 copy = hasher; // finishing may change the state
  return llvm::toHex(llvm::ArrayRef<uint8_t>(copy.final<20>()), /*LowerCase=*/true);
}

} // namespace nacre
