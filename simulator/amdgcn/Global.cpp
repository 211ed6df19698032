// Loads, stores and atomics of global, flat, scratch and buffer instructions.
#include "simulator/amdgcn/Memory.h"

namespace nacre::simulator::amdgcn {
namespace {

enum class Form : uint8_t { Global, Flat, Scratch, Buffer };

// How a value lies in memory and in registers.
struct Format {
  unsigned bytes;
  bool isSigned = false;
  enum Half : uint8_t { Whole, LowHalf, HighHalf } half = Whole; // the half of a register that a d16 form uses
};

// The address of each lane. A buffer's lane may lie outside of its buffer: it reads 0 and writes nothing.
struct Addresses {
  Space space[maxLanes];
  uint64_t address[maxLanes];
  uint64_t inRange[4] = {~0ull, ~0ull, ~0ull, ~0ull}; // by word of the access
};

void bufferAddresses(Wave &wave, const Instruction &instruction, unsigned at, unsigned bytes, Addresses &to) {
  const Operand &resource = instruction.operands.at(at + 1);
  Operand low = resource, high = resource;
  high.index = static_cast<uint16_t>(resource.index + 2);
  uint64_t first = wave.readPair(low), second = wave.readPair(high);
  uint64_t base = first & 0xffffffffffff;
  uint32_t stride = first >> 48 & 0x3fff, records = static_cast<uint32_t>(second);
  bool toScratch = base >> 32 == scratchAperture >> 32 || (first & apertureMask) == scratchAperture;
  uint32_t scalarOffset = wave.read(instruction.operands.at(at + 2));
  if ((first >> 63 & 1) && !toScratch)
    wave.refuse("swizzled buffers are simulated for scratch memory only");
  uint32_t indexBuffer[maxLanes] = {}, offsetBuffer[maxLanes] = {};
  const uint32_t *index = indexBuffer, *offset = offsetBuffer;
  unsigned word = 0;
  if (instruction.indexEnabled)
    index = wave.row(instruction, at, word++, indexBuffer);
  if (instruction.offsetEnabled)
    offset = wave.row(instruction, at, word, offsetBuffer);
  wave.useDefined("an address");
  for (unsigned i = 0; i < wave.lanes; ++i) {
    uint64_t within = uint64_t(offset[i]) + static_cast<uint64_t>(instruction.offset);
    to.space[i] = toScratch ? Space::Scratch : Space::Global;
    to.address[i] = toScratch ? within + scalarOffset : base + scalarOffset + uint64_t(stride) * index[i] + within;
    if (toScratch)
      continue;
    for (unsigned part = 0; part < 4; ++part) {
      bool fits = instruction.indexEnabled ? index[i] < records : within + std::min(bytes, 4 * part + 4) <= records;
      if (!fits)
        to.inRange[part] &= ~(1ull << i);
    }
  }
}

// `at`: the operand that holds the vector address; the scalar address follows it, after `between` other operands.
template <Form form>
void addresses(Wave &wave, const Instruction &instruction, unsigned at, unsigned between, unsigned bytes,
               Addresses &to) {
  if (form == Form::Buffer)
    return bufferAddresses(wave, instruction, at, bytes, to);
  const Operand &vector = instruction.operands.at(at);
  uint32_t lowBuffer[maxLanes], highBuffer[maxLanes];
  const uint32_t *low = nullptr, *high = nullptr;
  if (vector.is(Operand::Vector)) {
    low = wave.row(instruction, at, 0, lowBuffer);
    if (vector.words > 1)
      high = wave.row(instruction, at, 1, highBuffer);
  }
  uint64_t base = static_cast<uint64_t>(instruction.offset);
  if (instruction.operands.size() > at + 1 + between) {
    const Operand &scalar = instruction.operands[at + 1 + between];
    if (scalar.is(Operand::Scalar) && scalar.index != NullRegister)
      base += form == Form::Scratch ? wave.read(scalar) : wave.readPair(scalar);
  }
  wave.useDefined("an address");
  for (unsigned i = 0; i < wave.lanes; ++i) {
    uint64_t address = base + (low ? low[i] : 0) + (high ? uint64_t(high[i]) << 32 : 0);
    to.space[i] = form == Form::Scratch ? Space::Scratch : Space::Global;
    if (form == Form::Scratch)
      address &= 0xffffffff;
    else if (form == Form::Flat)
      to.space[i] = spaceOf(address);
    to.address[i] = address;
  }
}

template <Form form> void startCounters(Wave &wave, MemoryAccess &access, bool stores) {
  access.useCounter(stores ? wave.storeCounter() : LoadCounter);
  if (form == Form::Flat)
    access.useCounter(LdsCounter);
}

uint32_t valueOf(uint32_t word, Format format) {
  if (format.bytes == 1)
    return format.isSigned ? static_cast<uint32_t>(static_cast<int8_t>(word)) : word & 0xff;
  if (format.bytes == 2)
    return format.isSigned ? static_cast<uint32_t>(static_cast<int16_t>(word)) : word & 0xffff;
  return word;
}

// Into LDS: each lane's bytes follow those of the lane before it, from the address in M0 on.
template <Form form, Format format> void loadToLds(Wave &wave, const Instruction &instruction) {
  Addresses from;
  addresses<form>(wave, instruction, 0, 0, format.bytes, from);
  wave.tainted = 0;
  Operand place{.kind = Operand::Scalar, .index = M0};
  uint32_t base = wave.read(place) + static_cast<uint32_t>(instruction.offset);
  unsigned bytes = std::max(4u, format.bytes);
  MemoryAccess access(wave, instruction);
  startCounters<form>(wave, access, false);
  forEachLane(wave.active, [&](unsigned lane) {
    uint32_t words[4] = {};
    bool inRange = from.inRange[0] >> lane & 1;
    if (inRange)
      access.load(from.space[lane], lane, from.address[lane], words, format.bytes);
    if (format.bytes < 4)
      words[0] = valueOf(words[0], format);
    access.store(Space::Lds, lane, base + lane * bytes, words, bytes, 0);
  });
  access.count(format.bytes);
}

template <Form form, Format format> void load(Wave &wave, const Instruction &instruction) {
  if (instruction.toLds)
    return loadToLds<form, format>(wave, instruction);
  Addresses from;
  addresses<form>(wave, instruction, 1, 0, format.bytes, from);
  wave.tainted = 0;
  const Operand &result = instruction.operands.at(0);
  unsigned words = std::max(1u, format.bytes / 4);
  for (unsigned word = 0; word < words; ++word)
    wave.touch(result.index + word, true, form == Form::Flat ? CounterCount : LoadCounter);
  MemoryAccess access(wave, instruction, instruction.isCoherent);
  if (instruction.isCoherent) // it may have found what another group signals by
    wave.group->synchronized = true;
  startCounters<form>(wave, access, false);
  forEachLane(wave.active, [&](unsigned lane) {
    uint32_t data[4] = {};
    unsigned inRange = 0;
    while (inRange < words && (from.inRange[inRange] >> lane & 1))
      ++inRange;
    if (inRange > 0)
      access.load(from.space[lane], lane, from.address[lane], data, inRange == words ? format.bytes : 4 * inRange);
    if (words == 1)
      data[0] = valueOf(data[0], format);
    uint32_t old = wave.vector[result.index][lane];
    bool high = format.half == Format::HighHalf || result.part == Operand::High;
    if (high)
      data[0] = (old & 0xffff) | data[0] << 16;
    else if (format.half == Format::LowHalf || result.part == Operand::Low)
      data[0] = (old & 0xffff0000) | (data[0] & 0xffff);
    for (unsigned word = 0; word < words; ++word)
      wave.setLane(result.index + word, lane, data[word], word >= inRange || access.defined(word));
  });
  access.count(format.bytes);
  access.owe(result.index, words);
}

template <Form form, Format format> void store(Wave &wave, const Instruction &instruction) {
  Addresses to;
  constexpr unsigned data = form == Form::Buffer ? 0 : 1, address = form == Form::Buffer ? 1 : 0;
  addresses<form>(wave, instruction, address, 1, format.bytes, to);
  wave.tainted = 0;
  unsigned words = std::max(1u, format.bytes / 4);
  StoredWords stored;
  stored.read(wave, instruction, data, words);
  if (form != Form::Scratch && to.space[0] != Space::Scratch)
    wave.useDefined("a value that is stored");
  MemoryAccess access(wave, instruction);
  startCounters<form>(wave, access, true);
  forEachLane(wave.active, [&](unsigned lane) {
    uint32_t values[4] = {};
    for (unsigned word = 0; word < words; ++word)
      values[word] = stored.rows[word][lane];
    if (format.half == Format::HighHalf)
      values[0] >>= 16;
    unsigned inRange = 0;
    while (inRange < words && (to.inRange[inRange] >> lane & 1))
      ++inRange;
    if (inRange > 0)
      access.store(to.space[lane], lane, to.address[lane], values, inRange == words ? format.bytes : 4 * inRange,
                   stored.undefinedOf(lane));
  });
  access.count(format.bytes);
}

template <Form form, typename T, AtomicKind kind> void atomic(Wave &wave, const Instruction &instruction) {
  constexpr bool isBuffer = form == Form::Buffer;
  bool returns = instruction.returnsOld;
  // A buffer's data operand takes the old value, too.
  unsigned data = isBuffer ? 0 : returns ? 2 : 1, address = isBuffer ? 1 : returns ? 1 : 0;
  Addresses to;
  addresses<form>(wave, instruction, address, 1, sizeof(T), to);
  constexpr unsigned words = sizeof(T) / 4;
  uint32_t buffers[4][maxLanes];
  const uint32_t *rows[4] = {};
  for (unsigned word = 0; word < words * (kind == AtomicKind::CompareSwap ? 2 : 1); ++word)
    rows[word] = wave.row(instruction, data, word, buffers[word]);
  wave.useDefined("a value of an atomic operation");
  unsigned result = instruction.operands.at(0).index;
  auto valueAt = [&](unsigned first, unsigned lane) {
    T value = rows[first][lane];
    if constexpr (words == 2)
      value |= T(rows[first + 1][lane]) << 32;
    return value;
  };
  MemoryAccess access(wave, instruction, true);
  startCounters<form>(wave, access, !returns);
  forEachLane(wave.active, [&](unsigned lane) {
    T old = 0;
    if (to.inRange[0] >> lane & 1)
      if (std::byte *place = access.atomic(to.space[lane], lane, to.address[lane], sizeof(T))) {
        std::memcpy(&old, place, sizeof old);
        T compare = kind == AtomicKind::CompareSwap ? valueAt(words, lane) : 0;
        T updated = atomicResult<T>(kind, old, valueAt(0, lane), compare);
        std::memcpy(place, &updated, sizeof updated);
      }
    if (returns)
      for (unsigned word = 0; word < words; ++word)
        wave.setLane(result + word, lane, static_cast<uint32_t>(uint64_t(old) >> (32 * word)));
  });
  access.count(sizeof(T));
  if (returns) {
    access.owe(result, words);
    wave.group->synchronized = true;
  }
}

#define LOAD(prefix, form, old, now, ...)                                                                              \
  {prefix "_load_" old, load<form, Format{__VA_ARGS__}>}, { prefix "_load_" now, load<form, Format{__VA_ARGS__}> }
#define STORE(prefix, form, old, now, ...)                                                                             \
  {prefix "_store_" old, store<form, Format{__VA_ARGS__}>}, { prefix "_store_" now, store<form, Format{__VA_ARGS__}> }
#define ACCESSES(prefix, form)                                                                                         \
  LOAD(prefix, form, "ubyte", "u8", 1), LOAD(prefix, form, "sbyte", "i8", 1, true),                                    \
      LOAD(prefix, form, "ushort", "u16", 2), LOAD(prefix, form, "sshort", "i16", 2, true),                            \
      LOAD(prefix, form, "dword", "b32", 4), LOAD(prefix, form, "dwordx2", "b64", 8),                                  \
      LOAD(prefix, form, "dwordx3", "b96", 12), LOAD(prefix, form, "dwordx4", "b128", 16),                             \
      LOAD(prefix, form, "ubyte_d16", "d16_u8", 1, false, Format::LowHalf),                                            \
      LOAD(prefix, form, "ubyte_d16_hi", "d16_hi_u8", 1, false, Format::HighHalf),                                     \
      LOAD(prefix, form, "sbyte_d16", "d16_i8", 1, true, Format::LowHalf),                                             \
      LOAD(prefix, form, "sbyte_d16_hi", "d16_hi_i8", 1, true, Format::HighHalf),                                      \
      LOAD(prefix, form, "short_d16", "d16_b16", 2, false, Format::LowHalf),                                           \
      LOAD(prefix, form, "short_d16_hi", "d16_hi_b16", 2, false, Format::HighHalf),                                    \
      STORE(prefix, form, "byte", "b8", 1), STORE(prefix, form, "short", "b16", 2),                                    \
      STORE(prefix, form, "byte_d16_hi", "d16_hi_b8", 1, false, Format::HighHalf),                                     \
      STORE(prefix, form, "short_d16_hi", "d16_hi_b16", 2, false, Format::HighHalf),                                   \
      STORE(prefix, form, "dword", "b32", 4), STORE(prefix, form, "dwordx2", "b64", 8),                                \
      STORE(prefix, form, "dwordx3", "b96", 12), STORE(prefix, form, "dwordx4", "b128", 16)
#define ATOMIC(prefix, form, old, now, kind)                                                                           \
  {prefix "_atomic_" old, atomic<form, uint32_t, AtomicKind::kind>},                                                   \
      {prefix "_atomic_" old "_x2", atomic<form, uint64_t, AtomicKind::kind>},                                         \
      {prefix "_atomic_" now "32", atomic<form, uint32_t, AtomicKind::kind>}, {                                        \
    prefix "_atomic_" now "64", atomic<form, uint64_t, AtomicKind::kind>                                               \
  }
#define ATOMICS(prefix, form)                                                                                          \
  ATOMIC(prefix, form, "add", "add_u", Add), ATOMIC(prefix, form, "sub", "sub_u", Subtract),                           \
      ATOMIC(prefix, form, "smin", "min_i", SignedMinimum), ATOMIC(prefix, form, "umin", "min_u", UnsignedMinimum),    \
      ATOMIC(prefix, form, "smax", "max_i", SignedMaximum), ATOMIC(prefix, form, "umax", "max_u", UnsignedMaximum),    \
      ATOMIC(prefix, form, "and", "and_b", And), ATOMIC(prefix, form, "or", "or_b", Or),                               \
      ATOMIC(prefix, form, "xor", "xor_b", Xor), ATOMIC(prefix, form, "inc", "inc_u", Increment),                      \
      ATOMIC(prefix, form, "dec", "dec_u", Decrement), ATOMIC(prefix, form, "swap", "swap_b", Swap),                   \
      ATOMIC(prefix, form, "cmpswap", "cmpswap_b", CompareSwap),                                                       \
      {prefix "_atomic_add_f32", atomic<form, uint32_t, AtomicKind::AddFloat>},                                        \
      {prefix "_atomic_add_f64", atomic<form, uint64_t, AtomicKind::AddFloat>},                                        \
      {prefix "_atomic_min_f64", atomic<form, uint64_t, AtomicKind::MinimumFloat>},                                    \
      {prefix "_atomic_max_f64", atomic<form, uint64_t, AtomicKind::MaximumFloat>},                                    \
      {prefix "_atomic_min_f32", atomic<form, uint32_t, AtomicKind::MinimumFloat>},                                    \
      {prefix "_atomic_max_f32", atomic<form, uint32_t, AtomicKind::MaximumFloat>},                                    \
      {prefix "_atomic_min_num_f32", atomic<form, uint32_t, AtomicKind::MinimumFloat>},                                \
      {prefix "_atomic_max_num_f32", atomic<form, uint32_t, AtomicKind::MaximumFloat>},                                \
      {prefix "_atomic_pk_add_f16", atomic<form, uint32_t, AtomicKind::AddHalves>}, {                                  \
    prefix "_atomic_pk_add_bf16", atomic<form, uint32_t, AtomicKind::AddBfloats>                                       \
  }

constexpr HandlerRow rows[] = {
    ACCESSES("global", Form::Global),
    ACCESSES("flat", Form::Flat),
    ACCESSES("scratch", Form::Scratch),
    ACCESSES("buffer", Form::Buffer),
    ATOMICS("global", Form::Global),
    ATOMICS("flat", Form::Flat),
    ATOMICS("buffer", Form::Buffer),
    {"global_load_lds_ubyte", loadToLds<Form::Global, Format{1}>},
    {"global_load_lds_ushort", loadToLds<Form::Global, Format{2}>},
    {"global_load_lds_dword", loadToLds<Form::Global, Format{4}>},
    {"global_load_lds_dwordx3", loadToLds<Form::Global, Format{12}>},
    {"global_load_lds_dwordx4", loadToLds<Form::Global, Format{16}>},
};

#undef LOAD
#undef STORE
#undef ACCESSES
#undef ATOMIC
#undef ATOMICS

} // namespace

void addGlobalHandlers(HandlerTable &table) { addRows(table, rows); }

} // namespace nacre::simulator::amdgcn
