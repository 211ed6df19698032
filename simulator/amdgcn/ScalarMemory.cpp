// Loads of scalar registers: s_load and s_buffer_load.
#include "simulator/amdgcn/Memory.h"

namespace nacre::simulator::amdgcn {
namespace {

template <unsigned words, unsigned bytes, bool isSigned> void load(Wave &wave, const Instruction &instruction) {
  const Operand &result = instruction.operands.at(0), &base = instruction.operands.at(1);
  uint64_t address = wave.readPair(base) + static_cast<uint64_t>(instruction.offset);
  bool isBuffer = instruction.mnemonic.starts_with("s_buffer");
  if (isBuffer)
    address = (wave.readPair(base) & 0xffffffffffff) + static_cast<uint64_t>(instruction.offset);
  if (instruction.operands.size() > 2) {
    const Operand &offset = instruction.operands[2];
    address += offset.is(Operand::Integer) ? static_cast<uint64_t>(offset.integer) : wave.read(offset);
  }
  wave.active = wave.all();
  wave.useDefined("an address");
  wave.tainted = 0;
  uint32_t data[16] = {};
  Counter counter = wave.scalarCounter();
  MemoryAccess access(wave, instruction);
  access.useCounter(counter);
  constexpr unsigned unit = bytes ? bytes : 4;
  if (bytes == 0 && address % 4 != 0)
    wave.report(FindingKind::Misaligned, "a scalar load at an address that is no multiple of 4");
  if (isBuffer) { // outside of the buffer it reads 0
    uint32_t records = wave.scalar[base.index + 2];
    uint64_t start = wave.pairAt(base.index) & 0xffffffffffff;
    for (unsigned word = 0; word < words; ++word)
      if (address - start + 4 * word + unit <= records)
        access.load(Space::Global, 0, address + 4 * word, data + word, unit);
  } else {
    access.load(Space::Global, 0, address, data, bytes ? bytes : 4 * words);
  }
  if (bytes == 1)
    data[0] = isSigned ? static_cast<uint32_t>(static_cast<int8_t>(data[0])) : data[0];
  if (bytes == 2)
    data[0] = isSigned ? static_cast<uint32_t>(static_cast<int16_t>(data[0])) : data[0];
  wave.writeScalars(result.index, data, words);
  wave.lastOutOfOrder = wave.issued[counter];
  access.owe(vectorCount + result.index, words);
}

#define LOAD(old, now, words)                                                                                          \
  {"s_load_" old, load<words, 0, false>}, {"s_load_" now, load<words, 0, false>},                                      \
      {"s_buffer_load_" old, load<words, 0, false>}, {                                                                 \
    "s_buffer_load_" now, load<words, 0, false>                                                                        \
  }
constexpr HandlerRow rows[] = {
    LOAD("dword", "b32", 1),          LOAD("dwordx2", "b64", 2),       LOAD("dwordx3", "b96", 3),
    LOAD("dwordx4", "b128", 4),       LOAD("dwordx8", "b256", 8),      LOAD("dwordx16", "b512", 16),
    {"s_load_u8", load<1, 1, false>}, {"s_load_i8", load<1, 1, true>}, {"s_load_u16", load<1, 2, false>},
    {"s_load_i16", load<1, 2, true>},
};
#undef LOAD

} // namespace

void addScalarMemoryHandlers(HandlerTable &table) { addRows(table, rows); }

} // namespace nacre::simulator::amdgcn
