// Branches, barriers, waits and the end of a wave.
#include "simulator/amdgcn/Machine.h"
#include <algorithm>

namespace nacre::simulator::amdgcn {
namespace {

void jump(Wave &wave, const Instruction &instruction) {
  const Operand &target = instruction.operands.at(0);
  if (!target.is(Operand::Integer))
    wave.refuse("its target is not a number");
  wave.nextPc = instruction.next() + static_cast<uint64_t>(4 * int64_t(static_cast<int16_t>(target.integer)));
}
template <typename F> constexpr Handler jumpIf(F) {
  return [](Wave &wave, const Instruction &instruction) {
    if (F()(wave))
      jump(wave, instruction);
  };
}
void jumpTo(Wave &wave, uint64_t host) { wave.nextPc = codeAddress(*wave.launch->program, host); }

void currentAddress(Wave &wave, const Instruction &instruction) {
  wave.writePair(instruction.operands.at(0), hostAddress(*wave.launch->program, instruction.next()));
}
void setAddress(Wave &wave, const Instruction &instruction) {
  jumpTo(wave, wave.readPair(instruction.operands.at(0)));
  wave.tainted &= wave.exec();
  wave.useDefined("the address of a jump");
}
void swapAddress(Wave &wave, const Instruction &instruction) {
  uint64_t target = wave.readPair(instruction.operands.at(1));
  wave.useDefined("the address of a call");
  wave.tainted = 0;
  wave.writePair(instruction.operands.at(0), hostAddress(*wave.launch->program, instruction.next()));
  jumpTo(wave, target);
}

// A wave's memory instructions that have ended before the barrier are known to the others after it.
// On CDNA also its accesses of global memory that are
// still under way: the waves of a work-group have one first-level cache, which does them in the order in which they come
// (LLVM's memory model has no wait there, unless a work-group may be spread over several units).
void arrive(Wave &wave) {
  std::copy_n(wave.done, unsigned(CounterCount), wave.arrived);
  if (wave.launch->processor->generation == 9)
    for (Counter counter : {LoadCounter, StoreCounter})
      wave.arrived[counter] = wave.issued[counter];
}
void barrier(Wave &wave, const Instruction &) {
  arrive(wave);
  wave.state = WaveState::AtBarrier;
}
bool isGroupBarrier(const Operand &operand) {
  return operand.is(Operand::Integer) && static_cast<int16_t>(operand.integer) == -1;
}
void signalBarrier(Wave &wave, const Instruction &instruction) {
  if (!isGroupBarrier(instruction.operands.at(0)))
    wave.refuse("only the barrier of the work-group (-1) is simulated");
  arrive(wave);
  wave.signaled = true;
}
void waitBarrier(Wave &wave, const Instruction &instruction) {
  if (!isGroupBarrier(instruction.operands.at(0)))
    wave.refuse("only the barrier of the work-group (-1) is simulated");
  if (!wave.signaled)
    wave.report(FindingKind::BarrierMismatch, "the wave waits at a barrier that it has not signaled");
  wave.signaled = false;
  wave.state = WaveState::AtBarrier;
}

void end(Wave &wave, const Instruction &) { wave.state = WaveState::Ended; }
void nothing(Wave &, const Instruction &) {}
void waitForCounters(Wave &wave, const Instruction &instruction) {
  for (unsigned counter = 0; counter < CounterCount; ++counter)
    if (instruction.waitFor[counter] != noWait)
      wave.waitUntil(static_cast<Counter>(counter), instruction.waitFor[counter]);
}
void trap(Wave &wave, const Instruction &) {
  wave.report(FindingKind::Trap, "the kernel stopped itself");
  wave.launch->report->completed = false;
  wave.launch->stopped = true;
}

// hwreg(HW_REG_MODE, 4, 2): the register and which of its bits.
struct HardwareField {
  bool isMode;
  unsigned offset = 0, width = 32;
};
HardwareField fieldOf(const Operand &operand) {
  HardwareField field{operand.symbol.find("HW_REG_MODE") != std::string::npos ||
                      operand.symbol.find("HW_REG_WAVE_MODE") != std::string::npos};
  if (size_t comma = operand.symbol.find(','); comma != std::string::npos) {
    char *end = nullptr;
    field.offset = static_cast<unsigned>(std::strtoul(operand.symbol.c_str() + comma + 1, &end, 0));
    field.width = static_cast<unsigned>(std::strtoul(end + 1, nullptr, 0));
  }
  return field;
}
void getRegister(Wave &wave, const Instruction &instruction) {
  HardwareField field = fieldOf(instruction.operands.at(1));
  if (!field.isMode)
    wave.refuse("only the register MODE is simulated");
  uint64_t mask = (1ull << field.width) - 1;
  wave.write(instruction.operands.at(0), static_cast<uint32_t>(wave.mode >> field.offset & mask));
}
void setRegister(Wave &wave, const Instruction &instruction) {
  HardwareField field = fieldOf(instruction.operands.at(0));
  if (!field.isMode)
    wave.refuse("only the register MODE is simulated");
  auto mask = static_cast<uint32_t>(((1ull << field.width) - 1) << field.offset);
  wave.mode = (wave.mode & ~mask) | (wave.read(instruction.operands.at(1)) << field.offset & mask);
  if (wave.mode & 0xf)
    wave.refuse("only rounding to nearest even is simulated");
}

constexpr HandlerRow rows[] = {
    {"s_branch", jump},
    {"s_cbranch_scc0", jumpIf([](Wave &wave) { return !wave.condition; })},
    {"s_cbranch_scc1", jumpIf([](Wave &wave) { return wave.condition; })},
    {"s_cbranch_vccz", jumpIf([](Wave &wave) { return wave.vcc() == 0; })},
    {"s_cbranch_vccnz", jumpIf([](Wave &wave) { return wave.vcc() != 0; })},
    {"s_cbranch_execz", jumpIf([](Wave &wave) { return wave.exec() == 0; })},
    {"s_cbranch_execnz", jumpIf([](Wave &wave) { return wave.exec() != 0; })},
    {"s_getpc_b64", currentAddress},
    {"s_setpc_b64", setAddress},
    {"s_swappc_b64", swapAddress},
    {"s_barrier", barrier},
    {"s_barrier_signal", signalBarrier},
    {"s_barrier_wait", waitBarrier},
    {"s_endpgm", end},
    {"s_waitcnt", waitForCounters},
    {"s_waitcnt_vscnt", waitForCounters},
    {"s_wait_loadcnt", waitForCounters},
    {"s_wait_storecnt", waitForCounters},
    {"s_wait_dscnt", waitForCounters},
    {"s_wait_kmcnt", waitForCounters},
    {"s_wait_loadcnt_dscnt", waitForCounters},
    {"s_wait_storecnt_dscnt", waitForCounters},
    {"s_trap", trap},
    {"s_getreg_b32", getRegister},
    {"s_setreg_b32", setRegister},
    {"s_setreg_imm32_b32", setRegister},
    // Hints, and the order of instructions within the pipelines, which show in no result.
    {"s_nop", nothing},
    {"s_sleep", nothing},
    {"s_setprio", nothing},
    {"s_clause", nothing},
    {"s_set_inst_prefetch_distance", nothing},
    {"s_delay_alu", nothing},
    {"s_wait_alu", nothing},
    {"s_waitcnt_depctr", nothing},
    {"s_wait_idle", nothing},
    {"s_wait_expcnt", nothing}, // exports, samples and ray tracing are not simulated: nothing is under way
    {"s_wait_samplecnt", nothing},
    {"s_wait_bvhcnt", nothing},
    {"s_sendmsg", nothing},
    {"s_icache_inv", nothing},
    {"s_dcache_inv", nothing},
    {"s_dcache_wb", nothing},
    {"v_nop", nothing},
    {"buffer_wbl2", nothing},
    {"buffer_inv", nothing},
    {"buffer_wbinvl1", nothing},
    {"buffer_wbinvl1_vol", nothing},
    {"buffer_gl0_inv", nothing},
    {"buffer_gl1_inv", nothing},
    {"global_inv", nothing},
    {"global_wb", nothing},
    {"global_wbinv", nothing},
};

} // namespace

void addControlHandlers(HandlerTable &table) { addRows(table, rows); }

} // namespace nacre::simulator::amdgcn
