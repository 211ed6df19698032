// mov with packing and addresses; conversions between address spaces; clocks.
#include "simulator/Execute.h"
#include "simulator/Memory.h"
#include <chrono>

namespace nacre::simulator {

// The clock counts what the warp has executed; the timer is the host's.
Status refreshClocks(Warp &warp, const Op &, uint32_t) {
  uint64_t clock = warp.executed * 4 + warp.block->cluster->executed;
  auto timer = static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count());
  auto *specials = warp.bases[SpecialBase];
  for (unsigned i = 0; i < laneCount; ++i) {
    reinterpret_cast<uint32_t *>(specials + ClockLow * specialRowBytes)[i] = static_cast<uint32_t>(clock);
    reinterpret_cast<uint32_t *>(specials + ClockHigh * specialRowBytes)[i] = static_cast<uint32_t>(clock >> 32);
    reinterpret_cast<uint64_t *>(specials + Clock64 * specialRowBytes)[i] = clock;
    reinterpret_cast<uint64_t *>(specials + GlobalTimer * specialRowBytes)[i] = timer;
    reinterpret_cast<uint32_t *>(specials + GlobalTimerLow * specialRowBytes)[i] = static_cast<uint32_t>(timer);
    reinterpret_cast<uint32_t *>(specials + GlobalTimerHigh * specialRowBytes)[i] = static_cast<uint32_t>(timer >> 32);
  }
  ++warp.block->cluster->changes; // a loop may wait for the time
  return Status::Next;
}

namespace {

template <typename E> Status moveHandler(Warp &warp, const Op &op, uint32_t mask) {
  const E *a = warp.at<E>(op.a);
  if (mask == allLanes)
    std::memcpy(warp.at<E>(op.d), a, sizeof(E) * laneCount);
  else
    keepActive(mask, warp.at<E>(op.d), [&](unsigned i) { return a[i]; });
  return Status::Next;
}
struct Wide128 {
  uint64_t low, high;
};
template <typename E> Status moveOffsetHandler(Warp &warp, const Op &op, uint32_t mask) {
  const E *a = warp.at<E>(op.a);
  keepActive(mask, warp.at<E>(op.d), [&](unsigned i) { return static_cast<E>(a[i] + static_cast<E>(op.offset)); });
  return Status::Next;
}
Status movePredicate(Warp &warp, const Op &op, uint32_t mask) {
  uint32_t value = op.flags ? ~warp.predicate(op.a) : warp.predicate(op.a);
  uint32_t &d = warp.predicate(op.d);
  d = (d & ~mask) | (value & mask);
  return Status::Next;
}

// {a, b, ...} to one register: the first element is lowest. op.bytes: of an element.
Status packHandler(Warp &warp, const Op &op, uint32_t mask) {
  const Part *parts = warp.program->parts.data() + op.first;
  unsigned whole = op.bytes * op.count, row = whole <= 4 ? 4 : whole;
  forEachLane(mask, [&](unsigned i) {
    std::byte bytes[16] = {};
    for (uint32_t k = 0; k < op.count; ++k)
      std::memcpy(bytes + k * op.bytes, warp.at<std::byte>(parts[k].slot) + i * parts[k].bytes, op.bytes);
    std::memcpy(warp.at<std::byte>(op.d) + i * row, bytes, row);
  });
  return Status::Next;
}
Status unpackHandler(Warp &warp, const Op &op, uint32_t mask) {
  const Part *parts = warp.program->parts.data() + op.first;
  unsigned whole = op.bytes * op.count, row = whole <= 4 ? 4 : whole;
  forEachLane(mask, [&](unsigned i) {
    std::byte bytes[16];
    std::memcpy(bytes, warp.at<std::byte>(op.a) + i * row, row);
    for (uint32_t k = 0; k < op.count; ++k)
      if (!parts[k].sink) {
        std::memset(warp.at<std::byte>(parts[k].slot) + i * parts[k].bytes, 0, parts[k].bytes);
        std::memcpy(warp.at<std::byte>(parts[k].slot) + i * parts[k].bytes, bytes + k * op.bytes, op.bytes);
      }
  });
  return Status::Next;
}

void decodeMove(Decoder &decoder) {
  Op &op = decoder.op;
  ScalarType type = decoder.takeType();
  decoder.finishModifiers();
  decoder.expectOperands(2, 2);
  const Operand &destination = decoder.operand(0), &source = decoder.operand(1);
  unsigned row = rowBytesOf(type);
  op.type = type;
  if (type == ScalarType::Predicate) {
    op.d = decoder.destination(destination, 0);
    op.a = decoder.predicate(source);
    op.flags = source.negated;
    return decoder.emit(movePredicate, InstructionClass::Move);
  }
  if (source.kind == OperandKind::Vector || destination.kind == OperandKind::Vector) {
    const Operand &vector = source.kind == OperandKind::Vector ? source : destination;
    if (vector.elements.empty() || bitsOf(type) % (8 * vector.elements.size()))
      decoder.refuse("its vector does not fit its type");
    op.bytes = static_cast<uint8_t>(bytesOf(type) / vector.elements.size());
    bool packs = source.kind == OperandKind::Vector;
    if (packs && destination.kind == OperandKind::Vector)
      decoder.refuse("one side must be a single register");
    op.type = op.bytes == 8 ? ScalarType::B64 : ScalarType::B32;
    decoder.addParts(vector, !packs);
    for (uint32_t i = 0; i < op.count; ++i)
      if (!decoder.program.parts[op.first + i].sink && decoder.program.parts[op.first + i].bytes < op.bytes)
        decoder.refuse("an element of its vector is too narrow");
    if (packs)
      op.d = decoder.destination(destination, row);
    else
      op.a = decoder.valueOf(source, type);
    return decoder.emit(packs ? packHandler : unpackHandler, InstructionClass::Move);
  }
  op.d = decoder.destination(destination, row);
  if (source.kind == OperandKind::Function) {
    op.a = decoder.constant(functionWindow + decoder.program.functionIndex(source.function), 8);
    if (row != 8)
      decoder.refuse("a function's address has 64 bits");
    return decoder.emit(moveHandler<uint64_t>, InstructionClass::Move);
  }
  if (source.kind == OperandKind::Variable) {
    const Variable &variable = *source.variable;
    op.offset = source.offset;
    if (row != 4 && row != 8)
      decoder.refuse("an address has 32 or 64 bits");
    Handler add = row == 8 ? (Handler)moveOffsetHandler<uint64_t> : (Handler)moveOffsetHandler<uint32_t>;
    if (variable.space == Space::Local) {
      op.a = Slot::make(FrameBase, row == 8 ? frameLocal64 : frameLocal32);
      op.offset = sumOf(op.offset, variable.address);
      return decoder.emit(add, InstructionClass::Move);
    }
    if (variable.space == Space::Shared && variable.isExtern) {
      op.a = Slot::make(SpecialBase, (row == 8 ? DynamicShared64 : DynamicShared32) * specialRowBytes);
      return decoder.emit(add, InstructionClass::Move);
    }
    if (variable.space == Space::Parameter) {
      if (!isKernelParameter(decoder.source, variable) || row != 8)
        decoder.refuse("the address of a call's parameter cannot be taken");
      op.a = Slot::make(SpecialBase, ParameterBase * specialRowBytes);
      op.offset = sumOf(op.offset, variable.address);
      return decoder.emit(add, InstructionClass::Move);
    }
    op.offset = 0;
  }
  op.a = decoder.valueOf(source, type);
  Handler handler = row == 4   ? (Handler)moveHandler<uint32_t>
                    : row == 8 ? (Handler)moveHandler<uint64_t>
                               : (Handler)moveHandler<Wide128>;
  decoder.emit(handler, InstructionClass::Move);
}

void decodeConvertAddress(Decoder &decoder) {
  Op &op = decoder.op;
  bool to = decoder.take("to");
  Space space = decoder.takeSpace(Space::Generic);
  ScalarType type = decoder.takeType();
  decoder.finishModifiers();
  decoder.expectOperands(2, 2);
  if (space == Space::Generic)
    decoder.refuse("its space is missing");
  if (type != ScalarType::U64)
    decoder.refuse("addresses have 64 bits here");
  const Operand &source = decoder.operand(1);
  op.d = decoder.destination(decoder.operand(0), 8);
  uint64_t window = space == Space::Shared ? sharedWindow : space == Space::Local ? localWindow : 0;
  op.offset = static_cast<int64_t>(to ? 0 - window : window);
  if (source.kind == OperandKind::Variable) {
    const Variable &variable = *source.variable;
    op.offset = sumOf(op.offset, static_cast<uint64_t>(source.offset));
    if (variable.space == Space::Local) {
      op.a = Slot::make(FrameBase, frameLocal64);
      op.offset = sumOf(op.offset, variable.address);
      return decoder.emit(moveOffsetHandler<uint64_t>, InstructionClass::Move);
    }
    if (variable.space == Space::Shared && variable.isExtern) {
      op.a = Slot::make(SpecialBase, DynamicShared64 * specialRowBytes);
      return decoder.emit(moveOffsetHandler<uint64_t>, InstructionClass::Move);
    }
    if (variable.space == Space::Parameter) {
      if (!isKernelParameter(decoder.source, variable))
        decoder.refuse("the address of a call's parameter cannot be taken");
      op.a = Slot::make(SpecialBase, ParameterBase * specialRowBytes);
      op.offset = sumOf(op.offset, variable.address);
      return decoder.emit(moveOffsetHandler<uint64_t>, InstructionClass::Move);
    }
    op.offset = sumOf(op.offset, 0 - static_cast<uint64_t>(source.offset)); // part of the constant
  }
  op.a = decoder.valueOf(source, type);
  decoder.emit(moveOffsetHandler<uint64_t>, InstructionClass::Move);
}

Status isSpaceHandler(Warp &warp, const Op &op, uint32_t mask) {
  const uint64_t *a = warp.at<uint64_t>(op.a);
  uint32_t result = 0;
  for (unsigned i = 0; i < laneCount; ++i) {
    uint64_t window = a[i] >> 56;
    Space space = window == (sharedWindow >> 56)  ? Space::Shared
                  : window == (localWindow >> 56) ? Space::Local
                                                  : Space::Global;
    bool yes = space == op.space;
    if (yes && space == Space::Shared && op.flags) // shared::cta: one's own block
      yes = ((a[i] - sharedWindow) >> clusterShift) == 0 ||
            ((a[i] - sharedWindow) >> clusterShift) == warp.block->rank + 1;
    if (op.space == Space::Parameter) {
      auto base = reinterpret_cast<uint64_t>(warp.launch->parameters.data);
      yes = a[i] >= base && a[i] < base + warp.launch->parameters.size;
    }
    result |= uint32_t(yes) << i;
  }
  uint32_t &d = warp.predicate(op.d);
  d = (d & ~mask) | (result & mask);
  return Status::Next;
}
void decodeIsSpace(Decoder &decoder) {
  Op &op = decoder.op;
  op.flags = !decoder.has("shared::cluster");
  op.space = decoder.takeSpace(Space::Generic);
  decoder.finishModifiers();
  decoder.expectOperands(2, 2);
  if (op.space == Space::Generic)
    decoder.refuse("its space is missing");
  op.d = decoder.destination(decoder.operand(0), 0);
  op.a = decoder.valueOf(decoder.operand(1), ScalarType::B64);
  decoder.emit(isSpaceHandler, InstructionClass::Other);
}

// mapa: the address of one's variable in another block of the cluster. Generic addresses keep their window.
template <typename E> Status mapHandler(Warp &warp, const Op &op, uint32_t mask) {
  const E *a = warp.at<E>(op.a);
  const uint32_t *rank = warp.at<uint32_t>(op.b);
  keepActive(mask, warp.at<E>(op.d), [&](unsigned i) {
    uint64_t address = static_cast<uint64_t>(a[i]) + static_cast<uint64_t>(op.offset),
             window = address & (uint64_t(0xFF) << 56);
    uint64_t offset = address & ((1u << clusterShift) - 1);
    return static_cast<E>(window | uint64_t(rank[i] + 1) << clusterShift | offset);
  });
  return Status::Next;
}
void decodeMap(Decoder &decoder) {
  Op &op = decoder.op;
  bool shared = decoder.take("shared::cluster");
  ScalarType type = decoder.takeType();
  decoder.finishModifiers();
  decoder.expectOperands(3, 3);
  unsigned row = rowBytesOf(type);
  if (!shared && row != 8)
    decoder.refuse("a generic address has 64 bits");
  op.d = decoder.destination(decoder.operand(0), row);
  const Operand &source = decoder.operand(1);
  if (source.kind == OperandKind::Variable && source.variable->space == Space::Shared && source.variable->isExtern) {
    op.a = Slot::make(SpecialBase, (row == 8 ? DynamicShared64 : DynamicShared32) * specialRowBytes);
    op.offset = source.offset;
  } else {
    op.a = decoder.valueOf(source, type);
  }
  op.b = decoder.valueOf(decoder.operand(2), ScalarType::U32);
  decoder.emit(row == 8 ? (Handler)mapHandler<uint64_t> : (Handler)mapHandler<uint32_t>, InstructionClass::Move);
}
template <typename E> Status rankHandler(Warp &warp, const Op &op, uint32_t mask) {
  const E *a = warp.at<E>(op.a);
  keepActive(mask, warp.at<uint32_t>(op.d), [&](unsigned i) {
    uint32_t rank = static_cast<uint32_t>((uint64_t(a[i]) & 0xFFFFFFFF) >> clusterShift);
    return rank == 0 ? warp.block->rank : rank - 1;
  });
  return Status::Next;
}
void decodeRank(Decoder &decoder) {
  Op &op = decoder.op;
  decoder.take("shared::cluster");
  ScalarType type = decoder.takeType();
  decoder.finishModifiers();
  decoder.expectOperands(2, 2);
  op.d = decoder.destination(decoder.operand(0), 4);
  op.a = decoder.valueOf(decoder.operand(1), type);
  decoder.emit(rowBytesOf(type) == 8 ? (Handler)rankHandler<uint64_t> : (Handler)rankHandler<uint32_t>,
               InstructionClass::Move);
}

// A cache policy means nothing here.
void decodePolicy(Decoder &decoder) {
  while (!decoder.nextWord().empty()) {
  }
  Op &op = decoder.op;
  op.d = decoder.destination(decoder.operand(0), 8);
  op.a = decoder.constant(0, 8);
  decoder.emit(moveHandler<uint64_t>, InstructionClass::Other);
}

} // namespace

const std::vector<DecoderEntry> moveDecoders = {{"mov", decodeMove},         {"cvta", decodeConvertAddress},
                                                {"isspacep", decodeIsSpace}, {"mapa", decodeMap},
                                                {"getctarank", decodeRank},  {"createpolicy", decodePolicy}};

} // namespace nacre::simulator
