// Content addresses: what a thing is named by in the cache is a hash of everything that it depends on.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/BLAKE3.h"
#include <string>

namespace nacre {

// Collects fields; each is fed with its length, so that no two lists of fields look alike.
class Fingerprint {
public:
  Fingerprint &add(llvm::StringRef field) {
    add(static_cast<uint64_t>(field.size()));
    hasher.update(field);
    return *this;
  }
  Fingerprint &add(const std::string &field) { return add(llvm::StringRef(field)); }
  Fingerprint &add(const char *field) { return add(llvm::StringRef(field)); }
  Fingerprint &add(uint64_t number) {
    hasher.update(llvm::ArrayRef<uint8_t>(reinterpret_cast<const uint8_t *>(&number), sizeof(number)));
    return *this;
  }
  Fingerprint &add(bool flag) { return add(static_cast<uint64_t>(flag)); }
  Fingerprint &add(int number) { return add(static_cast<uint64_t>(static_cast<int64_t>(number))); }

  // 40 hexadecimal digits.
  std::string hex() const;

private:
  llvm::BLAKE3 hasher;
};

} // namespace nacre
