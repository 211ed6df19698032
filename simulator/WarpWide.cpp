// Exchange within a warp: shfl, vote, match, redux, activemask, elect, bar.warp.sync.
//
// The lanes that a member mask names meet wherever they stand: each executes an operation of the same kind with the
// same mask, which need not be the same line of PTX (PTX ISA, "Independent thread scheduling"). Lanes that have exited
// are not waited for; a shuffle that reads one is an error.
#include "simulator/Execute.h"
#include "simulator/Undefined.h"

namespace nacre::simulator {
namespace {

// What lanes bring to an exchange and take from it.
struct Exchange {
  uint32_t lanes = 0;                                     // those who take part
  uint32_t members[laneCount] = {};                       // whom each of them names
  uint64_t value[laneCount] = {};                         // operand a
  uint32_t second[laneCount] = {}, third[laneCount] = {}; // operands b and c
  uint32_t votes = 0;                                     // operand a, where it is a predicate
  uint32_t result[laneCount] = {};
  uint32_t predicate = 0;
  uint32_t undefinedValues = 0, undefinedResults = 0; // lanes
  std::unique_ptr<Undefined> origin;                  // of undefined results
  uint32_t groupOf(unsigned lane) const { return members[lane] & lanes; }
};

// Operands of every exchange: d, a, b and c as the instruction has them, e the member mask, the first of the parts the
// second result.
enum ExchangeFlag : uint32_t {
  ModeMask = 7,
  SyncFlag = 16,
  SecondFlag = 32,          // a second result, a predicate
  NegatedFlag = 64,         // the vote is
  VoteFlag = 128,           // operand a is a predicate
  PredicateResultFlag = 256 // the result is a predicate
};

// With the registers of the frame at hand.
void bring(const Warp &warp, const Op &op, uint32_t lanes, Exchange &exchange) {
  const uint32_t *members = warp.at<uint32_t>(op.e);
  const uint32_t *b = warp.at<uint32_t>(op.b), *c = warp.at<uint32_t>(op.c);
  forEachLane(lanes, [&](unsigned lane) {
    exchange.members[lane] = op.flags & SyncFlag ? members[lane] : lanes;
    exchange.second[lane] = b[lane], exchange.third[lane] = c[lane];
  });
  if (op.flags & VoteFlag)
    exchange.votes |= (op.flags & NegatedFlag ? ~warp.predicate(op.a) : warp.predicate(op.a)) & lanes;
  else if (op.bytes == 8)
    forEachLane(lanes, [&](unsigned lane) { exchange.value[lane] = warp.at<uint64_t>(op.a)[lane]; });
  else
    forEachLane(lanes, [&](unsigned lane) { exchange.value[lane] = warp.at<uint32_t>(op.a)[lane]; });
  exchange.lanes |= lanes;
  if (const Undefined *entry = warp.undefined.empty() ? nullptr : undefinedValue(warp, op.a)) {
    exchange.undefinedValues |= entry->lanes() & lanes;
    exchange.origin = std::make_unique<Undefined>(*entry);
  }
}
void take(Warp &warp, const Op &op, uint32_t lanes, const Exchange &exchange) {
  auto put = [&](uint32_t &d) { d = (d & ~lanes) | (exchange.predicate & lanes); };
  if (op.flags & PredicateResultFlag)
    put(warp.predicate(op.d));
  else
    forEachLane(lanes, [&](unsigned lane) { warp.at<uint32_t>(op.d)[lane] = exchange.result[lane]; });
  if (op.flags & SecondFlag)
    put(warp.predicate(warp.program->parts[op.first].slot));
  if (exchange.undefinedResults || !warp.undefined.empty())
    setUndefined(warp, op.d, lanes, exchange.undefinedResults, exchange.origin.get());
}

// The registers of a fragment, while something is done for it.
class AsIf {
public:
  AsIf(Warp &warp, const Fragment &fragment) : warp(warp), base(warp.bases[FrameBase]), frame(warp.frame) {
    warp.bases[FrameBase] = fragment.frame->registers.data;
    warp.frame = fragment.frame;
  }
  ~AsIf() { warp.bases[FrameBase] = base, warp.frame = frame; }
  AsIf(const AsIf &) = delete;

private:
  Warp &warp;
  std::byte *base;
  Frame *frame;
};

bool sameOperation(const Op &a, const Op &b) {
  return a.handler == b.handler && (a.flags & ~SecondFlag) == (b.flags & ~SecondFlag) && a.bytes == b.bytes;
}

// Lanes of other fragments that wait at such an operation bring what they have.
void bringOthers(Warp &warp, const Op &op, Exchange &exchange) {
  for (size_t i = 0; i < warp.fragments.size(); ++i) {
    const Fragment &other = warp.fragments[i];
    if (i == warp.current || !other.gathering || !other.mask || !sameOperation(warp.program->ops[other.pc], op))
      continue;
    AsIf asIf(warp, other);
    bring(warp, warp.program->ops[other.pc], other.mask, exchange);
  }
}

// The lanes of groups that are complete: all that a mask names are here with that mask, or have exited.
uint32_t completeLanes(const Warp &warp, const Exchange &exchange) {
  uint32_t complete = 0, first = exchange.members[std::countr_zero(exchange.lanes)], different = 0;
  forEachLane(exchange.lanes, [&](unsigned lane) { different |= exchange.members[lane] ^ first; });
  if (!different) // one mask, as nearly always
    return first & warp.live & ~exchange.lanes ? 0 : exchange.lanes;
  forEachLane(exchange.lanes, [&](unsigned lane) {
    uint32_t needed = exchange.members[lane] & warp.live, with = 0;
    forEachLane(needed & exchange.lanes,
                [&](unsigned other) { with |= uint32_t(exchange.members[other] == exchange.members[lane]) << other; });
    complete |= uint32_t(with == needed) << lane;
  });
  return complete;
}

void checkMembership(Warp &warp, const Exchange &exchange, uint32_t lanes) {
  forEachLane(lanes, [&](unsigned lane) {
    if (!(exchange.members[lane] >> lane & 1))
      warp.launch->report(warp, lane, FindingKind::SynchronizationMisuse,
                          "lane " + std::to_string(lane) + " executes it but is not in its member mask");
  });
}

// The lanes that are left wait for others, which do not come. What they miss is reported, and they go on without.
void reportMissing(Warp &warp, const Exchange &exchange, uint32_t mask) {
  auto first = static_cast<unsigned>(std::countr_zero(mask));
  uint32_t missing = exchange.members[first] & warp.live & ~exchange.lanes;
  std::string who = laneList(mask) + " of the warp " + (std::popcount(mask) == 1 ? "waits" : "wait") + " here for ";
  if (missing) {
    warp.launch->report(warp, first, FindingKind::DivergentBarrier,
                        who + laneList(missing) + ", which the member mask names and which never come");
    return;
  }
  uint32_t others = 0;
  forEachLane(exchange.members[first] & exchange.lanes,
              [&](unsigned lane) { others |= uint32_t(exchange.members[lane] != exchange.members[first]) << lane; });
  warp.launch->report(warp, first, FindingKind::DivergentBarrier,
                      who + laneList(others) + ", which come with another member mask");
}

using ExchangeFunction = void (*)(Warp &, const Op &, Exchange &);
template <ExchangeFunction compute> Status exchangeHandler(Warp &warp, const Op &op, uint32_t mask) {
  Exchange exchange;
  bring(warp, op, mask, exchange);
  Fragment &fragment = warp.fragments[warp.current];
  auto finish = [&](uint32_t lanes) {
    ++warp.warpSyncs;
    exchange.lanes = lanes;
    compute(warp, op, exchange);
  };
  uint32_t complete = completeLanes(warp, exchange);
  if (complete == mask) { // nobody else is needed
    fragment.gathering = fragment.forced = false;
    checkMembership(warp, exchange, mask);
    finish(mask);
    take(warp, op, mask, exchange);
    return Status::Next;
  }
  bringOthers(warp, op, exchange);
  complete = completeLanes(warp, exchange);
  if (!(complete & mask) && fragment.forced) {
    reportMissing(warp, exchange, mask);
    complete = mask;
  }
  fragment.pc = warp.pc;
  // Those whom the guard leaves out do not wait.
  if (uint32_t skipping = warp.active & ~mask)
    sendOn(warp, warp.current, skipping);
  if (!(complete & mask)) {
    warp.fragments[warp.current].gathering = warp.fragments[warp.current].blocked = true;
    return Status::Blocked;
  }
  checkMembership(warp, exchange, complete & mask);
  finish(complete);
  take(warp, op, complete & mask, exchange);
  for (size_t i = 0, count = warp.fragments.size(); i < count; ++i) {
    Fragment &other = warp.fragments[i];
    uint32_t lanes = other.mask & complete;
    if (i == warp.current || !other.gathering || !lanes || !sameOperation(warp.program->ops[other.pc], op))
      continue;
    {
      AsIf asIf(warp, other);
      take(warp, warp.program->ops[other.pc], lanes, exchange);
    }
    OpCounters &counter = currentWorker->counters[other.pc];
    ++counter.executions;
    counter.threads += static_cast<uint32_t>(std::popcount(lanes));
    sendOn(warp, i, lanes);
  }
  sendOn(warp, warp.current, complete & mask);
  warp.active = warp.fragments[warp.current].mask;
  warp.fragments[warp.current].gathering = warp.fragments[warp.current].blocked = true;
  progressed(warp);
  return Status::Jumped;
}

// Emits an exchange whose operands are set, with the member mask as its last operand.
template <ExchangeFunction compute> void emitExchange(Decoder &decoder, bool sync) {
  Op &op = decoder.op;
  const Operand &destination = decoder.operand(0);
  op.d = decoder.destination(destination, op.flags & PredicateResultFlag ? 0 : 4);
  if (destination.second) {
    decoder.addParts(*destination.second, true);
    if (decoder.program.parts[op.first].bytes != 0)
      decoder.refuse("its second result must be a predicate");
    op.flags |= SecondFlag;
  }
  if (sync) {
    op.e = decoder.valueOf(decoder.operand(decoder.operandCount() - 1), ScalarType::U32);
    op.flags |= SyncFlag;
  }
  decoder.emit(exchangeHandler<compute>, InstructionClass::Shuffle);
}

enum class Shuffle : uint8_t { Up, Down, Butterfly, Index };

// A shuffle from a lane that does not take part gives an undefined value; to use it is the mistake.
void noteAbsent(const Warp &warp, Exchange &exchange, unsigned lane, unsigned from) {
  exchange.undefinedResults |= 1u << lane;
  if (!warp.launch->checks || (exchange.origin && exchange.origin->op == warp.pc))
    return;
  exchange.origin = std::make_unique<Undefined>();
  exchange.origin->kind = FindingKind::SynchronizationMisuse;
  exchange.origin->op = warp.pc;
  exchange.origin->place = warp.program->place(warp.pc, warp.frame);
  exchange.origin->message = "shfl reads lane " + std::to_string(from) + ", which " +
                             (!(warp.present >> from & 1) ? "the block does not have"
                              : !(warp.live >> from & 1)  ? "has exited"
                                                          : "does not take part") +
                             ": its value is undefined, and is used";
}

void shuffle(Warp &warp, const Op &op, Exchange &exchange) {
  forEachLane(exchange.lanes, [&](unsigned lane) {
    int bval = static_cast<int>(exchange.second[lane] & 31), cval = static_cast<int>(exchange.third[lane] & 31),
        segment = static_cast<int>(exchange.third[lane] >> 8 & 31);
    int own = static_cast<int>(lane);
    int most = (own & segment) | (cval & ~segment), least = own & segment, j = own;
    bool inside = false;
    switch (static_cast<Shuffle>(op.flags & ModeMask)) {
    case Shuffle::Up:
      j = own - bval, inside = j >= most;
      break;
    case Shuffle::Down:
      j = own + bval, inside = j <= most;
      break;
    case Shuffle::Butterfly:
      j = own ^ bval, inside = j <= most;
      break;
    case Shuffle::Index:
      j = least | (bval & ~segment), inside = j <= most;
      break;
    }
    if (!inside)
      j = own;
    exchange.predicate |= uint32_t(inside) << lane;
    if (inside && !(exchange.groupOf(lane) >> j & 1) && j != own) {
      noteAbsent(warp, exchange, lane, static_cast<unsigned>(j));
      j = own;
    } else if (exchange.undefinedValues >> j & 1) {
      exchange.undefinedResults |= 1u << lane;
    }
    exchange.result[lane] = static_cast<uint32_t>(exchange.value[j]);
  });
}
void decodeShuffle(Decoder &decoder) {
  Op &op = decoder.op;
  bool sync = decoder.take("sync");
  std::string_view mode = decoder.takeOneOf({"up", "down", "bfly", "idx"});
  if (mode.empty())
    decoder.refuse("its mode is missing");
  decoder.take("b32");
  decoder.finishModifiers();
  decoder.expectOperands(sync ? 5 : 4, sync ? 5 : 4);
  op.flags = mode == "up" ? 0 : mode == "down" ? 1 : mode == "bfly" ? 2 : 3;
  op.a = decoder.valueOf(decoder.operand(1), ScalarType::B32);
  op.b = decoder.valueOf(decoder.operand(2), ScalarType::U32);
  op.c = decoder.valueOf(decoder.operand(3), ScalarType::U32);
  emitExchange<shuffle>(decoder, sync);
}

enum class Vote : uint8_t { All, Any, Uniform, Ballot };

void vote(Warp &, const Op &op, Exchange &exchange) {
  auto mode = static_cast<Vote>(op.flags & ModeMask);
  forEachLane(exchange.lanes, [&](unsigned lane) {
    uint32_t group = exchange.groupOf(lane), yes = exchange.votes & group;
    bool answer = mode == Vote::All ? yes == group : mode == Vote::Any ? yes != 0 : yes == 0 || yes == group;
    exchange.result[lane] = yes;
    exchange.predicate |= uint32_t(answer) << lane;
  });
}
void decodeVote(Decoder &decoder) {
  Op &op = decoder.op;
  bool sync = decoder.take("sync");
  std::string_view mode = decoder.takeOneOf({"all", "any", "uni", "ballot"});
  if (mode.empty())
    decoder.refuse("its mode is missing");
  decoder.take("pred");
  decoder.take("b32");
  decoder.finishModifiers();
  decoder.expectOperands(sync ? 3 : 2, sync ? 3 : 2);
  op.flags = (mode == "all"   ? 0
              : mode == "any" ? 1
              : mode == "uni" ? 2
                              : 3) |
             VoteFlag | (mode == "ballot" ? 0u : uint32_t(PredicateResultFlag));
  op.a = decoder.predicate(decoder.operand(1));
  op.flags |= decoder.operand(1).negated ? uint32_t(NegatedFlag) : 0;
  emitExchange<vote>(decoder, sync);
}

void match(Warp &, const Op &op, Exchange &exchange) {
  forEachLane(exchange.lanes, [&](unsigned lane) {
    uint32_t same = 0, group = exchange.groupOf(lane);
    forEachLane(group,
                [&](unsigned other) { same |= uint32_t(exchange.value[other] == exchange.value[lane]) << other; });
    exchange.result[lane] = op.flags & 1 ? (same == group ? group : 0) : same;
    exchange.predicate |= uint32_t(same == group) << lane;
  });
}
void decodeMatch(Decoder &decoder) {
  Op &op = decoder.op;
  bool all = decoder.take("all");
  if (!all && !decoder.take("any"))
    decoder.refuse("it is .any or .all");
  if (!decoder.take("sync"))
    decoder.refuse("it needs .sync");
  ScalarType type = decoder.takeType();
  decoder.finishModifiers();
  decoder.expectOperands(3, 3);
  op.flags = all;
  op.bytes = static_cast<uint8_t>(bytesOf(type));
  op.a = decoder.valueOf(decoder.operand(1), type);
  emitExchange<match>(decoder, true);
}

enum class Reduce : uint8_t { Add, MinimumSigned, MaximumSigned, MinimumUnsigned, MaximumUnsigned, And, Or, Xor };

uint32_t reduced(Reduce operation, uint32_t a, uint32_t b) {
  switch (operation) {
  case Reduce::Add:
    return a + b;
  case Reduce::MinimumSigned:
    return uint32_t(std::min(int32_t(a), int32_t(b)));
  case Reduce::MaximumSigned:
    return uint32_t(std::max(int32_t(a), int32_t(b)));
  case Reduce::MinimumUnsigned:
    return std::min(a, b);
  case Reduce::MaximumUnsigned:
    return std::max(a, b);
  case Reduce::And:
    return a & b;
  case Reduce::Or:
    return a | b;
  case Reduce::Xor:
    return a ^ b;
  }
  return a;
}
void reduce(Warp &, const Op &op, Exchange &exchange) {
  uint32_t lastGroup = 0, lastValue = 0;
  forEachLane(exchange.lanes, [&](unsigned lane) {
    uint32_t group = exchange.groupOf(lane);
    if (group != lastGroup) {
      lastGroup = group;
      lastValue = static_cast<uint32_t>(exchange.value[std::countr_zero(group)]);
      forEachLane(group & (group - 1), [&](unsigned other) {
        lastValue =
            reduced(static_cast<Reduce>(op.flags & ModeMask), lastValue, static_cast<uint32_t>(exchange.value[other]));
      });
    }
    exchange.result[lane] = lastValue;
  });
}
void decodeReduce(Decoder &decoder) {
  Op &op = decoder.op;
  if (!decoder.take("sync"))
    decoder.refuse("it needs .sync");
  std::string_view operation = decoder.takeOneOf({"add", "min", "max", "and", "or", "xor"});
  ScalarType type = decoder.takeType();
  decoder.finishModifiers();
  decoder.expectOperands(3, 3);
  bool isSignedType = type == ScalarType::S32;
  if (bitsOf(type) != 32 || isFloat(type) || operation.empty())
    decoder.refuse("the simulator does not know this reduction");
  Reduce kind = operation == "add"   ? Reduce::Add
                : operation == "min" ? (isSignedType ? Reduce::MinimumSigned : Reduce::MinimumUnsigned)
                : operation == "max" ? (isSignedType ? Reduce::MaximumSigned : Reduce::MaximumUnsigned)
                : operation == "and" ? Reduce::And
                : operation == "or"  ? Reduce::Or
                                     : Reduce::Xor;
  op.flags = uint32_t(kind);
  op.a = decoder.valueOf(decoder.operand(1), type);
  emitExchange<reduce>(decoder, true);
}

void elect(Warp &, const Op &, Exchange &exchange) {
  forEachLane(exchange.lanes, [&](unsigned lane) {
    auto leader = static_cast<unsigned>(std::countr_zero(exchange.groupOf(lane)));
    exchange.result[lane] = leader;
    exchange.predicate |= uint32_t(leader == lane) << lane;
  });
}
void decodeElect(Decoder &decoder) {
  if (!decoder.take("sync"))
    decoder.refuse("it needs .sync");
  decoder.finishModifiers();
  decoder.expectOperands(2, 2);
  emitExchange<elect>(decoder, true);
}

Status activeMaskHandler(Warp &warp, const Op &op, uint32_t mask) {
  uint32_t *d = warp.at<uint32_t>(op.d);
  forEachLane(mask, [&](unsigned lane) { d[lane] = mask; });
  return Status::Next;
}
void decodeActiveMask(Decoder &decoder) {
  decoder.take("b32");
  decoder.finishModifiers();
  decoder.expectOperands(1, 1);
  decoder.op.d = decoder.destination(decoder.operand(0), 4);
  decoder.emit(activeMaskHandler, InstructionClass::Shuffle);
}

void nothing(Warp &, const Op &, Exchange &) {}

} // namespace

void decodeWarpBarrier(Decoder &decoder) {
  if (!decoder.take("sync"))
    decoder.refuse("it is bar.warp.sync");
  decoder.finishModifiers();
  decoder.expectOperands(1, 1);
  decoder.op.e = decoder.valueOf(decoder.operand(0), ScalarType::U32);
  decoder.op.flags = SyncFlag;
  decoder.emit(exchangeHandler<nothing>, InstructionClass::Barrier);
}

const std::vector<DecoderEntry> warpDecoders = {{"shfl", decodeShuffle},          {"vote", decodeVote},
                                                {"match", decodeMatch},           {"redux", decodeReduce},
                                                {"activemask", decodeActiveMask}, {"elect", decodeElect}};

} // namespace nacre::simulator
