// Memory that nobody has written yet: what torch.empty and its kin give.
//
// Such memory is filled with a signature, bytes that depend on their address. Before each launch it is looked at: where
// the signature is gone, somebody outside of kernels has written, by whatever means. What kernels write is known
// exactly. So nothing needs to be told of copies and fills, and memory that was freed and serves again is never
// mistaken.
#pragma once

#include "compiler/support/ForkSafety.h"
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace nacre::sanitizer {

class Unwritten {
public:
  // The process's own.
  static Unwritten &shared();

  // New memory: it gets the signature.
  void add(uint64_t begin, uint64_t bytes);
  // Looks at all of it again.
  void refresh();

  struct Area {
    uint64_t begin, end;
    std::vector<uint8_t> isUnwritten; // a byte for each
  };
  // Areas in the order of their addresses; they stay while a launch runs.
  std::vector<std::shared_ptr<Area>> areas();

private:
  RenewedLock lock;
  std::map<uint64_t, std::shared_ptr<Area>> known; // by begin
};

} // namespace nacre::sanitizer
