// LDS instructions: loads, stores and atomics of the memory that a work-group shares.
#include "simulator/amdgcn/Memory.h"

namespace nacre::simulator::amdgcn {
namespace {

enum class Half : uint8_t { None, Low, High };

// Address rows of all LDS instructions: 32 bits, an offset added by the hardware.
const uint32_t *addressRow(Wave &wave, const Instruction &instruction, unsigned at, uint32_t (&buffer)[maxLanes]) {
  const uint32_t *row = wave.row(instruction, at, 0, buffer);
  wave.useDefined("an address of LDS");
  wave.tainted = 0;
  return row;
}

// The sum wraps: an address below zero with an offset that brings it back is one of LDS.
uint32_t sum(uint32_t address, int64_t offset) { return address + static_cast<uint32_t>(offset); }

template <unsigned bytes, bool isSigned, Half half> void read(Wave &wave, const Instruction &instruction) {
  uint32_t buffer[maxLanes], addresses[maxLanes];
  std::copy_n(addressRow(wave, instruction, 1, buffer), maxLanes, addresses); // the result may overwrite it
  const Operand &result = instruction.operands.at(0);
  constexpr unsigned words = std::max(1u, bytes / 4);
  for (unsigned word = 0; word < words; ++word)
    wave.touch(result.index + word, true, LdsCounter);
  MemoryAccess access(wave, instruction);
  access.useCounter(LdsCounter);
  forEachLane(wave.active, [&](unsigned lane) {
    uint32_t data[words] = {};
    access.load(Space::Lds, lane, sum(addresses[lane], instruction.offset), data, bytes);
    if (bytes == 1)
      data[0] = isSigned ? static_cast<uint32_t>(static_cast<int8_t>(data[0])) : data[0] & 0xff;
    if (bytes == 2)
      data[0] = isSigned ? static_cast<uint32_t>(static_cast<int16_t>(data[0])) : data[0] & 0xffff;
    uint32_t old = wave.vector[result.index][lane];
    if (half == Half::Low)
      data[0] = (old & 0xffff0000) | (data[0] & 0xffff);
    if (half == Half::High)
      data[0] = (old & 0xffff) | data[0] << 16;
    for (unsigned word = 0; word < words; ++word)
      wave.setLane(result.index + word, lane, data[word], access.defined(word));
  });
  access.count(bytes);
  access.owe(result.index, words);
}

template <unsigned bytes, bool fromHighHalf> void write(Wave &wave, const Instruction &instruction) {
  uint32_t buffer[maxLanes];
  const uint32_t *address = addressRow(wave, instruction, 0, buffer);
  constexpr unsigned words = std::max(1u, bytes / 4);
  StoredWords stored;
  stored.read(wave, instruction, 1, words);
  MemoryAccess access(wave, instruction);
  access.useCounter(LdsCounter);
  forEachLane(wave.active, [&](unsigned lane) {
    uint32_t data[words];
    for (unsigned word = 0; word < words; ++word)
      data[word] = stored.rows[word][lane];
    if (fromHighHalf)
      data[0] >>= 16;
    access.store(Space::Lds, lane, sum(address[lane], instruction.offset), data, bytes, stored.undefinedOf(lane));
  });
  access.count(bytes);
}

// Two places of one instruction, their offsets counted in units of the access or, with st64, in 64 of them.
template <unsigned bytes, unsigned scale> void readTwo(Wave &wave, const Instruction &instruction) {
  uint32_t buffer[maxLanes], addresses[maxLanes];
  std::copy_n(addressRow(wave, instruction, 1, buffer), maxLanes, addresses);
  unsigned result = instruction.operands.at(0).index;
  constexpr unsigned words = bytes / 4;
  for (unsigned word = 0; word < 2 * words; ++word)
    wave.touch(result + word, true, LdsCounter);
  MemoryAccess access(wave, instruction);
  access.useCounter(LdsCounter);
  for (unsigned which : {0u, 1u}) {
    int64_t offset = (which ? instruction.offset1 : instruction.offset0) * int64_t(bytes * scale);
    forEachLane(wave.active, [&](unsigned lane) {
      uint32_t data[words] = {};
      access.load(Space::Lds, lane, sum(addresses[lane], offset), data, bytes);
      for (unsigned word = 0; word < words; ++word)
        wave.setLane(result + which * words + word, lane, data[word], access.defined(word));
    });
  }
  access.count(bytes);
  access.owe(result, 2 * words);
}
template <unsigned bytes, unsigned scale> void writeTwo(Wave &wave, const Instruction &instruction) {
  uint32_t buffer[maxLanes];
  const uint32_t *address = addressRow(wave, instruction, 0, buffer);
  constexpr unsigned words = bytes / 4;
  MemoryAccess access(wave, instruction);
  access.useCounter(LdsCounter);
  for (unsigned which : {0u, 1u}) {
    int64_t offset = (which ? instruction.offset1 : instruction.offset0) * int64_t(bytes * scale);
    wave.tainted = 0;
    StoredWords stored;
    stored.read(wave, instruction, 1 + which, words);
    forEachLane(wave.active, [&](unsigned lane) {
      uint32_t data[words];
      for (unsigned word = 0; word < words; ++word)
        data[word] = stored.rows[word][lane];
      access.store(Space::Lds, lane, sum(address[lane], offset), data, bytes, stored.undefinedOf(lane));
    });
  }
  access.count(bytes);
}

// ds_read_b64_tr_b16: 16 lanes read a matrix of four rows by 16 columns, each lane four neighbors of a row, and get a
// column each. With elements of 8 bits it is eight rows by 16 columns, read by 16 lanes in halves of a row.
template <unsigned elementBytes> void readTransposed(Wave &wave, const Instruction &instruction) {
  uint32_t buffer[maxLanes];
  const uint32_t *address = addressRow(wave, instruction, 1, buffer);
  if (wave.active != wave.all())
    wave.refuse("it is simulated with all lanes active only");
  constexpr unsigned perLane = 8 / elementBytes, lanesOfRow = 16 / perLane;
  std::array<std::array<uint8_t, 8>, maxLanes> data{};
  bool defined[maxLanes];
  MemoryAccess access(wave, instruction);
  access.useCounter(LdsCounter);
  forEachLane(wave.active, [&](unsigned lane) {
    access.load(Space::Lds, lane, sum(address[lane], instruction.offset), data[lane].data(), 8);
    defined[lane] = access.defined();
  });
  unsigned result = instruction.operands.at(0).index;
  wave.touch(result, true, LdsCounter);
  wave.touch(result + 1, true, LdsCounter);
  forEachLane(wave.active, [&](unsigned lane) {
    uint8_t column[8];
    bool known = true;
    unsigned group = lane & ~15u, place = lane & 15;
    for (unsigned row = 0; row < perLane; ++row) {
      unsigned from = group + row * lanesOfRow + place / perLane;
      std::copy_n(data[from].data() + place % perLane * elementBytes, elementBytes, column + row * elementBytes);
      known &= defined[from];
    }
    uint32_t words[2];
    std::memcpy(words, column, 8);
    wave.setLane(result, lane, words[0], known);
    wave.setLane(result + 1, lane, words[1], known);
  });
  access.count(8);
  access.owe(result, 2);
}

template <typename T, AtomicKind kind, bool returns> void atomic(Wave &wave, const Instruction &instruction) {
  constexpr unsigned words = sizeof(T) / 4, first = returns ? 1 : 0;
  constexpr bool compares = kind == AtomicKind::CompareSwap;
  uint32_t buffer[maxLanes], buffers[4][maxLanes];
  const uint32_t *address = addressRow(wave, instruction, first, buffer);
  const uint32_t *rows[2][words];
  for (unsigned value = 0; value < (compares ? 2 : 1); ++value)
    for (unsigned word = 0; word < words; ++word)
      rows[value][word] = wave.row(instruction, first + 1 + value, word, buffers[2 * value + word]);
  auto valueAt = [&](unsigned value, unsigned lane) {
    T result = rows[value][0][lane];
    if constexpr (words == 2)
      result |= T(rows[value][1][lane]) << 32;
    return result;
  };
  // gfx11 has the new value first and the one compared with second, gfx9 the other way round.
  bool compareFirst = wave.launch->processor->generation < 11;
  MemoryAccess access(wave, instruction, true);
  access.useCounter(LdsCounter);
  forEachLane(wave.active, [&](unsigned lane) {
    T old = 0;
    bool defined = true;
    uint64_t place = sum(address[lane], instruction.offset);
    if (std::byte *data = access.atomic(Space::Lds, lane, place, sizeof(T))) {
      defined = access.defined();
      std::memcpy(&old, data, sizeof old);
      T value = valueAt(compares && compareFirst ? 1 : 0, lane);
      T compare = compares ? valueAt(compareFirst ? 0 : 1, lane) : 0;
      T updated = atomicResult<T>(kind, old, value, compare);
      std::memcpy(data, &updated, sizeof updated);
    }
    if (returns)
      for (unsigned word = 0; word < words; ++word)
        wave.setLane(instruction.operands[0].index + word, lane, static_cast<uint32_t>(uint64_t(old) >> (32 * word)),
                     defined);
  });
  access.count(sizeof(T));
  if (returns)
    access.owe(instruction.operands[0].index, words);
}

#define READ(old, now, ...)                                                                                            \
  {"ds_read_" old, read<__VA_ARGS__>}, { "ds_load_" now, read<__VA_ARGS__> }
#define WRITE(old, now, ...)                                                                                           \
  {"ds_write_" old, write<__VA_ARGS__>}, { "ds_store_" now, write<__VA_ARGS__> }
#define ATOMIC(suffix, word, kind)                                                                                     \
  {"ds_" suffix word "32", atomic<uint32_t, AtomicKind::kind, false>},                                                 \
      {"ds_" suffix "rtn_" word "32", atomic<uint32_t, AtomicKind::kind, true>},                                       \
      {"ds_" suffix word "64", atomic<uint64_t, AtomicKind::kind, false>}, {                                           \
    "ds_" suffix "rtn_" word "64", atomic<uint64_t, AtomicKind::kind, true>                                            \
  }

constexpr HandlerRow rows[] = {
    READ("u8", "u8", 1, false, Half::None),
    READ("i8", "i8", 1, true, Half::None),
    READ("u16", "u16", 2, false, Half::None),
    READ("i16", "i16", 2, true, Half::None),
    READ("b32", "b32", 4, false, Half::None),
    READ("b64", "b64", 8, false, Half::None),
    READ("b96", "b96", 12, false, Half::None),
    READ("b128", "b128", 16, false, Half::None),
    READ("u8_d16", "u8_d16", 1, false, Half::Low),
    READ("u8_d16_hi", "u8_d16_hi", 1, false, Half::High),
    READ("i8_d16", "i8_d16", 1, true, Half::Low),
    READ("i8_d16_hi", "i8_d16_hi", 1, true, Half::High),
    READ("u16_d16", "u16_d16", 2, false, Half::Low),
    READ("u16_d16_hi", "u16_d16_hi", 2, false, Half::High),
    WRITE("b8", "b8", 1, false),
    WRITE("b16", "b16", 2, false),
    WRITE("b32", "b32", 4, false),
    WRITE("b64", "b64", 8, false),
    WRITE("b96", "b96", 12, false),
    WRITE("b128", "b128", 16, false),
    WRITE("b8_d16_hi", "b8_d16_hi", 1, true),
    WRITE("b16_d16_hi", "b16_d16_hi", 2, true),
    {"ds_read2_b32", readTwo<4, 1>},
    {"ds_read2_b64", readTwo<8, 1>},
    {"ds_read2st64_b32", readTwo<4, 64>},
    {"ds_read2st64_b64", readTwo<8, 64>},
    {"ds_load_2addr_b32", readTwo<4, 1>},
    {"ds_load_2addr_b64", readTwo<8, 1>},
    {"ds_load_2addr_stride64_b32", readTwo<4, 64>},
    {"ds_load_2addr_stride64_b64", readTwo<8, 64>},
    {"ds_write2_b32", writeTwo<4, 1>},
    {"ds_write2_b64", writeTwo<8, 1>},
    {"ds_write2st64_b32", writeTwo<4, 64>},
    {"ds_write2st64_b64", writeTwo<8, 64>},
    {"ds_store_2addr_b32", writeTwo<4, 1>},
    {"ds_store_2addr_b64", writeTwo<8, 1>},
    {"ds_store_2addr_stride64_b32", writeTwo<4, 64>},
    {"ds_store_2addr_stride64_b64", writeTwo<8, 64>},
    {"ds_read_b64_tr_b16", readTransposed<2>},
    {"ds_read_b64_tr_b8", readTransposed<1>},
    ATOMIC("add_", "u", Add),
    ATOMIC("sub_", "u", Subtract),
    ATOMIC("rsub_", "u", ReverseSubtract),
    ATOMIC("inc_", "u", Increment),
    ATOMIC("dec_", "u", Decrement),
    ATOMIC("min_", "i", SignedMinimum),
    ATOMIC("max_", "i", SignedMaximum),
    ATOMIC("min_", "u", UnsignedMinimum),
    ATOMIC("max_", "u", UnsignedMaximum),
    ATOMIC("and_", "b", And),
    ATOMIC("or_", "b", Or),
    ATOMIC("xor_", "b", Xor),
    ATOMIC("add_", "f", AddFloat),
    ATOMIC("min_", "f", MinimumFloat),
    ATOMIC("max_", "f", MaximumFloat),
    ATOMIC("cmpst_", "b", CompareSwap),
    ATOMIC("cmpstore_", "b", CompareSwap),
    {"ds_wrxchg_rtn_b32", atomic<uint32_t, AtomicKind::Swap, true>},
    {"ds_wrxchg_rtn_b64", atomic<uint64_t, AtomicKind::Swap, true>},
    {"ds_storexchg_rtn_b32", atomic<uint32_t, AtomicKind::Swap, true>},
    {"ds_storexchg_rtn_b64", atomic<uint64_t, AtomicKind::Swap, true>},
    {"ds_pk_add_f16", atomic<uint32_t, AtomicKind::AddHalves, false>},
    {"ds_pk_add_rtn_f16", atomic<uint32_t, AtomicKind::AddHalves, true>},
    {"ds_pk_add_bf16", atomic<uint32_t, AtomicKind::AddBfloats, false>},
    {"ds_pk_add_rtn_bf16", atomic<uint32_t, AtomicKind::AddBfloats, true>},
};

#undef READ
#undef WRITE
#undef ATOMIC

} // namespace

void addLdsHandlers(HandlerTable &table) { addRows(table, rows); }

} // namespace nacre::simulator::amdgcn
