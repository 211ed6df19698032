// Undefined values: of local memory that nothing has written, of shuffles from lanes that are not there.
//
// To load or compute one is no mistake: compilers copy whole structures with the bytes between their members, and
// kernels shuffle first and then throw away what came from nobody. It becomes one where the value decides a branch or
// an address, or goes to memory that others see; there, a value with some defined bytes is a structure with its gaps.
#include "simulator/Undefined.h"
#include <algorithm>

namespace nacre::simulator {

static constexpr uint16_t everyByte = 0xFFFF;

static bool isLocal(const Warp &warp, const std::byte *host) {
  return host >= warp.local.data() && host < warp.local.data() + warp.local.size;
}
static Undefined *find(Warp &warp, uint32_t offset) {
  for (Undefined &entry : warp.undefined)
    if (entry.frame == warp.frame && entry.offset == offset)
      return &entry;
  return nullptr;
}
static Undefined &make(Warp &warp, uint32_t offset, const Undefined &origin) {
  Undefined *entry = find(warp, offset);
  if (!entry) {
    warp.undefined.push_back(Undefined());
    entry = &warp.undefined.back();
    entry->frame = warp.frame, entry->offset = offset;
  }
  entry->kind = origin.kind, entry->op = origin.op, entry->message = origin.message, entry->place = origin.place;
  return *entry;
}
static void dropDefined(Warp &warp) {
  std::erase_if(warp.undefined, [](const Undefined &entry) { return entry.lanes() == 0; });
}

const Undefined *undefinedValue(const Warp &warp, Slot slot) {
  return slot.base() == FrameBase ? find(const_cast<Warp &>(warp), slot.offset()) : nullptr;
}

void setUndefined(Warp &warp, Slot slot, uint32_t lanes, uint32_t undefined, const Undefined *origin) {
  if (slot.base() != FrameBase)
    return;
  Undefined *entry = origin && undefined ? &make(warp, slot.offset(), *origin) : find(warp, slot.offset());
  if (!entry)
    return;
  forEachLane(lanes, [&](unsigned lane) { entry->bytes[lane] = undefined >> lane & 1 ? everyByte : 0; });
  dropDefined(warp);
}

void noteUndefinedLoad(Warp &warp, const Op &op, uint32_t lanes, std::byte *const *host) {
  const Part *parts = warp.program->parts.data() + op.first;
  Undefined origin;
  origin.op = warp.pc;
  origin.place = warp.program->place(warp.pc, warp.frame);
  origin.message = "read of local memory that the thread has not written, and use of its value";
  forEachLane(lanes, [&](unsigned lane) {
    if (!isLocal(warp, host[lane]))
      return;
    const std::byte *written = warp.localInitialized.data() + (host[lane] - warp.local.data());
    for (uint32_t k = 0; k < op.count; ++k) {
      uint16_t bytes = 0;
      for (uint32_t i = 0; i < op.bytes; ++i)
        bytes |= static_cast<uint16_t>((written[k * op.bytes + i] == std::byte(0)) << i);
      if (bytes && !parts[k].sink)
        make(warp, parts[k].slot.offset(), origin).bytes[lane] = bytes;
    }
  });
}

void noteUndefinedStore(Warp &warp, const Op &op, uint32_t lanes, std::byte *const *host) {
  const Part *parts = warp.program->parts.data() + op.first;
  for (uint32_t k = 0; k < op.count; ++k) {
    const Undefined *entry = undefinedValue(warp, parts[k].slot);
    if (!entry)
      continue;
    forEachLane(lanes & entry->lanes(), [&](unsigned lane) {
      if (!isLocal(warp, host[lane]))
        return;
      std::byte *written = warp.localInitialized.data() + (host[lane] - warp.local.data()) + k * op.bytes;
      for (uint32_t i = 0; i < op.bytes; ++i)
        if (entry->bytes[lane] >> i & 1)
          written[i] = std::byte(0);
    });
  }
}

// Parameters and results of calls are kept like registers, by their place in the frame.
static constexpr uint32_t parameterFlag = 0x80000000u;

void noteUndefinedArgument(Warp &warp, const Op &op, uint32_t mask) {
  const Part *parts = warp.program->parts.data() + op.first;
  for (uint32_t k = 0; k < op.count; ++k) {
    const Undefined *entry = undefinedValue(warp, parts[k].slot);
    Undefined value = entry ? *entry : Undefined();
    uint32_t offset = parameterFlag | static_cast<uint32_t>(op.offset + k * op.bytes);
    Undefined *kept = entry ? &make(warp, offset, value) : find(warp, offset);
    if (kept)
      forEachLane(mask, [&](unsigned lane) { kept->bytes[lane] = value.bytes[lane]; });
  }
  dropDefined(warp);
}
void takeUndefinedArgument(Warp &warp, const Op &op, uint32_t mask) {
  const Part *parts = warp.program->parts.data() + op.first;
  for (uint32_t k = 0; k < op.count; ++k)
    if (const Undefined *entry = find(warp, parameterFlag | static_cast<uint32_t>(op.offset + k * op.bytes));
        entry && !parts[k].sink && parts[k].slot.base() == FrameBase) {
      Undefined value = *entry;
      Undefined &taken = make(warp, parts[k].slot.offset(), value);
      forEachLane(mask, [&](unsigned lane) { taken.bytes[lane] = value.bytes[lane]; });
    }
}
void passUndefined(Warp &warp, const Frame *from, uint32_t start, const Frame *into, uint32_t target, uint32_t bytes,
                   uint32_t lanes) {
  for (Undefined &old : warp.undefined) // of an earlier call
    if (uint32_t offset = old.offset & ~parameterFlag;
        old.frame == into && (old.offset & parameterFlag) && offset >= target && offset < target + bytes)
      forEachLane(lanes, [&](unsigned lane) { old.bytes[lane] = 0; });
  for (size_t i = 0, count = warp.undefined.size(); i < count; ++i) {
    Undefined value = warp.undefined[i];
    uint32_t offset = value.offset & ~parameterFlag;
    if (value.frame != from || !(value.offset & parameterFlag) || offset < start || offset >= start + bytes)
      continue;
    value.frame = into;
    value.offset = parameterFlag | (target + offset - start);
    for (unsigned lane = 0; lane < laneCount; ++lane)
      if (!(lanes >> lane & 1))
        value.bytes[lane] = 0;
    warp.undefined.push_back(std::move(value));
  }
}

// What an op makes of an undefined operand.
enum class Role : uint8_t { Copies, Computes, Selects, Splits, Hides, Exchanges, Shows };
static Role roleOf(const Op &op, const OpInfo &info) {
  std::string_view name = info.instruction->words[0];
  switch (op.kind) {
  case InstructionClass::Move: // a plain copy keeps the bytes; packing and addresses are not followed
    return name == "selp" ? Role::Selects : info.readCount == 1 && info.writeCount == 1 ? Role::Copies : Role::Hides;
  case InstructionClass::Logic: // makes members of structures that are only some bits wide
    return info.instruction->words.back() == "pred" ? Role::Computes : Role::Hides;
  case InstructionClass::Convert:
    return Role::Splits;
  case InstructionClass::Branch: // calls
    return Role::Hides;
  case InstructionClass::Integer:
  case InstructionClass::Float:
  case InstructionClass::Half:
  case InstructionClass::Double:
  case InstructionClass::Special:
  case InstructionClass::Compare:
    return Role::Computes;
  case InstructionClass::Shuffle:
    return name == "shfl" ? Role::Exchanges : Role::Shows;
  default:
    return Role::Shows;
  }
}

static bool isSlot(Slot slot, uint32_t offset) { return slot.base() == FrameBase && slot.offset() == offset; }

// Stores to the thread's own memory, and arguments of calls.
static bool staysInThread(const Warp &warp, const Op &op, const OpInfo &info, uint32_t offset, uint32_t lanes) {
  if (op.kind != InstructionClass::Memory || info.writeCount || isSlot(op.a, offset))
    return false;
  return op.space == Space::Local || op.space == Space::Parameter ||
         (op.space == Space::Generic && warp.at<uint64_t>(op.a)[std::countr_zero(lanes)] >> 56 == localWindow >> 56);
}

// Lanes where `false and x` or `true or x` do not depend on x.
static uint32_t decidedLanes(Warp &warp, const Op &op, const OpInfo &info, uint32_t offset) {
  const auto &words = info.instruction->words;
  if (words.back() != "pred" || (words[0] != "and" && words[0] != "or"))
    return 0;
  Slot other = isSlot(op.a, offset) ? op.b : op.a;
  uint32_t value = warp.predicate(other), deciding = words[0] == "and" ? ~value : value;
  const Undefined *entry = undefinedValue(warp, other);
  return entry ? deciding & ~entry->lanes() : deciding;
}

// Lanes whose stored value has no defined byte; of one that has, the rest are gaps between members.
static uint32_t storedWhole(const Op &op, const Undefined &entry, uint32_t offset, uint32_t lanes) {
  if (isSlot(op.a, offset) || (op.kind != InstructionClass::Memory && op.kind != InstructionClass::SharedMemory))
    return lanes;
  auto stored = static_cast<uint16_t>((1u << op.bytes) - 1);
  uint32_t whole = 0;
  forEachLane(lanes, [&](unsigned lane) { whole |= uint32_t((entry.bytes[lane] & stored) == stored) << lane; });
  return whole;
}

static void reportUse(Warp &warp, const Undefined &entry, uint32_t lanes) {
  uint32_t op = entry.op;
  warp.launch->reportAt(entry.kind, entry.message, op, warp.pc, warp.block, &warp,
                        static_cast<uint32_t>(std::countr_zero(lanes)), &entry.place);
  std::erase_if(warp.undefined, [&](const Undefined &other) { return other.op == op; }); // said once
}

void watchUndefined(Warp &warp, const Op &op, uint32_t mask) {
  const OpInfo &info = warp.program->infos[warp.pc];
  const uint32_t *reads = warp.program->touched.data() + info.firstRead;
  const uint32_t *writes = warp.program->touched.data() + info.firstWrite;
  Role role = roleOf(op, info);
  std::array<uint16_t, laneCount> made = {};
  Undefined origin;
  for (uint32_t i = 0; i < info.readCount; ++i) {
    const Undefined *entry = find(warp, reads[i]);
    bool isGuard = op.guard == reads[i];
    uint32_t lanes = entry ? entry->lanes() & (isGuard ? warp.active : mask) : 0;
    if (!lanes)
      continue;
    bool shows = role == Role::Shows && !staysInThread(warp, op, info, reads[i], lanes);
    if (isGuard || shows || (role == Role::Exchanges && !isSlot(op.a, reads[i]))) {
      if (uint32_t used = isGuard ? lanes : storedWhole(op, *entry, reads[i], lanes))
        reportUse(warp, *entry, used);
      continue;
    }
    if (role == Role::Selects && !isSlot(op.c, reads[i])) {
      uint32_t first = op.flags ? ~warp.predicate(op.c) : warp.predicate(op.c);
      lanes &= (isSlot(op.a, reads[i]) ? first : 0) | (isSlot(op.b, reads[i]) ? ~first : 0);
    }
    if (op.kind == InstructionClass::Logic)
      lanes &= ~decidedLanes(warp, op, info, reads[i]);
    bool any = false;
    forEachLane(lanes, [&](unsigned lane) {
      uint16_t bytes = entry->bytes[lane];
      bool whole = (bytes & 15) == 15;
      bytes = role == Role::Copies                              ? bytes
              : role == Role::Computes || role == Role::Selects ? everyByte
              : role == Role::Splits && whole                   ? everyByte
                                                                : 0;
      made[lane] |= bytes;
      any |= bytes != 0;
    });
    if (any)
      origin = *entry;
  }
  if (role == Role::Exchanges) // the exchange itself knows
    return;
  for (uint32_t i = 0; i < info.writeCount; ++i) {
    Undefined *entry = origin.message.empty() ? find(warp, writes[i]) : &make(warp, writes[i], origin);
    if (entry)
      forEachLane(mask, [&](unsigned lane) { entry->bytes[lane] = made[lane]; });
  }
  dropDefined(warp);
}

} // namespace nacre::simulator
