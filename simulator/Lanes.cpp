// The lanes of a warp: which stand where, which run next, how they part and meet again.
//
// A warp is a list of fragments, lanes that stand at one place. The fragment in the deepest call and at the lowest
// place runs; fragments at one place become one, so that lanes meet where their ways join, also within a function that
// they entered one after another. A fragment that keeps jumping back lets the others run, so a lane may wait for
// another one of its warp.
#include "simulator/Machine.h"
#include "simulator/Races.h"
#include "simulator/Undefined.h"
#include <algorithm>

namespace nacre::simulator {

static constexpr uint32_t patience = 256; // backward jumps before others of the warp get a turn

Frame *makeFrame(Warp &warp, const DecodedFunction &function) {
  std::unique_ptr<Frame> frame;
  for (size_t i = 0; i < warp.freeFrames.size(); ++i)
    if (warp.freeFrames[i]->function == &function) {
      frame = std::move(warp.freeFrames[i]);
      warp.freeFrames.erase(warp.freeFrames.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    }
  if (!frame) {
    frame = std::make_unique<Frame>();
    frame->registers.allocate(function.registerBytes);
    frame->parameters.resize(size_t(function.parameterBytes) * laneCount);
  }
  frame->function = &function;
  frame->parent = nullptr;
  frame->call = nullptr;
  frame->depth = 0;
  frame->lanes = 0;
  frame->localBase = 0;
  frame->stackTop.fill(function.localBytes);
  warp.frames.push_back(std::move(frame));
  return warp.frames.back().get();
}

static void leaveFrame(Warp &warp, Frame *frame, uint32_t mask) {
  frame->lanes &= ~mask;
  if (frame->lanes)
    return;
  if (!warp.undefined.empty())
    std::erase_if(warp.undefined, [&](const Undefined &entry) { return entry.frame == frame; });
  for (size_t i = 0; i < warp.frames.size(); ++i)
    if (warp.frames[i].get() == frame) {
      warp.freeFrames.push_back(std::move(warp.frames[i]));
      warp.frames.erase(warp.frames.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
}

// Two activations by one call, which lanes made one after another.
static bool sameCall(const Frame *a, const Frame *b) {
  for (; a != b; a = a->parent, b = b->parent)
    if (!a || !b || a->function != b->function || a->returnPc != b->returnPc || a->call != b->call ||
        a->localBase != b->localBase || a->depth != b->depth)
      return false;
  return true;
}
// Lanes go from one of two such activations to the other, with those that called it.
static void moveLanes(Warp &warp, Frame *from, Frame *into, uint32_t lanes) {
  while (from != into) {
    for (const RegisterRow &row : into->function->rows) {
      std::byte *to = into->registers.data + row.offset, *source = from->registers.data + row.offset;
      if (row.bytes == 0) {
        auto *kept = reinterpret_cast<uint32_t *>(to);
        *kept = (*kept & ~lanes) | (*reinterpret_cast<uint32_t *>(source) & lanes);
      } else {
        forEachLane(lanes,
                    [&](unsigned lane) { std::memcpy(to + lane * row.bytes, source + lane * row.bytes, row.bytes); });
      }
    }
    size_t bytes = into->function->parameterBytes;
    forEachLane(lanes, [&](unsigned lane) {
      std::copy_n(from->parameters.data() + lane * bytes, bytes, into->parameters.data() + lane * bytes);
      into->stackTop[lane] = from->stackTop[lane];
    });
    into->lanes |= lanes;
    Frame *parent = from->parent;
    leaveFrame(warp, from, lanes);
    from = parent, into = into->parent;
  }
}

static size_t addFragment(Warp &warp, uint32_t pc, uint32_t mask, Frame *frame) {
  for (size_t i = 0; i < warp.fragments.size(); ++i) {
    Fragment &fragment = warp.fragments[i];
    if (fragment.pc == pc && fragment.frame == frame && fragment.mask && !fragment.atBarrier) {
      fragment.mask |= mask;
      fragment.blocked = false;
      return i;
    }
  }
  Fragment made;
  made.pc = pc;
  made.mask = mask;
  made.frame = frame;
  made.lastRun = warp.runs;
  warp.fragments.push_back(made);
  return warp.fragments.size() - 1;
}

void sendOn(Warp &warp, size_t fragment, uint32_t lanes) {
  Fragment &left = warp.fragments[fragment];
  left.mask &= ~lanes;
  left.forced = false;
  addFragment(warp, left.pc + 1, lanes, left.frame);
}

Status jumpTo(Warp &warp, uint32_t mask, uint32_t target) {
  Fragment &fragment = warp.fragments[warp.current];
  if (target <= warp.pc)
    ++fragment.backwardJumps;
  uint32_t rest = warp.active & ~mask;
  if (rest == 0) {
    warp.pc = target;
    return Status::Jumped;
  }
  uint32_t next = warp.pc + 1;
  if (target == next)
    return Status::Next;
  Frame *frame = fragment.frame;
  fragment.mask = warp.active = rest;
  fragment.pc = next; // where it stands: those who jump must not be taken for it
  size_t jumped = addFragment(warp, target, mask, frame);
  if (target <= warp.pc)
    warp.fragments[jumped].backwardJumps = warp.fragments[warp.current].backwardJumps;
  warp.pc = next;
  return Status::Jumped;
}

void exitLanes(Warp &warp, uint32_t mask) {
  Fragment &fragment = warp.fragments[warp.current];
  warp.live &= ~mask;
  for (Frame *frame = fragment.frame; frame;) {
    Frame *parent = frame->parent;
    leaveFrame(warp, frame, mask);
    frame = parent;
  }
  fragment.mask &= ~mask;
  warp.active = fragment.mask;
  warp.block->liveThreads -= static_cast<uint32_t>(std::popcount(mask));
  progressed(warp);
  recheckBarriers(*warp.block);
}

void returnLanes(Warp &warp, uint32_t mask) {
  Fragment &fragment = warp.fragments[warp.current];
  Frame *frame = fragment.frame;
  if (!frame->parent)
    return exitLanes(warp, mask);
  Frame *parent = frame->parent;
  for (const CallPlan::Copy &copy : frame->call->results) {
    if (!warp.undefined.empty())
      passUndefined(warp, frame, copy.callee, parent, copy.caller, copy.bytes, mask);
    forEachLane(mask, [&](unsigned lane) {
      std::memcpy(parent->parameters.data() + size_t(lane) * parent->function->parameterBytes + copy.caller,
                  frame->parameters.data() + size_t(lane) * frame->function->parameterBytes + copy.callee, copy.bytes);
    });
  }
  uint32_t returnPc = frame->returnPc;
  fragment.mask &= ~mask;
  warp.active = fragment.mask;
  leaveFrame(warp, frame, mask);
  addFragment(warp, returnPc, mask, parent);
}

std::string laneList(uint32_t mask) {
  std::string text = std::popcount(mask) == 1 ? "lane " : "lanes ";
  for (unsigned lane = 0; lane < laneCount; ++lane) {
    if (!(mask >> lane & 1))
      continue;
    unsigned last = lane;
    while (last + 1 < laneCount && (mask >> (last + 1) & 1))
      ++last;
    text += (text.back() == ' ' ? "" : ", ") + std::to_string(lane);
    if (last > lane)
      text += (last == lane + 1 ? ", " : "-") + std::to_string(last);
    lane = last;
  }
  return text;
}

bool gather(Warp &warp, uint32_t mask, uint32_t needed) {
  Fragment &fragment = warp.fragments[warp.current];
  needed &= warp.live;
  if ((needed & ~mask) == 0) {
    fragment.gathering = fragment.forced = false;
    return true;
  }
  if (fragment.forced) {
    fragment.gathering = fragment.forced = false;
    warp.launch->report(warp, static_cast<uint32_t>(std::countr_zero(mask)), FindingKind::DivergentBarrier,
                        laneList(mask) + " of the warp " + (std::popcount(mask) == 1 ? "waits" : "wait") +
                            " here for " + laneList(needed & ~mask) +
                            ", which never come: the branch around it is divergent");
    return true;
  }
  fragment.gathering = true;
  return false;
}

// The fragment to run; npos if none can.
static size_t pick(Warp &warp) {
  auto &fragments = warp.fragments;
  for (size_t i = 0; i < fragments.size();) {
    if (fragments[i].mask == 0) {
      fragments.erase(fragments.begin() + static_cast<std::ptrdiff_t>(i));
      continue;
    }
    bool merged = false;
    for (size_t j = 0; j < i && !merged; ++j)
      if (fragments[j].pc == fragments[i].pc && !fragments[j].atBarrier && !fragments[i].atBarrier &&
          sameCall(fragments[j].frame, fragments[i].frame)) {
        moveLanes(warp, fragments[i].frame, fragments[j].frame, fragments[i].mask);
        fragments[j].mask |= fragments[i].mask;
        fragments[j].blocked = fragments[j].gathering = fragments[j].forced = false;
        fragments.erase(fragments.begin() + static_cast<std::ptrdiff_t>(i));
        merged = true;
      }
    if (!merged)
      ++i;
  }
  size_t best = fragments.size();
  for (size_t i = 0; i < fragments.size(); ++i) {
    if (fragments[i].blocked)
      continue;
    if (best == fragments.size() || fragments[i].frame->depth > fragments[best].frame->depth ||
        (fragments[i].frame->depth == fragments[best].frame->depth && fragments[i].pc < fragments[best].pc))
      best = i;
  }
  if (best < fragments.size() && fragments[best].backwardJumps >= patience) {
    fragments[best].backwardJumps = 0;
    size_t other = fragments.size();
    for (size_t i = 0; i < fragments.size(); ++i)
      if (i != best && !fragments[i].blocked &&
          (other == fragments.size() || fragments[i].lastRun < fragments[other].lastRun))
        other = i;
    if (other < fragments.size())
      best = other;
  }
  return best;
}

// Registers that a wgmma in flight reads or writes must not be touched; ordinary writes are noted for wgmma.fence.
static void watchRegisters(Warp &warp, const Op &op, uint32_t mask) {
  if (op.kind == InstructionClass::WarpgroupMatrix)
    return;
  const OpInfo &info = warp.program->infos[warp.pc];
  const uint32_t *reads = warp.program->touched.data() + info.firstRead;
  const uint32_t *writes = warp.program->touched.data() + info.firstWrite;
  if (!warp.inFlight.empty()) {
    auto say = [&](const char *message, uint32_t row) {
      warp.launch->report(warp, static_cast<uint32_t>(std::countr_zero(mask)), FindingKind::WgmmaInFlight, message,
                          warp.flightOps[row]);
    };
    for (uint32_t i = 0; i < info.readCount; ++i)
      if (uint32_t row = reads[i] / 64; row < warp.flightWrites.size() && warp.flightWrites[row])
        say("an accumulator of a wgmma is read while the wgmma is in flight: wgmma.wait_group is missing", row);
    for (uint32_t i = 0; i < info.writeCount; ++i)
      if (uint32_t row = writes[i] / 64;
          row < warp.flightWrites.size() && (warp.flightWrites[row] || warp.flightReads[row]))
        say("a register of a wgmma is written while the wgmma is in flight: wgmma.wait_group is missing", row);
  }
  for (uint32_t i = 0; i < info.writeCount; ++i) {
    uint32_t row = writes[i] / 64;
    if (row >= warp.writtenEpoch.size())
      warp.writtenEpoch.resize(row + 1);
    warp.writtenEpoch[row] = warp.wgmmaEpoch;
  }
}

SliceEnd runWarp(Warp &warp, uint32_t budget) {
  const Op *ops = warp.program->ops.data();
  OpCounters *counters = currentWorker->counters.data();
  bool watch = warp.launch->checks && warp.program->usesWgmma;
  bool polled = false;
  for (Fragment &fragment : warp.fragments)
    fragment.blocked = false;
  while (true) {
    size_t chosen = pick(warp);
    if (warp.fragments.empty())
      return SliceEnd::Done;
    if (chosen == warp.fragments.size())
      return polled ? SliceEnd::Polling : SliceEnd::Waiting;
    warp.current = chosen;
    {
      Fragment &fragment = warp.fragments[chosen];
      fragment.lastRun = ++warp.runs;
      warp.pc = fragment.pc;
      warp.active = fragment.mask;
      warp.frame = fragment.frame;
      warp.bases[FrameBase] = fragment.frame->registers.data;
    }
    // Where other lanes stand: reaching it, they may meet.
    uint32_t stop = ~0u;
    for (size_t i = 0; i < warp.fragments.size(); ++i)
      if (i != chosen && warp.fragments[i].pc > warp.pc)
        stop = std::min(stop, warp.fragments[i].pc);
    bool again = false;
    while (!again) {
      const Op &op = ops[warp.pc];
      uint32_t mask = warp.active;
      if (op.guard != noGuard) {
        uint32_t predicate = *reinterpret_cast<const uint32_t *>(warp.bases[FrameBase] + op.guard);
        mask &= op.guardNegated ? ~predicate : predicate;
      }
      OpCounters &counter = counters[warp.pc];
      ++warp.executed;
      Status status = Status::Next;
      if (!warp.undefined.empty())
        watchUndefined(warp, op, mask);
      if (mask) {
        if (watch)
          watchRegisters(warp, op, mask);
        uint32_t at = warp.pc;
        status = op.handler(warp, op, mask);
        if (status != Status::Blocked) {
          ++counter.executions;
          counters[at].threads += static_cast<uint32_t>(std::popcount(mask));
        }
      } else {
        ++counter.executions;
      }
      switch (status) {
      case Status::Next:
        ++warp.pc;
        break;
      case Status::Jumped:
        if (warp.fragments.size() > 1 || warp.active == 0)
          again = true;
        break;
      case Status::Blocked:
        --warp.executed; // it has not happened
        warp.fragments[warp.current].blocked = true;
        again = true;
        break;
      case Status::Poll:
        warp.fragments[warp.current].polledAt = warp.pc;
        warp.lastPoll = warp.executed;
        if ((op.kind == InstructionClass::Memory || op.kind == InstructionClass::Atomic) && op.space != Space::Shared)
          warp.block->cluster->looksOutside = true;
        ++warp.pc;
        polled = true;
        if (warp.fragments.size() == 1) {
          warp.fragments[0].pc = warp.pc;
          return SliceEnd::Polling;
        }
        // Others of the warp may have to act first.
        warp.fragments[warp.current].blocked = true;
        again = true;
        break;
      }
      if (warp.pc >= stop)
        again = true;
      if (--budget == 0) {
        warp.fragments[warp.current].pc = warp.pc;
        return polled ? SliceEnd::Polling : SliceEnd::Budget;
      }
    }
    warp.fragments[warp.current].pc = warp.pc;
  }
}

} // namespace nacre::simulator
