// Instructions from their text: mnemonic, operands, modifiers.
#include "simulator/amdgcn/Instruction.h"
#include "simulator/amdgcn/Simulator.h"
#include <charconv>
#include <cstdlib>

namespace nacre::simulator::amdgcn {
namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
    text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t'))
    text.remove_suffix(1);
  return text;
}

// Splits where `separator` stands outside of brackets.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && (text[i] == '[' || text[i] == '('))
      ++depth;
    else if (i < text.size() && (text[i] == ']' || text[i] == ')'))
      --depth;
    else if (i == text.size() || (text[i] == separator && depth == 0)) {
      if (std::string_view part = trim(text.substr(start, i - start)); !part.empty())
        parts.push_back(part);
      start = i + 1;
    }
  }
  return parts;
}

bool parseInteger(std::string_view text, int64_t &value) {
  bool negative = text.starts_with("-");
  if (negative)
    text.remove_prefix(1);
  int base = 10;
  if (text.starts_with("0x")) {
    base = 16;
    text.remove_prefix(2);
  }
  uint64_t magnitude = 0;
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), magnitude, base);
  if (text.empty() || problem != std::errc() || end != text.data() + text.size())
    return false;
  value = negative ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude);
  return true;
}

// "5" of v5, "[4:7]" of v[4:7].
bool parseRegister(std::string_view text, unsigned base, Operand::Kind kind, Operand &operand) {
  int64_t first = 0, last = 0;
  if (text.starts_with("[") && text.ends_with("]")) {
    std::vector<std::string_view> ends = split(text.substr(1, text.size() - 2), ':');
    if (ends.empty() || !parseInteger(ends.front(), first) || !parseInteger(ends.back(), last))
      return false;
  } else {
    if (text.empty() || text.front() < '0' || text.front() > '9' || !parseInteger(text, first))
      return false;
    last = first;
  }
  operand.kind = kind;
  operand.index = static_cast<uint16_t>(base + first);
  operand.words = static_cast<uint8_t>(last - first + 1);
  return true;
}

struct NamedRegister {
  std::string_view name;
  uint16_t index;
  uint8_t words; // 0: as wide as the wave
};
constexpr NamedRegister namedRegisters[] = {
    {"vcc", VccLow, 0},
    {"vcc_lo", VccLow, 1},
    {"vcc_hi", VccLow + 1, 1},
    {"exec", ExecLow, 0},
    {"exec_lo", ExecLow, 1},
    {"exec_hi", ExecLow + 1, 1},
    {"m0", M0, 1},
    {"null", NullRegister, 1},
    {"flat_scratch", FlatScratchLow, 2},
    {"flat_scratch_lo", FlatScratchLow, 1},
    {"flat_scratch_hi", FlatScratchLow + 1, 1},
    {"xnack_mask", XnackMaskLow, 2},
    {"xnack_mask_lo", XnackMaskLow, 1},
    {"xnack_mask_hi", XnackMaskLow + 1, 1},
};

Operand parseOperand(std::string_view text, unsigned lanes) {
  Operand operand;
  if (text.starts_with("sext(") && text.ends_with(")")) {
    operand = parseOperand(text.substr(5, text.size() - 6), lanes);
    operand.signExtended = true;
    return operand;
  }
  for (std::string_view wrapper : {"lit(", "lit64("}) // literals that could have been inline constants
    if (text.starts_with(wrapper) && text.ends_with(")"))
      return parseOperand(text.substr(wrapper.size(), text.size() - wrapper.size() - 1), lanes);
  if (parseInteger(text, operand.integer)) {
    operand.kind = Operand::Integer;
    operand.hexadecimal = text.starts_with("0x");
    return operand;
  }
  if (text.find('.') != text.npos && text.find_first_not_of("-0123456789.e+") == text.npos) {
    operand.kind = Operand::Real;
    operand.real = std::strtod(std::string(text).c_str(), nullptr);
    return operand;
  }
  bool negative = text.starts_with("-") || (text.starts_with("neg(") && text.ends_with(")"));
  if (text.starts_with("neg("))
    text = text.substr(4, text.size() - 5);
  else if (negative)
    text.remove_prefix(1);
  if (text.size() > 2 && text.starts_with("|") && text.ends_with("|")) {
    operand = parseOperand(text.substr(1, text.size() - 2), lanes);
    operand.absolute = true;
    operand.negative = negative;
    return operand;
  }
  if (negative) {
    operand = parseOperand(text, lanes);
    operand.negative = true;
    return operand;
  }
  std::string_view name = text;
  Operand::Part part = Operand::Whole;
  if (name.ends_with(".l") || name.ends_with(".h")) {
    part = name.ends_with(".l") ? Operand::Low : Operand::High;
    name.remove_suffix(2);
  }
  operand.part = part;
  for (const NamedRegister &named : namedRegisters)
    if (named.name == name) {
      operand.kind = Operand::Scalar;
      operand.index = named.index;
      operand.words = named.words ? named.words : static_cast<uint8_t>(lanes / 32);
      return operand;
    }
  if (name.starts_with("ttmp") && parseRegister(name.substr(4), TrapTemporaries, Operand::Scalar, operand))
    return operand;
  if (name.starts_with("v") && parseRegister(name.substr(1), 0, Operand::Vector, operand))
    return operand;
  if (name.starts_with("a") && parseRegister(name.substr(1), accumulatorBase, Operand::Vector, operand))
    return operand;
  if (name.starts_with("s") && parseRegister(name.substr(1), 0, Operand::Scalar, operand))
    return operand;
  if (name == "src_shared_base")
    operand.kind = Operand::SharedBase, operand.words = 2;
  else if (name == "src_private_base")
    operand.kind = Operand::PrivateBase, operand.words = 2;
  else if (name == "src_scc")
    operand.kind = Operand::Condition;
  else
    operand.kind = Operand::Symbol, operand.symbol = std::string(text);
  return operand;
}

// A bit for each entry of "[1,0,1]".
uint8_t bitList(std::string_view text) {
  uint8_t bits = 0;
  unsigned i = 0;
  for (std::string_view part : split(text.substr(1, text.size() - 2), ','))
    bits |= static_cast<uint8_t>((part == "1") << i++);
  return bits;
}

Operand::Part partOf(std::string_view name) {
  constexpr std::string_view names[] = {"DWORD", "WORD_0", "WORD_1", "BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3"};
  for (unsigned i = 0; i < std::size(names); ++i)
    if (names[i] == name)
      return static_cast<Operand::Part>(i);
  throw Error("unknown part of a register: " + std::string(name));
}

// The lane that lane i reads, or -1.
int movedFrom(std::string_view control, std::string_view value, int i, int lanes) {
  int64_t n = 0;
  parseInteger(value, n);
  int row = i & ~15, column = i & 15;
  auto within = [&](int source) { return source >= row && source < row + 16 ? source : -1; };
  auto inWave = [&](int source) { return source >= 0 && source < lanes ? source : -1; };
  if (control == "quad_perm") {
    int64_t lane = 0;
    parseInteger(split(value.substr(1, value.size() - 2), ',')[i & 3], lane);
    return (i & ~3) + static_cast<int>(lane);
  }
  if (control == "dpp8") {
    int64_t lane = 0;
    parseInteger(split(value.substr(1, value.size() - 2), ',')[i & 7], lane);
    return (i & ~7) + static_cast<int>(lane);
  }
  if (control == "row_shl")
    return within(i + static_cast<int>(n));
  if (control == "row_shr")
    return within(i - static_cast<int>(n));
  if (control == "row_ror")
    return row + ((column - static_cast<int>(n)) & 15);
  if (control == "wave_shl")
    return inWave(i + 1);
  if (control == "wave_shr")
    return inWave(i - 1);
  if (control == "wave_rol")
    return (i + 1) % lanes;
  if (control == "wave_ror")
    return (i + lanes - 1) % lanes;
  if (control == "row_mirror")
    return row + 15 - column;
  if (control == "row_half_mirror")
    return (i & ~7) + 7 - (i & 7);
  if (control == "row_bcast" && n == 15)
    return row == 0 ? -1 : row - 1;
  if (control == "row_bcast")
    return i < 32 ? -1 : 31;
  if (control == "row_newbcast" || control == "row_share")
    return row + static_cast<int>(n);
  return row + (column ^ static_cast<int>(n)); // row_xmask
}

bool isLaneMove(std::string_view name) {
  return name == "quad_perm" || name == "dpp8" || name.starts_with("row_sh") || name == "row_ror" ||
         name.starts_with("wave_") || name.ends_with("_mirror") || name.ends_with("bcast") || name == "row_xmask";
}

void parseModifier(std::string_view text, unsigned lanes, Instruction &instruction) {
  size_t colon = text.find(':');
  std::string_view name = text.substr(0, colon), value = colon == text.npos ? "" : text.substr(colon + 1);
  int64_t number = 0;
  bool isNumber = parseInteger(value, number);
  auto unsignedNumber = [&] { return static_cast<uint32_t>(number); };
  auto needMove = [&]() -> LaneMove & {
    if (!instruction.move)
      instruction.move = std::make_unique<LaneMove>();
    return *instruction.move;
  };
  if (isLaneMove(name)) {
    LaneMove &move = needMove();
    for (unsigned i = 0; i < lanes; ++i) {
      int source = movedFrom(name, value, static_cast<int>(i), static_cast<int>(lanes));
      move.source[i] = static_cast<uint8_t>(source < 0 ? 0 : source);
      move.valid |= uint64_t(source >= 0) << i;
    }
  } else if (name == "row_mask" || name == "bank_mask") {
    for (unsigned i = 0; i < 64; ++i)
      if (unsigned place = name == "row_mask" ? i / 16 : i % 16 / 4; !(number >> place & 1))
        needMove().written &= ~(1ull << i);
  } else if (name == "bound_ctrl") {
    needMove().zeroOutside = true; // bound_ctrl:0 and bound_ctrl:1 are two spellings of one bit
  } else if (name == "fi") {
    needMove().fetchInactive = true;
  } else if (name == "offset" && value.starts_with("swizzle(")) {
    instruction.swizzle = std::string(value.substr(8, value.size() - 9));
  } else if (name == "offset" && isNumber) {
    instruction.offset = number;
  } else if (name == "offset0" && isNumber) {
    instruction.offset0 = number;
  } else if (name == "offset1" && isNumber) {
    instruction.offset1 = number;
  } else if (name == "mul" && isNumber) {
    instruction.outputScale = static_cast<float>(number);
  } else if (name == "div") {
    instruction.outputScale = 0.5f;
  } else if (name == "clamp") {
    instruction.clamp = true;
  } else if (name == "op_sel") {
    instruction.opSel = bitList(value);
    instruction.hasOpSel = true;
  } else if (name == "op_sel_hi") {
    instruction.opSelHigh = bitList(value);
  } else if (name == "neg_lo") {
    instruction.negativeLow = bitList(value);
  } else if (name == "neg_hi") {
    instruction.negativeHigh = bitList(value);
  } else if (name == "cbsz") {
    instruction.broadcastSize = unsignedNumber();
  } else if (name == "abid") {
    instruction.broadcastBlock = unsignedNumber();
  } else if (name == "blgp") {
    instruction.permutation = unsignedNumber();
  } else if (name == "neg" && value.starts_with("[")) {
    instruction.permutation = bitList(value);
  } else if (name == "bitop3") {
    instruction.truthTable = unsignedNumber();
  } else if (name == "dst_sel") {
    instruction.destinationPart = partOf(value);
  } else if (name == "dst_unused") {
    instruction.preserveRest = value == "UNUSED_PRESERVE";
    instruction.extendRest = value == "UNUSED_SEXT";
  } else if (name == "src0_sel" || name == "src1_sel") {
    size_t place = name == "src0_sel" ? 1 : 2;
    if (instruction.mnemonic.starts_with("v_cmpx_") && instruction.operands.size() == 2)
      --place;
    if (place < instruction.operands.size())
      instruction.operands[place].part = partOf(value);
  } else if (name == "offen") {
    instruction.offsetEnabled = true;
  } else if (name == "idxen") {
    instruction.indexEnabled = true;
  } else if (name == "lds") {
    instruction.toLds = true;
  } else if (name == "glc" || name == "sc0" || value == "TH_ATOMIC_RETURN" || value == "TH_ATOMIC_NT_RETURN") {
    instruction.returnsOld = true;
    instruction.isCoherent |= name == "glc";
  } else if (name == "sc1" || value == "SCOPE_DEV" || value == "SCOPE_SYS") {
    instruction.isCoherent = true;
  } else if (name == "dlc" || name == "slc" || name == "nt" || name == "th" || name == "scope" || name == "nv" ||
             instruction.mnemonic.starts_with("s_")) {
    // Hints of caches and of the scheduler, and words of s_waitcnt, which its handler reads.
  } else {
    throw Error("modifier `" + std::string(text) + "` of `" + instruction.text + "` is not simulated");
  }
}

// The counters that s_waitcnt and its followers name, and the numbers that they wait for.
void parseWaits(std::string_view rest, Instruction &instruction) {
  std::string_view name = instruction.mnemonic;
  auto numberAfter = [&](std::string_view counter, Counter which) {
    if (size_t at = rest.find(counter); at != rest.npos)
      instruction.waitFor[which] =
          static_cast<uint32_t>(std::strtoul(std::string(rest.substr(at + counter.size())).c_str(), nullptr, 0));
  };
  if (name == "s_waitcnt") {
    numberAfter("vmcnt(", LoadCounter);
    numberAfter("lgkmcnt(", LdsCounter);
    return;
  }
  if (name == "s_waitcnt_vscnt") {
    numberAfter(", ", StoreCounter);
    return;
  }
  int64_t number = 0;
  if (!name.starts_with("s_wait_") || !parseInteger(trim(rest), number))
    return;
  auto low = static_cast<uint32_t>(number & 63), high = static_cast<uint32_t>(number >> 8 & 63);
  if (name == "s_wait_loadcnt")
    instruction.waitFor[LoadCounter] = low;
  else if (name == "s_wait_storecnt")
    instruction.waitFor[StoreCounter] = low;
  else if (name == "s_wait_dscnt")
    instruction.waitFor[LdsCounter] = low;
  else if (name == "s_wait_kmcnt")
    instruction.waitFor[ScalarCounter] = low;
  else if (name == "s_wait_loadcnt_dscnt")
    instruction.waitFor[LoadCounter] = high, instruction.waitFor[LdsCounter] = low;
  else if (name == "s_wait_storecnt_dscnt")
    instruction.waitFor[StoreCounter] = high, instruction.waitFor[LdsCounter] = low;
}

// op_sel of an instruction of 16 bits chooses a half of each operand; of packed instructions it means other things.
void applyHalves(Instruction &instruction) {
  std::string_view name = instruction.mnemonic;
  if (!instruction.hasOpSel || name.starts_with("v_pk_") || name.starts_with("v_dot") || name.starts_with("v_wmma") ||
      name.starts_with("v_swmmac") || name.starts_with("v_mad_mix") || name.starts_with("v_fma_mix") ||
      name.starts_with("v_permlane") || name.starts_with("v_cvt_pk_") || name.starts_with("v_cvt_sr_") ||
      name.starts_with("v_cvt_scalef32"))
    return;
  for (size_t i = 1; i < instruction.operands.size(); ++i)
    if (instruction.opSel >> (i - 1) & 1)
      instruction.operands[i].part = Operand::High;
  if (instruction.opSel >> (instruction.operands.size() - 1) & 1)
    instruction.operands[0].part = Operand::High;
}

} // namespace

void parse(std::string_view text, const Processor &processor, unsigned lanes, Instruction &instruction) {
  text = trim(text);
  if (size_t both = text.find(" :: "); both != text.npos) {
    instruction.second = std::make_unique<Instruction>();
    instruction.second->address = instruction.address;
    instruction.second->bytes = instruction.bytes;
    parse(text.substr(both + 4), processor, lanes, *instruction.second);
    text = text.substr(0, both);
  }
  instruction.text = std::string(text);
  size_t space = text.find_first_of(" \t");
  std::string_view mnemonic = text.substr(0, space);
  for (std::string_view suffix : {"_dpp8", "_dpp", "_sdwa", "_e32", "_e64"})
    if (mnemonic.ends_with(suffix))
      mnemonic.remove_suffix(suffix.size());
  if (mnemonic.starts_with("v_dual_"))
    instruction.mnemonic = "v_" + std::string(mnemonic.substr(7));
  else
    instruction.mnemonic = std::string(mnemonic);
  std::string_view rest = space == text.npos ? std::string_view() : text.substr(space + 1);
  // Modifiers follow the last operand, after blanks.
  std::vector<std::string_view> parts = split(rest, ',');
  std::vector<std::string_view> modifiers;
  if (instruction.mnemonic.starts_with("s_wait") || instruction.mnemonic == "s_delay_alu") {
    parseWaits(rest, instruction);
    parts.clear();
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    std::vector<std::string_view> words = split(parts[i], ' ');
    if (size_t colon = words[0].find(':'); colon < words[0].find('[')) { // "offset:4", but not "v[0:1]"
      modifiers.insert(modifiers.end(), words.begin(), words.end());
      continue;
    }
    instruction.operands.push_back(parseOperand(words[0], lanes));
    modifiers.insert(modifiers.end(), words.begin() + 1, words.end());
  }
  for (std::string_view modifier : modifiers)
    parseModifier(modifier, lanes, instruction);
  applyHalves(instruction);
  if (instruction.move && instruction.mnemonic.starts_with("v_cmpx_") && instruction.operands.size() == 2)
    instruction.moved = 0;
  // After a carry mask comes the first source.
  if (instruction.move && instruction.mnemonic.find("_co_") != std::string::npos)
    instruction.moved = 2;
  if (!instruction.move && mnemonic.size() != text.substr(0, space).size() && text.substr(0, space).ends_with("_dpp"))
    throw Error("the lanes that `" + std::string(text) + "` moves are not known");
  instruction.handler = handlerOf(instruction.mnemonic);
  std::string_view name = instruction.mnemonic;
  if (name.starts_with("v_mfma") || name.starts_with("v_wmma") || name.starts_with("v_smfmac"))
    instruction.group = InstructionGroup::Matrix;
  else if (name.starts_with("v_"))
    instruction.group = InstructionGroup::Vector;
  else if (name.starts_with("ds_"))
    instruction.group = InstructionGroup::Lds;
  else if (name.starts_with("s_load") || name.starts_with("s_buffer"))
    instruction.group = InstructionGroup::Memory;
  else if (name.starts_with("s_"))
    instruction.group = InstructionGroup::Scalar;
  else
    instruction.group = InstructionGroup::Memory;
}

} // namespace nacre::simulator::amdgcn
