// Memory of three kinds under one set of checks.
//
// A race is two accesses of one word, one of them a write, whose order nothing decides. Within a work-group, an access
// is before another wave's where its own wave had waited for it before a barrier that both passed. Work-groups have no
// order among them, until one of them reads what others may have signaled: after an atomic that returns a value it is
// taken to have synchronized, and is not checked against other groups any more.
#include "simulator/amdgcn/Memory.h"
#include <algorithm>
#include <set>

namespace nacre::simulator::amdgcn {

const MemoryRange *LaunchState::find(uint64_t address, uint64_t bytes) {
  auto holds = [&](const MemoryRange &range) {
    auto begin = reinterpret_cast<uint64_t>(range.data);
    return address >= begin && address - begin <= range.bytes && bytes <= range.bytes - (address - begin);
  };
  if (lastFound < memory.size() && holds(memory[lastFound]))
    return &memory[lastFound];
  // Ranges may lie within others: of those that begin before the address, the last one that holds it.
  auto after = std::upper_bound(memory.begin(), memory.end(), address, [](uint64_t value, const MemoryRange &range) {
    return value < reinterpret_cast<uint64_t>(range.data);
  });
  while (after != memory.begin())
    if (holds(*--after)) {
      lastFound = static_cast<size_t>(after - memory.begin());
      return &*after;
    }
  return nullptr;
}

void MemoryAccess::useCounter(Counter used) {
  counter = used;
  tickets[used] = wave.begin(used);
}

void MemoryAccess::owe(unsigned firstRegister, unsigned count) {
  for (unsigned used = 0; used < CounterCount; ++used)
    if (tickets[used])
      wave.owe(static_cast<Counter>(used), tickets[used], firstRegister, count);
}

static std::string hexadecimal(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

static std::string nearest(const LaunchState &launch, uint64_t address) {
  const MemoryRange *best = nullptr;
  uint64_t distance = 1 << 20;
  for (const MemoryRange &range : launch.memory) {
    auto begin = reinterpret_cast<uint64_t>(range.data), end = begin + range.bytes;
    uint64_t away = address < begin ? begin - address : address >= end ? address - end + 1 : 0;
    if (away < distance)
      best = &range, distance = away;
  }
  if (!best)
    return "";
  auto begin = reinterpret_cast<uint64_t>(best->data);
  return ", " +
         (address < begin ? std::to_string(begin - address) + " bytes before "
                          : "at byte " + std::to_string(address - begin) + " of ") +
         best->name + " (" + std::to_string(best->bytes) + " bytes)";
}

std::byte *MemoryAccess::find(Space space, unsigned lane, uint64_t address, unsigned bytes, bool writes) {
  LaunchState &launch = *wave.launch;
  const char *verb = isAtomic ? "atomic operation on " : writes ? "store of " : "load of ";
  std::string size = std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
  if (isAtomic && address % bytes != 0) {
    wave.report(FindingKind::Misaligned, verb + size + " at " + hexadecimal(address), static_cast<int>(lane));
    return nullptr;
  }
  switch (space) {
  case Space::Lds:
    if (address + bytes > wave.group->ldsBytes) {
      wave.report(FindingKind::OutOfBounds,
                  verb + size + " at " + std::to_string(address) + " of LDS, of which the work-group has " +
                      std::to_string(wave.group->ldsBytes) + " bytes",
                  static_cast<int>(lane));
      return nullptr;
    }
    return wave.group->lds.data() + address;
  case Space::Scratch:
    if (address + bytes > wave.scratchBytes) {
      wave.report(FindingKind::OutOfBounds,
                  verb + size + " at " + std::to_string(address) + " of scratch memory, of which a lane has " +
                      std::to_string(wave.scratchBytes) + " bytes",
                  static_cast<int>(lane));
      return nullptr;
    }
    return wave.scratch.data() + size_t(lane) * wave.scratchBytes + address;
  case Space::Global:
    break;
  }
  const MemoryRange *range = launch.find(address, bytes);
  if (!range) {
    wave.report(FindingKind::OutOfBounds, verb + size + " at " + hexadecimal(address) + nearest(launch, address),
                static_cast<int>(lane));
    return nullptr;
  }
  if (writes && !range->writable) {
    wave.report(FindingKind::ReadOnlyStore, verb + size + " to " + range->name + ", which may only be read",
                static_cast<int>(lane));
    return nullptr;
  }
  return reinterpret_cast<std::byte *>(address);
}

void MemoryAccess::noteWord(WordHistory &history, FindingKind kind, unsigned lane, uint8_t bytes, bool writes,
                            bool changes) {
  WorkGroup &group = *wave.group;
  auto ordered = [&](const Access &access) {
    if (access.ticket == 0 || (access.atomic && isAtomic))
      return true;
    if (access.group != group.linear)
      return group.synchronized;
    return access.wave == wave.index || access.ticket <= group.waves[access.wave]->released[access.counter];
  };
  auto conflict = [&](const Access &access, const char *what) {
    if (!(access.bytes & bytes) || ordered(access))
      return;
    std::string who = access.group != group.linear ? "work-group " + std::to_string(access.group)
                                                   : "wave " + std::to_string(access.wave);
    wave.report(kind,
                std::string(writes ? "a write" : "a read") + " and " + what + " of " + who + " (`" +
                    access.instruction->text + "` at " + placeOf(*wave.launch->program, access.instruction->address) +
                    ") have no order",
                static_cast<int>(lane));
  };
  if (!writes || changes)
    conflict(history.write, "a write");
  if (writes)
    conflict(history.read, "a read");
  Access now{wave.index, group.linear, tickets[counter], counter, bytes, isAtomic, &instruction};
  Access &last = writes ? history.write : history.read;
  bool own = last.ticket && last.group == group.linear && last.wave == wave.index && last.counter == counter;
  if (own && last.ticket > wave.released[counter]) // what the others know of already does not count any more
    now.bytes |= last.bytes;
  // Of several readers the first one that is not ordered yet stays: it is what a write must wait for.
  if (!writes && last.ticket && !own && !ordered(last))
    return;
  last = now;
}

void MemoryAccess::note(Space space, unsigned lane, uint64_t address, unsigned bytes, bool writes, bool changes) {
  if (touched.size() < 2 * maxLanes)
    touched.emplace_back(space, address);
  if (!wave.launch->launch->checks || space == Space::Scratch)
    return;
  FindingKind kind = space == Space::Lds ? FindingKind::LdsRace : FindingKind::GlobalRace;
  for (uint64_t word = address / 4; word <= (address + bytes - 1) / 4; ++word) {
    uint64_t first = std::max(address, word * 4) - word * 4, end = std::min(address + bytes, word * 4 + 4) - word * 4;
    auto mask = static_cast<uint8_t>(((1u << end) - 1) & ~((1u << first) - 1));
    WordHistory &history = space == Space::Lds ? wave.group->ldsHistory[word] : wave.launch->globalHistory[word];
    noteWord(history, kind, lane, mask, writes, changes);
  }
}

void StoredWords::read(Wave &wave, const Instruction &instruction, unsigned operand, unsigned words) {
  uint64_t all = wave.tainted;
  for (unsigned word = 0; word < words; ++word) {
    wave.tainted = 0;
    rows[word] = wave.row(instruction, operand, word, buffers[word]);
    all |= undefined[word] = wave.tainted;
  }
  wave.tainted = all;
}

unsigned StoredWords::undefinedOf(unsigned lane) const {
  unsigned words = 0;
  for (unsigned word = 0; word < 4; ++word)
    words |= unsigned(undefined[word] >> lane & 1) << word;
  return words;
}

// The words of `bytes` bytes that have one which nobody wrote; `written` has an element that is not 0 for each that
// somebody did.
template <typename Byte> static unsigned unwrittenWords(const Byte *written, unsigned bytes) {
  unsigned words = 0;
  for (unsigned byte = 0; byte < bytes; ++byte)
    words |= unsigned(written[byte] == Byte(0)) << byte / 4;
  return words;
}

bool MemoryAccess::load(Space space, unsigned lane, uint64_t address, void *to, unsigned bytes) {
  std::byte *from = find(space, lane, address, bytes, false);
  undefinedWords = 0;
  if (!from)
    return false;
  if (space == Space::Lds)
    undefinedWords = unwrittenWords(wave.group->ldsWritten.data() + address, bytes);
  if (space == Space::Scratch)
    undefinedWords = unwrittenWords(wave.scratchWritten.data() + size_t(lane) * wave.scratchBytes + address, bytes);
  std::memcpy(to, from, bytes);
  note(space, lane, address, bytes, false);
  return true;
}

bool MemoryAccess::store(Space space, unsigned lane, uint64_t address, const void *from, unsigned bytes,
                         unsigned undefined) {
  std::byte *to = find(space, lane, address, bytes, true);
  if (!to)
    return false;
  auto setWritten = [&](auto *written) {
    for (unsigned byte = 0; byte < bytes; ++byte)
      written[byte] = std::remove_pointer_t<decltype(written)>(!(undefined >> byte / 4 & 1));
  };
  if (space == Space::Lds)
    setWritten(wave.group->ldsWritten.data() + address);
  if (space == Space::Scratch)
    setWritten(wave.scratchWritten.data() + size_t(lane) * wave.scratchBytes + address);
  bool changes = std::memcmp(to, from, bytes) != 0; // two waves may write the same value, as Triton's code does
  std::memcpy(to, from, bytes);
  note(space, lane, address, bytes, true, changes);
  return true;
}

std::byte *MemoryAccess::atomic(Space space, unsigned lane, uint64_t address, unsigned bytes) {
  std::byte *place = find(space, lane, address, bytes, true);
  if (!place)
    return nullptr;
  undefinedWords = space == Space::Lds ? unwrittenWords(wave.group->ldsWritten.data() + address, bytes) : 0;
  note(space, lane, address, bytes, true);
  return place;
}

// Cache lines of 128 bytes that the wave touches, against those that its bytes would fill; banks of LDS, where the
// lanes that go together are those whose words fill the banks once.
void MemoryAccess::count(unsigned bytesOfLane) {
  Counters &counters = wave.launch->report->counters;
  std::set<uint64_t> lines;
  std::vector<uint64_t> lds;
  for (auto [space, address] : touched) {
    if (space == Space::Global)
      for (uint64_t line = address / 128; line <= (address + bytesOfLane - 1) / 128; ++line)
        lines.insert(line);
    if (space == Space::Lds)
      lds.push_back(address);
  }
  if (!lines.empty()) {
    ++counters.globalAccesses;
    counters.globalLines += lines.size();
    std::set<uint64_t> different;
    for (auto [space, address] : touched)
      different.insert(address);
    counters.idealLines += (different.size() * bytesOfLane + 127) / 128;
  }
  if (lds.empty())
    return;
  ++counters.ldsAccesses;
  unsigned banks = wave.launch->processor->ldsBanks, words = std::max(1u, bytesOfLane / 4);
  unsigned together = std::max(1u, banks / words);
  for (size_t first = 0; first < lds.size(); first += together) {
    std::map<uint64_t, std::set<uint64_t>> byBank;
    for (size_t i = first; i < std::min(first + together, lds.size()); ++i)
      for (unsigned word = 0; word < words; ++word)
        byBank[(lds[i] / 4 + word) % banks].insert(lds[i] / 4 + word);
    size_t most = 0;
    for (auto &[bank, addresses] : byBank)
      most = std::max(most, addresses.size());
    counters.ldsCycles += most;
    ++counters.idealLdsCycles;
  }
}

template <typename T> T atomicResult(AtomicKind kind, T old, T value, T compare) {
  using Signed = std::make_signed_t<T>;
  using Float = std::conditional_t<sizeof(T) == 8, double, float>;
  auto a = static_cast<Signed>(old), b = static_cast<Signed>(value);
  auto x = std::bit_cast<Float>(old), y = std::bit_cast<Float>(value);
  auto pairs = [&](auto sum) {
    return static_cast<T>(sum(static_cast<uint16_t>(old), static_cast<uint16_t>(value)) |
                          T(sum(static_cast<uint16_t>(old >> 16), static_cast<uint16_t>(value >> 16))) << 16);
  };
  switch (kind) {
  case AtomicKind::Add:
    return old + value;
  case AtomicKind::Subtract:
    return old - value;
  case AtomicKind::ReverseSubtract:
    return value - old;
  case AtomicKind::SignedMinimum:
    return static_cast<T>(std::min(a, b));
  case AtomicKind::UnsignedMinimum:
    return std::min(old, value);
  case AtomicKind::SignedMaximum:
    return static_cast<T>(std::max(a, b));
  case AtomicKind::UnsignedMaximum:
    return std::max(old, value);
  case AtomicKind::And:
    return old & value;
  case AtomicKind::Or:
    return old | value;
  case AtomicKind::Xor:
    return old ^ value;
  case AtomicKind::Increment:
    return old >= value ? 0 : old + 1;
  case AtomicKind::Decrement:
    return old == 0 || old > value ? value : old - 1;
  case AtomicKind::Swap:
    return value;
  case AtomicKind::CompareSwap:
    return old == compare ? value : old;
  case AtomicKind::AddFloat:
    return std::bit_cast<T>(x + y);
  case AtomicKind::MinimumFloat:
    return std::bit_cast<T>(std::fmin(x, y));
  case AtomicKind::MaximumFloat:
    return std::bit_cast<T>(std::fmax(x, y));
  case AtomicKind::AddHalves:
    return pairs([](uint16_t m, uint16_t n) { return toHalf(toFloat(Half{m}) + toFloat(Half{n})).bits; });
  case AtomicKind::AddBfloats:
    return pairs([](uint16_t m, uint16_t n) { return toBfloat(toFloat(Bfloat{m}) + toFloat(Bfloat{n})).bits; });
  }
  return old;
}
template uint32_t atomicResult(AtomicKind, uint32_t, uint32_t, uint32_t);
template uint64_t atomicResult(AtomicKind, uint64_t, uint64_t, uint64_t);

} // namespace nacre::simulator::amdgcn
