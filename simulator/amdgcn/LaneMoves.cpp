// Instructions that move values between lanes.
#include "simulator/amdgcn/Lanes.h"
#include <bit>
#include <utility>

namespace nacre::simulator::amdgcn {
namespace {

void writeLaneValue(Wave &wave, const Instruction &instruction, unsigned lane) {
  uint32_t buffer[maxLanes];
  wave.active = 1ull << lane; // its definedness alone counts
  uint32_t value = wave.row(instruction, 1, 0, buffer)[lane];
  bool defined = !(wave.tainted >> lane & 1);
  wave.writeScalars(instruction.operands.at(0).index, &value, 1, defined);
}
void readFirstLane(Wave &wave, const Instruction &instruction) {
  uint64_t exec = wave.exec();
  writeLaneValue(wave, instruction, exec ? static_cast<unsigned>(std::countr_zero(exec)) : 0);
}
void readLane(Wave &wave, const Instruction &instruction) {
  writeLaneValue(wave, instruction, wave.read(instruction.operands.at(2)) & (wave.lanes - 1));
}
void writeLane(Wave &wave, const Instruction &instruction) {
  uint32_t value = wave.read(instruction.operands.at(1));
  bool defined = wave.tainted == 0;
  unsigned lane = wave.read(instruction.operands.at(2)) & (wave.lanes - 1), place = instruction.operands.at(0).index;
  wave.touch(place, true);
  wave.setLane(place, lane, value, defined);
}

// Two rows of the wave change places between two registers.
template <unsigned width> void swapRows(Wave &wave, const Instruction &instruction) {
  unsigned first = instruction.operands.at(0).index, second = instruction.operands.at(1).index;
  wave.touch(first, true);
  wave.touch(second, true);
  uint64_t exec = wave.exec();
  for (unsigned lane = 0; lane < wave.lanes; ++lane) {
    if (lane & width)
      continue;
    if (!(exec >> lane & 1) || !(exec >> (lane + width) & 1))
      wave.refuse("it is simulated with all lanes active only");
    std::swap(wave.vector[second][lane], wave.vector[first][lane + width]);
    bool high = wave.undefinedLanes[first] >> (lane + width) & 1, low = wave.undefinedLanes[second] >> lane & 1;
    uint32_t lowValue = wave.vector[second][lane], highValue = wave.vector[first][lane + width];
    wave.setLane(second, lane, lowValue, !high);
    wave.setLane(first, lane + width, highValue, !low);
  }
}

// Two registers change places in the active lanes.
void swapRegisters(Wave &wave, const Instruction &instruction) {
  unsigned first = instruction.operands.at(0).index, second = instruction.operands.at(1).index;
  wave.touch(first, true);
  wave.touch(second, true);
  uint64_t exec = wave.exec();
  for (unsigned lane = 0; lane < wave.lanes; ++lane) {
    if (!(exec >> lane & 1))
      continue;
    uint32_t ofFirst = wave.vector[first][lane], ofSecond = wave.vector[second][lane];
    bool isFirst = !(wave.undefinedLanes[first] >> lane & 1), isSecond = !(wave.undefinedLanes[second] >> lane & 1);
    wave.setLane(first, lane, ofSecond, isSecond);
    wave.setLane(second, lane, ofFirst, isFirst);
  }
}

// A lane of a row of 16 chosen by a nibble of two scalar words; `other`: of the other row of the pair.
template <bool other> void permuteRow(Wave &wave, const Instruction &instruction) {
  uint64_t choices = wave.read(instruction.operands.at(2)) | uint64_t(wave.read(instruction.operands.at(3))) << 32;
  uint32_t buffer[maxLanes], result[maxLanes] = {};
  uint64_t active = std::exchange(wave.active, wave.all());
  const uint32_t *source = wave.row(instruction, 1, 0, buffer);
  bool fetchInactive = instruction.opSel & 1, zeroOutside = instruction.opSel & 2;
  uint64_t tainted = 0, written = active;
  for (unsigned i = 0; i < wave.lanes; ++i) {
    unsigned from = ((i & ~15u) ^ (other ? 16 : 0)) + static_cast<unsigned>(choices >> (4 * (i & 15)) & 15);
    bool valid = fetchInactive || (active >> from & 1);
    result[i] = valid ? source[from] : 0;
    if (!valid && !zeroOutside)
      written &= ~(1ull << i);
    tainted |= uint64_t(valid && (wave.tainted >> from & 1)) << i;
  }
  wave.active = written;
  wave.tainted = tainted;
  wave.setRow(instruction.operands.at(0).index, result);
}

// Lanes of LDS instructions that touch no memory.
template <bool backward> void permuteByAddress(Wave &wave, const Instruction &instruction) {
  uint32_t addressBuffer[maxLanes], dataBuffer[maxLanes], result[maxLanes] = {};
  const uint32_t *address = wave.row(instruction, 1, 0, addressBuffer);
  wave.useDefined("the lane that a value comes from");
  uint64_t active = wave.active, tainted = 0;
  const uint32_t *data = wave.row(instruction, 2, 0, dataBuffer);
  for (unsigned i = 0; i < wave.lanes; ++i) {
    if (!(active >> i & 1))
      continue;
    unsigned other = (address[i] + static_cast<uint32_t>(instruction.offset)) / 4 % wave.lanes;
    unsigned from = backward ? other : i, to = backward ? i : other;
    if (!(active >> from & 1))
      continue; // an inactive lane gives 0
    result[to] = data[from];
    tainted = (tainted & ~(1ull << to)) | (wave.tainted >> from & 1) << to;
  }
  wave.tainted = tainted;
  wave.setRow(instruction.operands.at(0).index, result);
  wave.owe(LdsCounter, wave.begin(LdsCounter), instruction.operands.at(0).index, 1);
}
void swizzle(Wave &wave, const Instruction &instruction) {
  uint32_t buffer[maxLanes], result[maxLanes] = {};
  const uint32_t *data = wave.row(instruction, 1, 0, buffer);
  const std::string &text = instruction.swizzle;
  std::vector<std::string> words;
  for (size_t at = 0; at <= text.size();) {
    size_t end = std::min(text.find(',', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  auto number = [&](size_t i) { return static_cast<unsigned>(std::strtoul(words.at(i).c_str(), nullptr, 0)); };
  auto offset = static_cast<unsigned>(instruction.offset);
  auto sourceOf = [&](unsigned i) -> unsigned {
    if (text.empty()) { // the plain number
      if (offset & 0x8000)
        return (i & ~3u) + (offset >> (2 * (i & 3)) & 3);
      return (i & ~31u) + ((((i & 31) & (offset & 31)) | (offset >> 5 & 31)) ^ (offset >> 10 & 31));
    }
    if (words[0] == "QUAD_PERM")
      return (i & ~3u) + number(1 + (i & 3));
    if (words[0] == "SWAP")
      return i ^ number(1);
    if (words[0] == "REVERSE")
      return i ^ (number(1) - 1);
    if (words[0] == "BROADCAST")
      return (i & ~(number(1) - 1)) + number(2);
    if (words[0] == "BITMASK_PERM") {
      std::string mask = words.at(1);
      unsigned from = i & ~31u;
      for (unsigned bit = 0; bit < 5; ++bit) {
        char what = mask.at(mask.find_first_of("01pi") + 4 - bit);
        unsigned own = i >> bit & 1;
        from |= (what == '0' ? 0 : what == '1' ? 1 : what == 'p' ? own : !own) << bit;
      }
      return from;
    }
    wave.refuse("this swizzle is not simulated");
  };
  uint64_t tainted = 0;
  for (unsigned i = 0; i < wave.lanes; ++i) {
    unsigned from = sourceOf(i);
    bool valid = wave.active >> from & 1;
    result[i] = valid ? data[from] : 0;
    tainted |= uint64_t(valid && (wave.tainted >> from & 1)) << i;
  }
  wave.tainted = tainted;
  wave.setRow(instruction.operands.at(0).index, result);
  wave.owe(LdsCounter, wave.begin(LdsCounter), instruction.operands.at(0).index, 1);
}

constexpr HandlerRow rows[] = {
    {"v_readfirstlane_b32", readFirstLane},
    {"v_readlane_b32", readLane},
    {"v_writelane_b32", writeLane},
    {"v_swap_b32", swapRegisters},
    {"v_permlane16_b32", permuteRow<false>},
    {"v_permlanex16_b32", permuteRow<true>},
    {"v_permlane16_swap_b32", swapRows<16>},
    {"v_permlane32_swap_b32", swapRows<32>},
    {"ds_bpermute_b32", permuteByAddress<true>},
    {"ds_permute_b32", permuteByAddress<false>},
    {"ds_swizzle_b32", swizzle},
};

} // namespace

void addLaneHandlers(HandlerTable &table) { addRows(table, rows); }

} // namespace nacre::simulator::amdgcn
