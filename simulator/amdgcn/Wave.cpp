// A wave's registers: reading and writing operands, what is undefined, and what is still under way.
#include "simulator/amdgcn/Lanes.h"
#include <bit>

namespace nacre::simulator::amdgcn {

void Wave::refuse(const std::string &why) const {
  throw Error("`" + current->text + "` at " + placeOf(*launch->program, current->address) + ": " + why);
}

void Wave::report(FindingKind kind, const std::string &message, int lane) {
  auto [entry, isNew] = launch->known.try_emplace({current, kind}, launch->report->findings.size());
  if (!isNew) {
    if (entry->second < launch->report->findings.size())
      ++launch->report->findings[entry->second].count;
    return;
  }
  if (launch->report->findings.size() >= launch->launch->findingLimit) {
    entry->second = ~size_t(0);
    ++launch->report->moreFindings;
    return;
  }
  Finding finding{kind, message, placeOf(*launch->program, current->address), current->text, group->id, index, 0, 1};
  finding.lane = static_cast<uint32_t>(std::max(lane, 0));
  launch->report->findings.push_back(std::move(finding));
}

void Wave::useDefined(const char *what) {
  uint64_t used = tainted & active;
  if (!used || !launch->launch->checks)
    return;
  std::string origin;
  if (taintedBy && (taintedBy->group == InstructionGroup::Lds || taintedBy->group == InstructionGroup::Memory))
    origin = ": it comes from memory that nobody had written, by `" + taintedBy->text + "` at " +
             placeOf(*launch->program, taintedBy->address);
  report(FindingKind::Uninitialized, std::string(what) + " is not initialized" + origin, std::countr_zero(used));
}

// What has not ended of the instructions that write a register.
static void checkPending(Wave &wave, unsigned place, bool writes, const std::string &name, Counter inOrder) {
  for (unsigned counter = 0; counter < CounterCount; ++counter) {
    const std::vector<uint32_t> &pending = wave.pending[counter];
    if (counter == inOrder)
      continue;
    if (place < pending.size() && pending[place] > wave.done[counter]) {
      wave.report(FindingKind::MissingWait, name + (writes ? " is written" : " is read") +
                                                " while a memory instruction that writes it is under way");
      return;
    }
  }
}
static bool anythingPending(const Wave &wave) {
  return wave.launch->launch->checks &&
         (wave.issued[0] != wave.done[0] || wave.issued[2] != wave.done[2] || wave.issued[3] != wave.done[3]);
}
static std::string registerName(unsigned index) {
  return (index < accumulatorBase ? "v" : "a") + std::to_string(index % accumulatorBase);
}

void Wave::touch(unsigned index, bool writes, Counter inOrder) {
  if (anythingPending(*this))
    checkPending(*this, index, writes, registerName(index), inOrder);
}
static void touchScalar(Wave &wave, unsigned index, bool writes) {
  if (anythingPending(wave))
    checkPending(wave, vectorCount + index, writes, "s" + std::to_string(index), CounterCount);
}

uint32_t Wave::read(const Operand &operand) {
  switch (operand.kind) {
  case Operand::Integer:
  case Operand::Real:
    return constantBits<float>(operand);
  case Operand::SharedBase:
    return static_cast<uint32_t>(ldsAperture >> 32);
  case Operand::PrivateBase:
    return static_cast<uint32_t>(scratchAperture >> 32);
  case Operand::Condition:
    return condition;
  case Operand::Scalar:
    if (operand.index == NullRegister)
      return 0;
    touchScalar(*this, operand.index, false);
    if (undefinedScalars[operand.index])
      tainted = ~0ull;
    return scalar[operand.index];
  default:
    refuse("a scalar operand was expected");
  }
}

uint64_t Wave::readPair(const Operand &operand) {
  switch (operand.kind) {
  case Operand::Integer:
    return static_cast<uint64_t>(operand.integer);
  case Operand::Real:
    return std::bit_cast<uint64_t>(operand.real);
  case Operand::SharedBase:
    return ldsAperture;
  case Operand::PrivateBase:
    return scratchAperture;
  case Operand::Scalar:
    if (operand.index == NullRegister)
      return 0;
    for (unsigned word = 0; word < 2; ++word) {
      touchScalar(*this, operand.index + word, false);
      if (undefinedScalars[operand.index + word])
        tainted = ~0ull;
    }
    return pairAt(operand.index);
  default:
    refuse("a scalar operand was expected");
  }
}

void Wave::writeScalars(unsigned first, const uint32_t *values, unsigned count, bool defined) {
  if (first == NullRegister)
    return;
  for (unsigned i = 0; i < count; ++i) {
    touchScalar(*this, first + i, true);
    scalar[first + i] = values[i];
    undefinedScalars[first + i] = !defined;
  }
}
void Wave::write(const Operand &operand, uint32_t value) {
  if (!operand.is(Operand::Scalar))
    refuse("its result is not a scalar register");
  writeScalars(operand.index, &value, 1, !tainted);
}
void Wave::writePair(const Operand &operand, uint64_t value) {
  if (!operand.is(Operand::Scalar))
    refuse("its result is not a scalar register");
  uint32_t words[] = {static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32)};
  writeScalars(operand.index, words, 2, !tainted);
}
// A mask that a vector instruction makes: the lanes that are not active have no part in it.
void Wave::writeMask(const Operand &operand, uint64_t mask) {
  if (!operand.is(Operand::Scalar))
    refuse("its result is not a scalar register");
  uint32_t words[] = {static_cast<uint32_t>(mask), static_cast<uint32_t>(mask >> 32)};
  writeScalars(operand.index, words, lanes / 32);
}

static uint32_t partOf(uint32_t word, const Operand &operand) {
  switch (operand.part) {
  case Operand::Whole:
    return word;
  case Operand::Low:
    return operand.signExtended ? static_cast<uint32_t>(static_cast<int16_t>(word)) : word & 0xffff;
  case Operand::High:
    return operand.signExtended ? static_cast<uint32_t>(static_cast<int32_t>(word) >> 16) : word >> 16;
  default:
    word >>= 8 * (operand.part - Operand::Byte0);
    return operand.signExtended ? static_cast<uint32_t>(static_cast<int8_t>(word)) : word & 0xff;
  }
}

const uint32_t *Wave::row(const Instruction &instruction, unsigned index, unsigned word, uint32_t (&buffer)[maxLanes]) {
  const Operand &operand = instruction.operands.at(index);
  if (!operand.is(Operand::Vector)) {
    uint32_t value = 0;
    if (word == 0)
      value = read(operand);
    else if (operand.is(Operand::Scalar) && operand.words == 1)
      value = 0;
    else
      value = operand.is(Operand::Scalar) && word > 1 ? scalar[operand.index + word]
                                                      : static_cast<uint32_t>(readPair(operand) >> 32);
    std::fill_n(buffer, maxLanes, partOf(value, operand));
    return buffer;
  }
  unsigned place = operand.index + word;
  touch(place, false);
  const uint32_t *values = vector[place];
  uint64_t undefined = undefinedLanes[place];
  if (instruction.move && index == instruction.moved) {
    const LaneMove &move = *instruction.move;
    uint64_t present = exec();
    uint64_t moved = 0;
    for (unsigned i = 0; i < lanes; ++i) {
      unsigned source = move.source[i];
      bool valid = (move.valid >> i & 1) && (move.fetchInactive || (present >> source & 1));
      buffer[i] = valid ? values[source] : 0;
      moved |= uint64_t(valid && (undefined >> source & 1)) << i;
    }
    std::fill_n(buffer + lanes, maxLanes - lanes, 0);
    undefined = moved;
    values = buffer;
  }
  if (undefined & active) {
    tainted |= undefined;
    taintedBy = undefinedSince[place];
  }
  if (operand.part != Operand::Whole || operand.signExtended) {
    for (unsigned i = 0; i < maxLanes; ++i)
      buffer[i] = partOf(values[i], operand);
    values = buffer;
  }
  return values;
}

void Wave::setRow(unsigned place, const uint32_t *values) {
  touch(place, true);
  if (active == ~0ull)
    std::copy_n(values, maxLanes, vector[place]);
  else
    for (unsigned i = 0; i < maxLanes; ++i)
      vector[place][i] = (active >> i & 1) ? values[i] : vector[place][i];
  undefinedLanes[place] = (undefinedLanes[place] & ~active) | (tainted & active);
  if (tainted & active)
    undefinedSince[place] = taintedBy;
}

void Wave::setLane(unsigned place, unsigned lane, uint32_t value, bool defined) {
  vector[place][lane] = value;
  uint64_t bit = 1ull << lane;
  undefinedLanes[place] = defined ? undefinedLanes[place] & ~bit : undefinedLanes[place] | bit;
  if (!defined)
    undefinedSince[place] = current;
}

uint32_t insertPart(const Instruction &instruction, Operand::Part part, uint32_t old, uint32_t value, bool preserves) {
  unsigned bits = part == Operand::Whole ? 32 : part <= Operand::High ? 16 : 8;
  unsigned shift = part <= Operand::Low ? 0 : part == Operand::High ? 16 : 8 * (part - Operand::Byte0);
  uint32_t mask = (bits == 32 ? ~0u : (1u << bits) - 1) << shift;
  uint32_t placed = value << shift & mask;
  if (preserves)
    return (old & ~mask) | placed;
  if (instruction.extendRest) {
    auto extended = static_cast<int32_t>(value << (32 - bits)) >> (32 - bits);
    return static_cast<uint32_t>(extended) << shift;
  }
  return placed;
}

Counter Wave::storeCounter() const { return launch->processor->generation >= 10 ? StoreCounter : LoadCounter; }
Counter Wave::scalarCounter() const { return launch->processor->generation >= 12 ? ScalarCounter : LdsCounter; }

uint32_t Wave::begin(Counter counter) { return ++issued[counter]; }

void Wave::owe(Counter counter, uint32_t ticket, unsigned firstRegister, unsigned count) {
  std::vector<uint32_t> &tickets = pending[counter];
  if (tickets.empty())
    tickets.resize(vectorCount + ScalarCount);
  for (unsigned i = 0; i < count; ++i)
    tickets[firstRegister + i] = ticket;
}

void Wave::waitUntil(Counter counter, uint32_t left) {
  if (issued[counter] - done[counter] <= left)
    return;
  // Scalar loads end in any order: a count above zero says nothing of what was begun before the last of them.
  bool anyOrder = counter == scalarCounter() && lastOutOfOrder > done[counter];
  if (anyOrder && left > 0)
    return;
  done[counter] = issued[counter] - left;
}

void execute(Wave &wave, const Instruction &instruction) {
  wave.current = &instruction;
  wave.nextPc = instruction.next();
  wave.tainted = wave.taintedHigh = 0;
  wave.taintedBy = nullptr;
  wave.active = wave.exec();
  if (const LaneMove *move = instruction.move.get()) {
    wave.active &= move->written;
    if (!move->zeroOutside) {
      uint64_t present = wave.exec(), reached = 0;
      for (unsigned i = 0; i < wave.lanes; ++i)
        reached |= uint64_t((move->valid >> i & 1) && (move->fetchInactive || (present >> move->source[i] & 1))) << i;
      wave.active &= reached;
    }
  }
  const Instruction *second = instruction.second.get();
  if (!second)
    return instruction.handler(wave, instruction);
  // Both halves of a v_dual instruction read before either writes: the first one's result waits while the second runs.
  unsigned place = instruction.operands.at(0).index;
  uint32_t before[maxLanes], result[maxLanes];
  uint64_t undefinedBefore = wave.undefinedLanes[place];
  std::copy_n(wave.vector[place], maxLanes, before);
  instruction.handler(wave, instruction);
  uint64_t undefined = wave.undefinedLanes[place];
  std::copy_n(wave.vector[place], maxLanes, result);
  std::copy_n(before, maxLanes, wave.vector[place]);
  wave.undefinedLanes[place] = undefinedBefore;
  wave.tainted = wave.taintedHigh = 0;
  second->handler(wave, *second);
  std::copy_n(result, maxLanes, wave.vector[place]);
  wave.undefinedLanes[place] = undefined;
}

} // namespace nacre::simulator::amdgcn
