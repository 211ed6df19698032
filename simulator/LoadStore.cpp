// ld, ldu, st, prefetches.
#include "simulator/AtomicOps.h"
#include "simulator/Execute.h"
#include "simulator/Memory.h"
#include "simulator/MemoryModifiers.h"
#include "simulator/Undefined.h"

namespace nacre::simulator {

MemoryOrder takeOrder(Decoder &decoder, MemoryOrder fallback) {
  if (decoder.take("weak"))
    return MemoryOrder::Weak;
  if (decoder.take("volatile") || decoder.take("mmio"))
    return decoder.take("relaxed"), MemoryOrder::Volatile;
  if (decoder.take("relaxed"))
    return MemoryOrder::Relaxed;
  if (decoder.take("acquire"))
    return MemoryOrder::Acquire;
  if (decoder.take("release"))
    return MemoryOrder::Release;
  if (decoder.take("acq_rel"))
    return MemoryOrder::AcquireRelease;
  return fallback;
}
Scope takeScope(Decoder &decoder, Scope fallback) {
  if (decoder.take("cta"))
    return Scope::Cta;
  if (decoder.take("cluster"))
    return Scope::Cluster;
  if (decoder.take("gpu"))
    return Scope::Gpu;
  if (decoder.take("sys"))
    return Scope::System;
  return fallback;
}
bool takeCacheModifiers(Decoder &decoder) {
  decoder.takeOneOf({"ca", "cg", "cs", "lu", "cv", "wb", "wt"});
  decoder.take("unified");
  bool policy = decoder.take("L2::cache_hint");
  while (!decoder.takePrefixed("L1::").empty() || !decoder.takePrefixed("L2::").empty()) {
  }
  return policy;
}
unsigned takeVector(Decoder &decoder) {
  std::string_view vector = decoder.takeOneOf({"v2", "v4", "v8"});
  return vector.empty() ? 1 : static_cast<unsigned>(vector[1] - '0');
}

namespace {

Access accessOf(const Op &op, AccessKind kind) {
  Access access;
  access.space = op.space;
  access.bytes = access.alignment = op.bytes * op.count;
  access.kind = kind;
  access.order = op.order;
  return access;
}

void putElement(const Warp &warp, const Part &part, unsigned lane, const std::byte *from, unsigned bytes,
                bool isSignedType) {
  uint64_t value = 0;
  if (bytes == 16) {
    std::memcpy(warp.at<std::byte>(part.slot) + lane * 16, from, 16);
    return;
  }
  std::memcpy(&value, from, bytes);
  if (isSignedType && bytes < 8 && (value >> (bytes * 8 - 1) & 1))
    value |= ~uint64_t(0) << (bytes * 8);
  if (part.bytes == 4) {
    auto word = static_cast<uint32_t>(value);
    warp.at<uint32_t>(part.slot)[lane] = word;
  } else {
    warp.at<uint64_t>(part.slot)[lane] = value;
  }
}

Status loadHandler(Warp &warp, const Op &op, uint32_t mask) {
  uint64_t address[laneCount];
  std::byte *host[laneCount];
  addressesOf(warp, op.a, op.offset, op.lanes32, address);
  uint32_t good = resolve(warp, op, mask, address, host, accessOf(op, AccessKind::Read));
  const Part *parts = warp.program->parts.data() + op.first;
  if (op.bytes == 4) {
    for (uint32_t k = 0; k < op.count; ++k) {
      if (parts[k].sink)
        continue;
      if (parts[k].bytes == 4) {
        uint32_t *row = warp.at<uint32_t>(parts[k].slot);
        forEachLane(good, [&](unsigned lane) { std::memcpy(row + lane, host[lane] + k * 4, 4); });
        forEachLane(mask & ~good, [&](unsigned lane) { row[lane] = 0; });
      } else {
        forEachLane(good,
                    [&](unsigned lane) { putElement(warp, parts[k], lane, host[lane] + k * 4, 4, isSigned(op.type)); });
      }
    }
  } else {
    static constexpr std::byte zeros[16] = {};
    for (uint32_t k = 0; k < op.count; ++k)
      if (!parts[k].sink)
        forEachLane(mask, [&](unsigned lane) {
          bool ok = good >> lane & 1;
          putElement(warp, parts[k], lane, ok ? host[lane] + k * op.bytes : zeros, op.bytes, isSigned(op.type));
          if (op.flags) // into a 16-bit register
            warp.at<uint32_t>(parts[k].slot)[lane] &= 0xFFFF;
        });
  }
  if (undefinedLanes) {
    noteUndefinedLoad(warp, op, undefinedLanes, host);
    undefinedLanes = 0;
  }
  return op.order == MemoryOrder::Weak ? Status::Next : Status::Poll;
}

// A kernel's parameter: the same for all, and known to be inside.
template <typename E> Status loadParameter(Warp &warp, const Op &op, uint32_t mask) {
  const std::byte *from = warp.launch->parameters.data + op.offset;
  const Part *parts = warp.program->parts.data() + op.first;
  for (uint32_t k = 0; k < op.count; ++k) {
    if (mask == allLanes && !op.flags && !parts[k].sink && op.bytes == parts[k].bytes && op.bytes != 16) {
      uint64_t value = 0;
      std::memcpy(&value, from + k * op.bytes, op.bytes);
      if (op.bytes == 8)
        std::fill_n(warp.at<uint64_t>(parts[k].slot), laneCount, value);
      else
        std::fill_n(warp.at<uint32_t>(parts[k].slot), laneCount, static_cast<uint32_t>(value));
      continue;
    }
    forEachLane(mask, [&](unsigned lane) {
      if (!parts[k].sink)
        putElement(warp, parts[k], lane, from + k * op.bytes, op.bytes, isSigned(op.type));
      if (op.flags && !parts[k].sink)
        warp.at<uint32_t>(parts[k].slot)[lane] &= 0xFFFF;
    });
  }
  return Status::Next;
}
Status loadFrameParameter(Warp &warp, const Op &op, uint32_t mask) {
  const Part *parts = warp.program->parts.data() + op.first;
  Frame &frame = *warp.frame;
  for (uint32_t k = 0; k < op.count; ++k)
    forEachLane(mask, [&](unsigned lane) {
      const std::byte *from = frame.parameters.data() + size_t(lane) * frame.function->parameterBytes + op.offset;
      if (!parts[k].sink)
        putElement(warp, parts[k], lane, from + k * op.bytes, op.bytes, isSigned(op.type));
      if (op.flags && !parts[k].sink)
        warp.at<uint32_t>(parts[k].slot)[lane] &= 0xFFFF;
    });
  if (!warp.undefined.empty())
    takeUndefinedArgument(warp, op, mask);
  return Status::Next;
}
Status storeFrameParameter(Warp &warp, const Op &op, uint32_t mask) {
  const Part *parts = warp.program->parts.data() + op.first;
  Frame &frame = *warp.frame;
  for (uint32_t k = 0; k < op.count; ++k)
    forEachLane(mask, [&](unsigned lane) {
      std::byte *to = frame.parameters.data() + size_t(lane) * frame.function->parameterBytes + op.offset;
      std::memcpy(to + k * op.bytes, warp.at<std::byte>(parts[k].slot) + lane * parts[k].bytes, op.bytes);
    });
  if (!warp.undefined.empty())
    noteUndefinedArgument(warp, op, mask);
  return Status::Next;
}

Status storeHandler(Warp &warp, const Op &op, uint32_t mask) {
  uint64_t address[laneCount];
  std::byte *host[laneCount];
  addressesOf(warp, op.a, op.offset, op.lanes32, address);
  uint32_t good = resolve(warp, op, mask, address, host, accessOf(op, AccessKind::Write));
  const Part *parts = warp.program->parts.data() + op.first;
  uint32_t unordered = overwrites.mask, changed = 0;
  forEachLane(good, [&](unsigned lane) {
    for (uint32_t k = 0; k < op.count; ++k) {
      const std::byte *value = warp.at<std::byte>(parts[k].slot) + lane * parts[k].bytes;
      if (unordered >> lane & 1)
        changed |= uint32_t(std::memcmp(host[lane] + k * op.bytes, value, op.bytes) != 0) << lane;
      std::memcpy(host[lane] + k * op.bytes, value, op.bytes);
    }
  });
  if (unordered)
    reportOverwrites(warp, changed);
  if (!warp.undefined.empty())
    noteUndefinedStore(warp, op, good, host);
  if (op.space == Space::Global || op.space == Space::Generic)
    progressedForAll(warp);
  else
    progressed(warp);
  return Status::Next;
}

InstructionClass classOf(Space space) {
  return space == Space::Shared ? InstructionClass::SharedMemory : InstructionClass::Memory;
}

void noteGranule(Decoder &decoder, unsigned bytes) {
  const Op &op = decoder.op;
  if (op.space == Space::Shared || op.space == Space::Generic)
    decoder.program.sharedGranule = std::min<uint32_t>(decoder.program.sharedGranule, bytes);
  if (op.space == Space::Global || op.space == Space::Generic)
    decoder.program.globalGranule = std::min<uint32_t>(decoder.program.globalGranule, bytes);
}

// [variable+offset] of a call's parameters.
const Variable *frameParameter(Decoder &decoder, const Operand &operand) {
  if (operand.kind != OperandKind::Address || operand.elements.empty() ||
      operand.elements[0].kind != OperandKind::Variable)
    return nullptr;
  const Variable *variable = operand.elements[0].variable;
  return variable->space == Space::Parameter ? variable : nullptr;
}

void checkParts(Decoder &decoder, unsigned count, bool load) {
  Op &op = decoder.op;
  if (op.count != count)
    decoder.refuse("its vector has " + std::to_string(op.count) + " elements, not " + std::to_string(count));
  for (uint32_t i = 0; i < op.count; ++i) {
    const Part &part = decoder.program.parts[op.first + i];
    if (!part.sink && (part.bytes == 0 || (part.bytes < op.bytes)))
      decoder.refuse("a register is narrower than the type");
    if (part.sink && !load)
      decoder.refuse("`_` cannot be stored");
    if (part.bytes == 16 && op.bytes != 16)
      decoder.refuse("a register is wider than the type");
  }
}

// A signed byte in a 16-bit register is sign-extended to 16 bits.
bool intoShort(Decoder &decoder, const Operand &operand) {
  const Operand &first =
      operand.kind == OperandKind::Vector && !operand.elements.empty() ? operand.elements[0] : operand;
  ScalarType type = decoder.registerType(first);
  return type != ScalarType::None && bitsOf(type) == 16 && decoder.op.bytes < 2 && isSigned(decoder.op.type);
}

void decodeLoad(Decoder &decoder) {
  Op &op = decoder.op;
  op.order = takeOrder(decoder, MemoryOrder::Weak);
  op.scope = takeScope(decoder, Scope::Gpu);
  op.space = decoder.takeSpace(Space::Generic);
  bool policy = takeCacheModifiers(decoder);
  decoder.take("nc");
  takeCacheModifiers(decoder);
  unsigned count = takeVector(decoder);
  op.type = decoder.takeType();
  op.bytes = static_cast<uint8_t>(bytesOf(op.type));
  decoder.finishModifiers();
  decoder.expectOperands(2, policy ? 3 : 2);
  const Operand &from = decoder.operand(1);
  decoder.addParts(decoder.operand(0), true);
  checkParts(decoder, count, true);
  op.flags = intoShort(decoder, decoder.operand(0));
  if (policy && decoder.operandCount() > 2)
    decoder.valueOf(decoder.operand(2), ScalarType::B64);
  if (const Variable *variable = frameParameter(decoder, from)) {
    int64_t offset = from.elements[0].offset;
    if (offset < 0 || uint64_t(offset) + op.bytes * op.count > variable->bytes)
      decoder.refuse("it reads outside the parameter `" + variable->name + "`");
    op.offset = offset + static_cast<int64_t>(variable->address);
    return decoder.emit(isKernelParameter(decoder.source, *variable) ? (Handler)loadParameter<uint32_t>
                                                                     : (Handler)loadFrameParameter,
                        InstructionClass::Memory);
  }
  decoder.address(from, op.space);
  if (op.order != MemoryOrder::Weak && op.space != Space::Shared)
    decoder.program.hasGlobalAtomics = true;
  noteGranule(decoder, op.bytes);
  decoder.emit(loadHandler, classOf(op.space));
}

void decodeStore(Decoder &decoder) {
  Op &op = decoder.op;
  if (decoder.take("async"))
    return decodeStoreAsync(decoder);
  op.order = takeOrder(decoder, MemoryOrder::Weak);
  op.scope = takeScope(decoder, Scope::Gpu);
  op.space = decoder.takeSpace(Space::Generic);
  bool policy = takeCacheModifiers(decoder);
  unsigned count = takeVector(decoder);
  op.type = decoder.takeType();
  op.bytes = static_cast<uint8_t>(bytesOf(op.type));
  decoder.finishModifiers();
  decoder.expectOperands(2, policy ? 3 : 2);
  const Operand &to = decoder.operand(0);
  decoder.addParts(decoder.operand(1), false);
  checkParts(decoder, count, false);
  if (policy && decoder.operandCount() > 2)
    decoder.valueOf(decoder.operand(2), ScalarType::B64);
  if (const Variable *variable = frameParameter(decoder, to)) {
    int64_t offset = to.elements[0].offset;
    if (isKernelParameter(decoder.source, *variable))
      decoder.refuse("a kernel cannot write its parameters");
    if (offset < 0 || uint64_t(offset) + op.bytes * op.count > variable->bytes)
      decoder.refuse("it writes outside the parameter `" + variable->name + "`");
    op.offset = offset + static_cast<int64_t>(variable->address);
    return decoder.emit(storeFrameParameter, InstructionClass::Memory);
  }
  if (op.space == Space::Constant || op.space == Space::Parameter)
    decoder.refuse("this space cannot be written");
  decoder.address(to, op.space);
  noteGranule(decoder, op.bytes);
  decoder.emit(storeHandler, classOf(op.space));
}

// Hints that change no value.
Status nothingHandler(Warp &, const Op &, uint32_t) { return Status::Next; }
void decodeHint(Decoder &decoder) {
  while (!decoder.nextWord().empty()) {
  }
  decoder.emit(nothingHandler, InstructionClass::Memory);
}

} // namespace

const std::vector<DecoderEntry> memoryDecoders = {
    {"ld", decodeLoad},        {"ldu", decodeLoad},     {"st", decodeStore},          {"prefetch", decodeHint},
    {"prefetchu", decodeHint}, {"discard", decodeHint}, {"applypriority", decodeHint}};

} // namespace nacre::simulator
