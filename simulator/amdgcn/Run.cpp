// A launch: work-groups one after another, their waves in turns.
#include "simulator/amdgcn/CodeObject.h"
#include <algorithm>

namespace nacre::simulator::amdgcn {

Handler handlerOf(std::string_view mnemonic) {
  static const HandlerTable table = [] {
    HandlerTable made;
    addScalarHandlers(made);
    addScalarMemoryHandlers(made);
    addControlHandlers(made);
    addIntegerHandlers(made);
    addFloatHandlers(made);
    addCompareHandlers(made);
    addConvertHandlers(made);
    addPackedHandlers(made);
    addLaneHandlers(made);
    addGlobalHandlers(made);
    addLdsHandlers(made);
    addMatrixHandlers(made);
    return made;
  }();
  auto found = table.find(mnemonic);
  return found == table.end() ? nullptr : found->second;
}

namespace {

constexpr unsigned sliceInstructions = 2000; // of a wave, before another one of its group has a turn

// The kernarg segment: explicit arguments in their order, hidden ones by their kind.
std::vector<std::byte> kernargSegment(const Kernel &kernel, const Launch &launch) {
  size_t bytes = kernel.info.kernargBytes;
  for (const ArgumentInfo &argument : kernel.info.arguments)
    bytes = std::max<size_t>(bytes, argument.offset + argument.size);
  std::vector<std::byte> segment(bytes + 64);
  const Dimensions &groups = launch.groups, &size = launch.groupSize;
  const std::pair<std::string_view, uint32_t> hidden[] = {
      {"hidden_block_count_x", groups.x},
      {"hidden_block_count_y", groups.y},
      {"hidden_block_count_z", groups.z},
      {"hidden_group_size_x", size.x},
      {"hidden_group_size_y", size.y},
      {"hidden_group_size_z", size.z},
      {"hidden_grid_dims", groups.z * size.z > 1   ? 3u
                           : groups.y * size.y > 1 ? 2u
                                                   : 1u},
      {"hidden_dynamic_lds_size", launch.dynamicLdsBytes},
  };
  size_t next = 0;
  for (const ArgumentInfo &argument : kernel.info.arguments) {
    std::byte *place = segment.data() + argument.offset;
    if (argument.hidden()) {
      for (auto [kind, value] : hidden)
        if (kind == argument.kind)
          std::memcpy(place, &value, std::min<size_t>(argument.size, sizeof value));
      continue;
    }
    if (next >= launch.arguments.size())
      continue;
    const std::vector<std::byte> &value = launch.arguments[next++];
    if (value.size() != argument.size)
      throw Error("argument " + std::to_string(next) + " of `" + kernel.info.name + "` has " +
                  std::to_string(argument.size) + " bytes; " + std::to_string(value.size()) + " were given");
    std::copy(value.begin(), value.end(), place);
  }
  if (next < launch.arguments.size())
    throw Error("`" + kernel.info.name + "` has " + std::to_string(next) + " arguments; " +
                std::to_string(launch.arguments.size()) + " were given");
  return segment;
}

// The packet that starts a kernel: a kernel may ask it for the sizes of the launch.
std::vector<std::byte> dispatchPacket(const Launch &launch, const Kernel &kernel) {
  std::vector<std::byte> packet(64);
  auto put = [&](unsigned offset, auto value) { std::memcpy(packet.data() + offset, &value, sizeof value); };
  const Dimensions &groups = launch.groups, &size = launch.groupSize;
  put(2, uint16_t(3));
  put(4, static_cast<uint16_t>(size.x));
  put(6, static_cast<uint16_t>(size.y));
  put(8, static_cast<uint16_t>(size.z));
  put(12, groups.x * size.x);
  put(16, groups.y * size.y);
  put(20, groups.z * size.z);
  put(24, kernel.privateBytes);
  put(28, kernel.info.ldsBytes + launch.dynamicLdsBytes);
  return packet;
}

struct Segments {
  std::vector<std::byte> kernarg, packet;
};

// Registers as a wave finds them; the order is fixed by the descriptor's flags.
void setRegisters(Wave &wave, const Kernel &kernel, const Processor &processor, const Segments &segments,
                  Dimensions size) {
  wave.undefinedScalars.set();
  std::fill_n(wave.undefinedLanes, vectorCount, ~0ull);
  unsigned next = 0;
  auto give = [&](uint32_t value) {
    wave.scalar[next] = value;
    wave.undefinedScalars[next++] = false;
  };
  auto givePair = [&](uint64_t value) {
    give(static_cast<uint32_t>(value));
    give(static_cast<uint32_t>(value >> 32));
  };
  if (kernel.privateBuffer) {
    givePair(scratchAperture);
    givePair(0xffffffff);
  }
  if (kernel.dispatchPointer)
    givePair(reinterpret_cast<uint64_t>(segments.packet.data()));
  if (kernel.queuePointer)
    givePair(0);
  if (kernel.kernargPointer)
    givePair(reinterpret_cast<uint64_t>(segments.kernarg.data()));
  if (kernel.dispatchId)
    givePair(0);
  if (kernel.flatScratch)
    givePair(0);
  if (kernel.privateSize)
    give(kernel.privateBytes);
  for (unsigned word = 0; word < kernel.preloadedWords; ++word) {
    uint32_t value = 0;
    std::memcpy(&value, segments.kernarg.data() + 4 * (kernel.preloadOffset + word), sizeof value);
    give(value);
  }
  const WorkGroup &group = *wave.group;
  if (processor.groupIdsInTemporaries) {
    wave.scalar[TrapTemporaries + 9] = group.id.x;
    wave.scalar[TrapTemporaries + 7] = group.id.y | group.id.z << 16;
    wave.scalar[TrapTemporaries + 8] = wave.index << 25;
    for (unsigned place : {7u, 8u, 9u})
      wave.undefinedScalars[TrapTemporaries + place] = false;
  } else {
    next = kernel.userScalars;
    if (kernel.groupIdX)
      give(group.id.x);
    if (kernel.groupIdY)
      give(group.id.y);
    if (kernel.groupIdZ)
      give(group.id.z);
    if (kernel.groupInfo)
      give(0);
    if (kernel.scratchOffset)
      give(0);
  }
  for (unsigned place :
       {unsigned(VccLow), VccLow + 1u, unsigned(NullRegister), unsigned(FlatScratchLow), FlatScratchLow + 1u})
    wave.undefinedScalars[place] = false;
  wave.undefinedScalars[ExecLow] = wave.undefinedScalars[ExecLow + 1] = false;
  uint64_t items = size.count(), first = uint64_t(wave.index) * wave.lanes, present = 0;
  for (unsigned lane = 0; lane < wave.lanes && first + lane < items; ++lane) {
    present |= 1ull << lane;
    auto item = static_cast<uint32_t>(first + lane);
    uint32_t x = item % size.x, y = item / size.x % size.y, z = item / size.x / size.y;
    wave.setLane(0, lane, processor.packedWorkItems ? x | y << 10 | z << 20 : x);
  }
  wave.setExec(present);
}

std::unique_ptr<WorkGroup> makeGroup(LaunchState &state, const Kernel &kernel, uint32_t linear,
                                     const Segments &segments) {
  const Launch &launch = *state.launch;
  auto group = std::make_unique<WorkGroup>();
  group->launch = &state;
  group->linear = linear;
  group->id = {linear % launch.groups.x, linear / launch.groups.x % launch.groups.y,
               linear / launch.groups.x / launch.groups.y};
  group->ldsBytes = kernel.info.ldsBytes + launch.dynamicLdsBytes;
  group->lds.resize(group->ldsBytes);
  group->ldsWritten.resize(group->ldsBytes);
  group->ldsHistory.resize(group->ldsBytes / 4 + 1);
  uint64_t waves = (launch.groupSize.count() + kernel.lanes - 1) / kernel.lanes;
  for (unsigned index = 0; index < waves; ++index) {
    auto wave = std::make_unique<Wave>();
    std::memset(wave->vector, 0, sizeof wave->vector);
    std::memset(wave->scalar, 0, sizeof wave->scalar);
    std::memset(wave->undefinedSince, 0, sizeof wave->undefinedSince);
    wave->index = index;
    wave->lanes = kernel.lanes;
    wave->group = group.get();
    wave->launch = &state;
    wave->pc = kernel.entry;
    wave->mode = kernel.mode;
    wave->scratchBytes = kernel.privateBytes;
    wave->scratch.resize(size_t(kernel.privateBytes) * maxLanes);
    wave->scratchWritten.resize(wave->scratch.size());
    setRegisters(*wave, kernel, *state.processor, segments, launch.groupSize);
    group->waves.push_back(std::move(wave));
  }
  return group;
}

void countInstruction(Counters &counters, const Instruction &instruction) {
  ++counters.waveInstructions;
  switch (instruction.group) {
  case InstructionGroup::Scalar:
  case InstructionGroup::Control:
    ++counters.scalar;
    break;
  case InstructionGroup::Vector:
    ++counters.vector;
    break;
  case InstructionGroup::Matrix:
    ++counters.matrix;
    break;
  case InstructionGroup::Memory:
    ++counters.memory;
    break;
  case InstructionGroup::Lds:
    ++counters.lds;
    break;
  }
}

void runSlice(Wave &wave) {
  LaunchState &state = *wave.launch;
  for (unsigned i = 0; i < sliceInstructions && wave.state == WaveState::Running && !state.stopped; ++i) {
    const Instruction &instruction = instructionAt(*state.program, wave.pc);
    countInstruction(state.report->counters, instruction);
    execute(wave, instruction);
    wave.pc = wave.nextPc;
    ++wave.executed;
  }
}

// All waves that have not ended stand at the barrier: it opens.
void openBarrier(WorkGroup &group) {
  ++group.launch->report->counters.barriers;
  for (auto &wave : group.waves) {
    if (wave->state == WaveState::Ended) // its instructions have all ended, too
      std::copy_n(wave->issued, unsigned(CounterCount), wave->arrived);
    std::copy_n(wave->arrived, unsigned(CounterCount), wave->released);
    if (wave->state == WaveState::AtBarrier)
      wave->state = WaveState::Running;
  }
}

void runGroup(WorkGroup &group) {
  LaunchState &state = *group.launch;
  while (!state.stopped) {
    uint64_t executed = 0;
    bool anyRuns = false, anyWaits = false;
    for (auto &wave : group.waves) {
      if (wave->state == WaveState::Running)
        runSlice(*wave);
      anyRuns |= wave->state == WaveState::Running;
      anyWaits |= wave->state == WaveState::AtBarrier;
      executed += wave->executed;
    }
    if (!anyRuns && !anyWaits)
      return;
    if (!anyRuns)
      openBarrier(group);
    if (uint64_t limit = state.launch->instructionLimit; limit && executed > limit) {
      for (auto &wave : group.waves)
        if (wave->state == WaveState::Running) {
          wave->report(FindingKind::LimitReached,
                       "the work-group executed more than " + std::to_string(limit) + " instructions");
          break;
        }
      state.report->completed = false;
      state.stopped = true;
    }
  }
}

} // namespace

Report runKernel(Program &program, const Kernel &kernel, const Launch &launch) {
  Report report;
  report.kernel = kernel.info.name;
  if (launch.groupSize.count() == 0 || launch.groupSize.count() > 1024)
    throw Error("a work-group has 1 to 1024 work-items; " + std::to_string(launch.groupSize.count()) +
                " were asked for");
  if (kernel.info.ldsBytes + launch.dynamicLdsBytes > program.processor.ldsBytes)
    throw Error("the work-group needs " + std::to_string(kernel.info.ldsBytes + launch.dynamicLdsBytes) +
                " bytes of LDS; " + program.processor.name + " has " + std::to_string(program.processor.ldsBytes));
  program.prepare(kernel.lanes);
  program.checkReachable(kernel.entry);
  Segments segments{kernargSegment(kernel, launch), dispatchPacket(launch, kernel)};
  LaunchState state;
  state.launch = &launch;
  state.processor = &program.processor;
  state.report = &report;
  state.program = &program;
  state.memory = launch.memory;
  state.memory.push_back({segments.kernarg.data(), segments.kernarg.size(), "the kernel's arguments", false});
  state.memory.push_back({segments.packet.data(), segments.packet.size(), "the dispatch packet", false});
  state.memory.push_back({program.image.data(), program.image.size(), "the code object", true});
  std::sort(state.memory.begin(), state.memory.end(),
            [](const MemoryRange &a, const MemoryRange &b) { return a.data < b.data; });
  for (uint64_t linear = 0; linear < launch.groups.count() && !state.stopped; ++linear) {
    std::unique_ptr<WorkGroup> group = makeGroup(state, kernel, static_cast<uint32_t>(linear), segments);
    runGroup(*group);
  }
  return report;
}

} // namespace nacre::simulator::amdgcn
