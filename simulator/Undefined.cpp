// Reads of local memory that nothing has written. A copy of such memory is no mistake, since compilers copy whole
// structures with the bytes between their members; a use of the value is.
#include "simulator/Undefined.h"
#include <algorithm>

namespace nacre::simulator {

static bool isLocal(const Warp &warp, const std::byte *host) {
  return host >= warp.local.data() && host < warp.local.data() + warp.local.size;
}
static Undefined *find(Warp &warp, uint32_t offset) {
  for (Undefined &entry : warp.undefined)
    if (entry.frame == warp.frame && entry.offset == offset)
      return &entry;
  return nullptr;
}
static Undefined &make(Warp &warp, uint32_t offset, uint32_t op) {
  if (Undefined *known = find(warp, offset))
    return *known;
  warp.undefined.push_back({warp.frame, offset, op});
  return warp.undefined.back();
}
static void dropDefined(Warp &warp) {
  std::erase_if(warp.undefined, [](const Undefined &entry) { return entry.lanes() == 0; });
}

void noteUndefinedLoad(Warp &warp, const Op &op, uint32_t lanes, std::byte *const *host) {
  const Part *parts = warp.program->parts.data() + op.first;
  forEachLane(lanes, [&](unsigned lane) {
    if (!isLocal(warp, host[lane]))
      return;
    const std::byte *written = warp.localInitialised.data() + (host[lane] - warp.local.data());
    for (uint32_t k = 0; k < op.count; ++k) {
      uint16_t bytes = 0;
      for (uint32_t i = 0; i < op.bytes; ++i)
        bytes |= static_cast<uint16_t>((written[k * op.bytes + i] == std::byte(0)) << i);
      if (bytes && !parts[k].sink)
        make(warp, parts[k].slot.offset(), warp.pc).bytes[lane] = bytes;
    }
  });
}

void noteUndefinedStore(Warp &warp, const Op &op, uint32_t lanes, std::byte *const *host) {
  const Part *parts = warp.program->parts.data() + op.first;
  for (uint32_t k = 0; k < op.count; ++k) {
    if (parts[k].slot.base() != FrameBase)
      continue;
    const Undefined *entry = find(warp, parts[k].slot.offset());
    if (!entry)
      continue;
    forEachLane(lanes & entry->lanes(), [&](unsigned lane) {
      if (!isLocal(warp, host[lane]))
        return;
      std::byte *written = warp.localInitialised.data() + (host[lane] - warp.local.data()) + k * op.bytes;
      for (uint32_t i = 0; i < op.bytes; ++i)
        if (entry->bytes[lane] >> i & 1)
          written[i] = std::byte(0);
    });
  }
}

// What an op does with the values of its registers.
enum class Role : uint8_t { Uses, Copies, Hides };
static Role roleOf(const Op &op, const OpInfo &info) {
  switch (op.kind) {
  case InstructionClass::Move: // a plain copy keeps the bytes; packing and addresses are not followed
    return info.readCount == 1 && info.writeCount == 1 ? Role::Copies : Role::Hides;
  case InstructionClass::Logic: // takes members of structures apart and puts them together
  case InstructionClass::Convert:
  case InstructionClass::Branch: // calls
    return Role::Hides;
  default:
    return Role::Uses;
  }
}

void watchUndefined(Warp &warp, const Op &op, uint32_t mask) {
  const OpInfo &info = warp.program->infos[warp.pc];
  const uint32_t *reads = warp.program->touched.data() + info.firstRead;
  const uint32_t *writes = warp.program->touched.data() + info.firstWrite;
  Role role = roleOf(op, info);
  std::array<uint16_t, laneCount> copied = {};
  uint32_t from = 0;
  for (uint32_t i = 0; i < info.readCount; ++i) {
    Undefined *entry = find(warp, reads[i]);
    uint32_t lanes = entry ? entry->lanes() & mask : 0;
    if (!lanes)
      continue;
    if (role == Role::Copies) {
      copied = entry->bytes;
      from = entry->op;
      continue;
    }
    // What is stored to the thread's own memory or passed on is still only copied.
    bool isAddress = op.a.base() == FrameBase && op.a.offset() == reads[i];
    bool storesLocally =
        op.kind == InstructionClass::Memory && info.writeCount == 0 && !isAddress &&
        (op.space == Space::Local || op.space == Space::Parameter ||
         (op.space == Space::Generic && warp.at<uint64_t>(op.a)[std::countr_zero(lanes)] >> 56 == localWindow >> 56));
    if (role == Role::Uses && !storesLocally) {
      unsigned lane = static_cast<unsigned>(std::countr_zero(lanes));
      warp.launch->reportAt(FindingKind::Uninitialised,
                            "read of local memory that the thread has not written, and use of its value", entry->op,
                            warp.pc, warp.block, &warp, lane);
      entry->bytes.fill(0); // said once
    }
  }
  for (uint32_t i = 0; i < info.writeCount; ++i) {
    if (role == Role::Copies && from) {
      Undefined &entry = make(warp, writes[i], from);
      forEachLane(mask, [&](unsigned lane) { entry.bytes[lane] = copied[lane]; });
    } else if (Undefined *entry = find(warp, writes[i])) {
      forEachLane(mask, [&](unsigned lane) { entry->bytes[lane] = 0; });
    }
  }
  dropDefined(warp);
}

} // namespace nacre::simulator
