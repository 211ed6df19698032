// Exchange within a warp: shfl, vote, match, redux, activemask, elect, bar.warp.sync.
#include "simulator/Execute.h"

namespace nacre::simulator {
namespace {

// What .sync operations share: the lanes named by the member mask must all come. Returns false if they are not there
// yet.
bool meet(Warp &warp, const Op &op, uint32_t mask, Slot memberSlot, uint32_t (&members)[laneCount]) {
  const uint32_t *row = warp.at<uint32_t>(memberSlot);
  uint32_t needed = 0;
  forEachLane(mask, [&](unsigned lane) { needed |= row[lane]; });
  if (!gather(warp, mask, needed))
    return false;
  forEachLane(mask, [&](unsigned lane) {
    members[lane] = row[lane] & warp.live;
    if (!(row[lane] >> lane & 1))
      warp.launch->report(warp, lane, FindingKind::SynchronisationMisuse,
                          "lane " + std::to_string(lane) + " executes it but is not in its member mask");
  });
  ++warp.warpSyncs;
  return true;
}
void allMembers(Warp &warp, uint32_t mask, uint32_t (&members)[laneCount]) {
  for (uint32_t &member : members)
    member = mask;
}

enum class Shuffle : uint8_t { Up, Down, Butterfly, Index };
enum WarpFlag : uint32_t { SyncFlag = 16, SecondFlag = 32, NegatedFlag = 64 };

Status shuffleHandler(Warp &warp, const Op &op, uint32_t mask) {
  uint32_t members[laneCount];
  if (op.flags & SyncFlag) {
    if (!meet(warp, op, mask, op.e, members))
      return Status::Blocked;
  } else {
    allMembers(warp, mask, members);
  }
  const uint32_t *a = warp.at<uint32_t>(op.a), *b = warp.at<uint32_t>(op.b), *c = warp.at<uint32_t>(op.c);
  uint32_t result[laneCount], predicate = 0;
  auto mode = static_cast<Shuffle>(op.flags & 3);
  forEachLane(mask, [&](unsigned lane) {
    int bval = static_cast<int>(b[lane] & 31), cval = static_cast<int>(c[lane] & 31),
        segment = static_cast<int>(c[lane] >> 8 & 31);
    int own = static_cast<int>(lane);
    int most = (own & segment) | (cval & ~segment), least = own & segment, j = own;
    bool inside = false;
    switch (mode) {
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
    if (!(mask >> j & 1) && inside)
      warp.launch->report(warp, lane, FindingKind::SynchronisationMisuse,
                          "shfl reads lane " + std::to_string(j) +
                              ", which does not take part: its value is undefined");
    result[lane] = a[j];
    predicate |= uint32_t(inside) << lane;
  });
  uint32_t *d = warp.at<uint32_t>(op.d);
  forEachLane(mask, [&](unsigned lane) { d[lane] = result[lane]; });
  if (op.flags & SecondFlag) {
    uint32_t &p = warp.predicate(warp.program->parts[op.first].slot);
    p = (p & ~mask) | (predicate & mask);
  }
  return Status::Next;
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
  op.flags = (mode == "up" ? 0 : mode == "down" ? 1 : mode == "bfly" ? 2 : 3) | (sync ? uint32_t(SyncFlag) : 0);
  op.d = decoder.destination(decoder.operand(0), 4);
  if (decoder.operand(0).second) {
    decoder.addParts(*decoder.operand(0).second, true);
    op.flags |= SecondFlag;
  }
  op.a = decoder.valueOf(decoder.operand(1), ScalarType::B32);
  op.b = decoder.valueOf(decoder.operand(2), ScalarType::U32);
  op.c = decoder.valueOf(decoder.operand(3), ScalarType::U32);
  if (sync)
    op.e = decoder.valueOf(decoder.operand(4), ScalarType::U32);
  decoder.emit(shuffleHandler, InstructionClass::Shuffle);
}

enum class Vote : uint8_t { All, Any, Uniform, Ballot };
Status voteHandler(Warp &warp, const Op &op, uint32_t mask) {
  uint32_t members[laneCount];
  if (op.flags & SyncFlag) {
    if (!meet(warp, op, mask, op.b, members))
      return Status::Blocked;
  } else {
    allMembers(warp, mask, members);
  }
  uint32_t votes = warp.predicate(op.a);
  if (op.flags & NegatedFlag)
    votes = ~votes;
  auto mode = static_cast<Vote>(op.flags & 3);
  if (mode == Vote::Ballot) {
    uint32_t *d = warp.at<uint32_t>(op.d);
    forEachLane(mask, [&](unsigned lane) { d[lane] = votes & members[lane] & mask; });
    return Status::Next;
  }
  uint32_t result = 0;
  forEachLane(mask, [&](unsigned lane) {
    uint32_t group = members[lane] & mask, yes = votes & group;
    bool answer = mode == Vote::All ? yes == group : mode == Vote::Any ? yes != 0 : yes == 0 || yes == group;
    result |= uint32_t(answer) << lane;
  });
  uint32_t &d = warp.predicate(op.d);
  d = (d & ~mask) | (result & mask);
  return Status::Next;
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
  op.flags = (mode == "all" ? 0 : mode == "any" ? 1 : mode == "uni" ? 2 : 3) | (sync ? uint32_t(SyncFlag) : 0);
  op.d = decoder.destination(decoder.operand(0), mode == "ballot" ? 4 : 0);
  op.a = decoder.predicate(decoder.operand(1));
  op.flags |= decoder.operand(1).negated ? uint32_t(NegatedFlag) : 0;
  if (sync)
    op.b = decoder.valueOf(decoder.operand(2), ScalarType::U32);
  decoder.emit(voteHandler, InstructionClass::Shuffle);
}

Status matchHandler(Warp &warp, const Op &op, uint32_t mask) {
  uint32_t members[laneCount];
  if (!meet(warp, op, mask, op.b, members))
    return Status::Blocked;
  bool wide = op.bytes == 8, all = op.flags & 1;
  auto value = [&](unsigned lane) { return wide ? warp.at<uint64_t>(op.a)[lane] : warp.at<uint32_t>(op.a)[lane]; };
  uint32_t result[laneCount], predicate = 0;
  forEachLane(mask, [&](unsigned lane) {
    uint32_t same = 0, group = members[lane] & mask;
    forEachLane(group, [&](unsigned other) { same |= uint32_t(value(other) == value(lane)) << other; });
    result[lane] = all ? (same == group ? group : 0) : same;
    predicate |= uint32_t(same == group) << lane;
  });
  uint32_t *d = warp.at<uint32_t>(op.d);
  forEachLane(mask, [&](unsigned lane) { d[lane] = result[lane]; });
  if (op.flags & SecondFlag) {
    uint32_t &p = warp.predicate(warp.program->parts[op.first].slot);
    p = (p & ~mask) | (predicate & mask);
  }
  return Status::Next;
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
  op.d = decoder.destination(decoder.operand(0), 4);
  if (decoder.operand(0).second) {
    decoder.addParts(*decoder.operand(0).second, true);
    op.flags |= SecondFlag;
  }
  op.a = decoder.valueOf(decoder.operand(1), type);
  op.b = decoder.valueOf(decoder.operand(2), ScalarType::U32);
  decoder.emit(matchHandler, InstructionClass::Shuffle);
}

enum class Reduce : uint8_t { Add, MinimumSigned, MaximumSigned, MinimumUnsigned, MaximumUnsigned, And, Or, Xor };
Status reduceHandler(Warp &warp, const Op &op, uint32_t mask) {
  uint32_t members[laneCount];
  if (!meet(warp, op, mask, op.b, members))
    return Status::Blocked;
  const uint32_t *a = warp.at<uint32_t>(op.a);
  uint32_t result[laneCount];
  uint32_t lastGroup = 0, lastValue = 0;
  forEachLane(mask, [&](unsigned lane) {
    uint32_t group = members[lane] & mask;
    if (group != lastGroup) {
      bool first = true;
      uint32_t value = 0;
      forEachLane(group, [&](unsigned other) {
        uint32_t x = a[other];
        if (first) {
          value = x, first = false;
          return;
        }
        switch (static_cast<Reduce>(op.flags)) {
        case Reduce::Add:
          value += x;
          break;
        case Reduce::MinimumSigned:
          value = uint32_t(std::min(int32_t(value), int32_t(x)));
          break;
        case Reduce::MaximumSigned:
          value = uint32_t(std::max(int32_t(value), int32_t(x)));
          break;
        case Reduce::MinimumUnsigned:
          value = std::min(value, x);
          break;
        case Reduce::MaximumUnsigned:
          value = std::max(value, x);
          break;
        case Reduce::And:
          value &= x;
          break;
        case Reduce::Or:
          value |= x;
          break;
        case Reduce::Xor:
          value ^= x;
          break;
        }
      });
      lastGroup = group, lastValue = value;
    }
    result[lane] = lastValue;
  });
  uint32_t *d = warp.at<uint32_t>(op.d);
  forEachLane(mask, [&](unsigned lane) { d[lane] = result[lane]; });
  return Status::Next;
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
  Reduce reduce = operation == "add"   ? Reduce::Add
                  : operation == "min" ? (isSignedType ? Reduce::MinimumSigned : Reduce::MinimumUnsigned)
                  : operation == "max" ? (isSignedType ? Reduce::MaximumSigned : Reduce::MaximumUnsigned)
                  : operation == "and" ? Reduce::And
                  : operation == "or"  ? Reduce::Or
                                       : Reduce::Xor;
  op.flags = uint32_t(reduce);
  op.d = decoder.destination(decoder.operand(0), 4);
  op.a = decoder.valueOf(decoder.operand(1), type);
  op.b = decoder.valueOf(decoder.operand(2), ScalarType::U32);
  decoder.emit(reduceHandler, InstructionClass::Shuffle);
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

Status electHandler(Warp &warp, const Op &op, uint32_t mask) {
  uint32_t members[laneCount];
  if (!meet(warp, op, mask, op.a, members))
    return Status::Blocked;
  uint32_t result = 0;
  uint32_t *d = warp.at<uint32_t>(op.d);
  forEachLane(mask, [&](unsigned lane) {
    auto leader = static_cast<unsigned>(std::countr_zero(members[lane] & mask));
    result |= uint32_t(leader == lane) << lane;
    d[lane] = leader;
  });
  if (op.flags & SecondFlag) {
    uint32_t &p = warp.predicate(warp.program->parts[op.first].slot);
    p = (p & ~mask) | (result & mask);
  }
  return Status::Next;
}
void decodeElect(Decoder &decoder) {
  Op &op = decoder.op;
  if (!decoder.take("sync"))
    decoder.refuse("it needs .sync");
  decoder.finishModifiers();
  decoder.expectOperands(2, 2);
  op.d = decoder.destination(decoder.operand(0), 4);
  if (decoder.operand(0).second) {
    decoder.addParts(*decoder.operand(0).second, true);
    op.flags |= SecondFlag;
  }
  op.a = decoder.valueOf(decoder.operand(1), ScalarType::U32);
  decoder.emit(electHandler, InstructionClass::Shuffle);
}

} // namespace

Status warpBarrierHandler(Warp &warp, const Op &op, uint32_t mask) {
  uint32_t members[laneCount];
  return meet(warp, op, mask, op.a, members) ? Status::Next : Status::Blocked;
}

const std::vector<DecoderEntry> warpDecoders = {{"shfl", decodeShuffle},          {"vote", decodeVote},
                                                {"match", decodeMatch},           {"redux", decodeReduce},
                                                {"activemask", decodeActiveMask}, {"elect", decodeElect}};

} // namespace nacre::simulator
