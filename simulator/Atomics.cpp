// atom and red: every operation, type and width, in global and shared memory.
#include "simulator/AtomicOps.h"
#include "simulator/Execute.h"
#include "simulator/Memory.h"
#include "simulator/MemoryModifiers.h"
#include <algorithm>

namespace nacre::simulator {

template <typename T> static T integerResult(AtomicOperation operation, T old, T value, T compare) {
  using U = std::make_unsigned_t<T>;
  switch (operation) {
  case AtomicOperation::Add:
    return static_cast<T>(U(old) + U(value));
  case AtomicOperation::Minimum:
    return std::min(old, value);
  case AtomicOperation::Maximum:
    return std::max(old, value);
  case AtomicOperation::Increment:
    return U(old) >= U(value) ? T(0) : static_cast<T>(U(old) + 1);
  case AtomicOperation::Decrement:
    return old == 0 || U(old) > U(value) ? value : static_cast<T>(U(old) - 1);
  case AtomicOperation::And:
    return static_cast<T>(U(old) & U(value));
  case AtomicOperation::Or:
    return static_cast<T>(U(old) | U(value));
  case AtomicOperation::Xor:
    return static_cast<T>(U(old) ^ U(value));
  case AtomicOperation::Exchange:
    return value;
  case AtomicOperation::CompareAndSwap:
    return old == compare ? value : old;
  }
  return old;
}

static uint16_t halfResult(AtomicOperation operation, uint16_t old, uint16_t value, bool brain) {
  const FloatFormat &format = brain ? bfloatFormat : halfFormat;
  auto wide = [&](uint16_t bits) { return brain ? double(bfloatToFloat(bits)) : double(halfToFloat(bits)); };
  double a = wide(old), b = wide(value);
  if (operation == AtomicOperation::Add)
    return static_cast<uint16_t>(encode(format, a + b, Rounding::Nearest));
  if (a != a)
    return b != b ? 0x7FFF : value;
  if (b != b)
    return old;
  bool first = operation == AtomicOperation::Maximum ? (a > b || (a == b && !(old & 0x8000)))
                                                     : (a < b || (a == b && (old & 0x8000)));
  return first ? old : value;
}

uint64_t atomicResult(AtomicOperation operation, ScalarType type, uint64_t old, uint64_t value, uint64_t compare,
                      bool flush) {
  switch (type) {
  case ScalarType::U32:
  case ScalarType::B32:
    return integerResult<uint32_t>(operation, uint32_t(old), uint32_t(value), uint32_t(compare));
  case ScalarType::S32:
    return uint32_t(integerResult<int32_t>(operation, int32_t(old), int32_t(value), int32_t(compare)));
  case ScalarType::U64:
  case ScalarType::B64:
    return integerResult<uint64_t>(operation, old, value, compare);
  case ScalarType::S64:
    return uint64_t(integerResult<int64_t>(operation, int64_t(old), int64_t(value), int64_t(compare)));
  case ScalarType::B16:
    return integerResult<uint16_t>(operation, uint16_t(old), uint16_t(value), uint16_t(compare));
  case ScalarType::F32: {
    auto a = std::bit_cast<float>(uint32_t(old)), b = std::bit_cast<float>(uint32_t(value));
    if (flush)
      a = flushed(a), b = flushed(b);
    float sum = canonical(a + b);
    return std::bit_cast<uint32_t>(flush ? flushed(sum) : sum);
  }
  case ScalarType::F64: {
    double a = std::bit_cast<double>(old), b = std::bit_cast<double>(value);
    return b != b && a == a && flush
               ? value
               : std::bit_cast<uint64_t>(a + b); // the memory's own adder passes a NaN on as it is
  }
  case ScalarType::F16:
  case ScalarType::BF16:
    return halfResult(operation, uint16_t(old), uint16_t(value), type == ScalarType::BF16);
  case ScalarType::F16x2:
  case ScalarType::BF16x2: {
    bool brain = type == ScalarType::BF16x2;
    return uint32_t(halfResult(operation, uint16_t(old), uint16_t(value), brain)) |
           uint32_t(halfResult(operation, uint16_t(old >> 16), uint16_t(value >> 16), brain)) << 16;
  }
  default:
    return value;
  }
}

std::optional<AtomicOperation> takeAtomicOperation(Decoder &decoder) {
  static constexpr std::pair<std::string_view, AtomicOperation> names[] = {
      {"add", AtomicOperation::Add},       {"min", AtomicOperation::Minimum},
      {"max", AtomicOperation::Maximum},   {"inc", AtomicOperation::Increment},
      {"dec", AtomicOperation::Decrement}, {"and", AtomicOperation::And},
      {"or", AtomicOperation::Or},         {"xor", AtomicOperation::Xor},
      {"exch", AtomicOperation::Exchange}, {"cas", AtomicOperation::CompareAndSwap}};
  for (auto &[name, operation] : names)
    if (decoder.take(name))
      return operation;
  return std::nullopt;
}

std::mutex &atomicMutex(Warp &warp, uint64_t address) { return warp.launch->atomicMutexes[address >> 4 & 63]; }

namespace {

// op.flags: operation; op.extra: elements of the vector; parts: destinations (absent for red), then values, then
// compares
Status atomicHandler(Warp &warp, const Op &op, uint32_t mask) {
  uint64_t address[laneCount];
  std::byte *host[laneCount];
  addressesOf(warp, op.a, op.offset, op.lanes32, address);
  Access access;
  access.space = op.space;
  access.bytes = access.alignment = op.bytes * op.extra;
  access.kind = AccessKind::Atomic;
  access.order = op.order;
  // An exchange writes whatever was there; `and` and `or` set bits, as cooperative_groups clears its barriers.
  auto kind = static_cast<AtomicOperation>(op.flags & 15);
  access.updates = kind != AtomicOperation::Exchange && kind != AtomicOperation::And && kind != AtomicOperation::Or;
  uint32_t good = resolve(warp, op, mask, address, host, access);
  const Part *parts = warp.program->parts.data() + op.first;
  auto operation = static_cast<AtomicOperation>(op.flags & 15);
  bool returns = op.flags & 16, compares = operation == AtomicOperation::CompareAndSwap;
  const Part *values = parts + (returns ? op.extra : 0), *comparisons = values;
  if (compares)
    values += op.extra; // cas d, [a], compare, value
  bool changed = false;
  forEachLane(good, [&](unsigned lane) {
    bool shared =
        op.space == Space::Shared || (op.space == Space::Generic && (address[lane] >> 56) == (sharedWindow >> 56));
    bool flush = !shared; // as the memory's own adder does
    std::unique_lock<std::mutex> lock;
    if (!shared)
      lock = std::unique_lock(atomicMutex(warp, address[lane]));
    for (uint32_t k = 0; k < op.extra; ++k) {
      std::byte *at = host[lane] + k * op.bytes;
      if (op.bytes == 16) {
        std::byte old[16];
        std::memcpy(old, at, 16);
        const std::byte *value = warp.at<std::byte>(values[k].slot) + lane * 16;
        if (!compares || std::memcmp(old, warp.at<std::byte>(comparisons[k].slot) + lane * 16, 16) == 0) {
          std::memcpy(at, value, 16);
          changed = true;
        }
        if (returns && !parts[k].sink)
          std::memcpy(warp.at<std::byte>(parts[k].slot) + lane * 16, old, 16);
        continue;
      }
      uint64_t old = 0, value = 0, compare = 0;
      std::memcpy(&old, at, op.bytes);
      std::memcpy(&value, warp.at<std::byte>(values[k].slot) + lane * values[k].bytes, op.bytes);
      if (compares)
        std::memcpy(&compare, warp.at<std::byte>(comparisons[k].slot) + lane * comparisons[k].bytes, op.bytes);
      uint64_t result = atomicResult(operation, op.type, old, value, compare, flush);
      std::memcpy(at, &result, op.bytes);
      changed |= result != old;
      if (returns && !parts[k].sink) {
        std::memset(warp.at<std::byte>(parts[k].slot) + lane * parts[k].bytes, 0, parts[k].bytes);
        std::memcpy(warp.at<std::byte>(parts[k].slot) + lane * parts[k].bytes, &old, op.bytes);
      }
    }
  });
  if (changed && op.space == Space::Shared)
    progressed(warp);
  else if (changed)
    progressedForAll(warp);
  return changed || !returns ? Status::Next : Status::Poll;
}

bool allowed(AtomicOperation operation, ScalarType type) {
  bool isBits = type == ScalarType::B32 || type == ScalarType::B64, wide = type == ScalarType::B128;
  switch (operation) {
  case AtomicOperation::CompareAndSwap:
    return isBits || wide || type == ScalarType::B16 || type == ScalarType::U32 || type == ScalarType::U64 ||
           type == ScalarType::S32;
  case AtomicOperation::Exchange:
    return isBits || wide || type == ScalarType::U32 || type == ScalarType::U64 || type == ScalarType::S32;
  case AtomicOperation::And:
  case AtomicOperation::Or:
  case AtomicOperation::Xor:
    return isBits || type == ScalarType::U32 || type == ScalarType::U64;
  case AtomicOperation::Increment:
  case AtomicOperation::Decrement:
    return type == ScalarType::U32;
  case AtomicOperation::Add:
    return type == ScalarType::U32 || type == ScalarType::S32 || type == ScalarType::U64 || type == ScalarType::S64 ||
           type == ScalarType::F32 || type == ScalarType::F64 || type == ScalarType::F16 || type == ScalarType::F16x2 ||
           type == ScalarType::BF16 || type == ScalarType::BF16x2;
  default:
    return isInteger(type) || type == ScalarType::F16 || type == ScalarType::F16x2 || type == ScalarType::BF16 ||
           type == ScalarType::BF16x2;
  }
}

void decodeAtomicForm(Decoder &decoder, bool returns) {
  Op &op = decoder.op;
  if (!returns && decoder.take("async"))
    return decodeReduceAsync(decoder);
  op.order = takeOrder(decoder, MemoryOrder::Relaxed);
  op.scope = takeScope(decoder, Scope::Gpu);
  op.space = decoder.takeSpace(Space::Generic);
  auto operation = takeAtomicOperation(decoder);
  if (!operation)
    decoder.refuse("its operation is missing");
  decoder.take("noftz");
  bool policy = takeCacheModifiers(decoder);
  op.extra = takeVector(decoder);
  op.type = decoder.takeType();
  decoder.finishModifiers();
  if (!allowed(*operation, op.type))
    decoder.refuse(std::string("the operation has no form for .") + nameOf(op.type));
  op.bytes = static_cast<uint8_t>(bytesOf(op.type));
  op.flags = uint32_t(*operation) | (returns ? 16u : 0u);
  bool compares = *operation == AtomicOperation::CompareAndSwap;
  size_t next = 0;
  if (returns)
    decoder.addParts(decoder.operand(next++), true);
  decoder.address(decoder.operand(next++), op.space);
  decoder.addParts(decoder.operand(next++), false);
  if (compares)
    decoder.addParts(decoder.operand(next++), false);
  if (policy && next < decoder.operandCount())
    decoder.valueOf(decoder.operand(next++), ScalarType::B64);
  if (next != decoder.operandCount() || op.count != op.extra * ((returns ? 1 : 0) + 1 + (compares ? 1 : 0)))
    decoder.refuse("it has a wrong number of operands");
  for (uint32_t i = 0; i < op.count; ++i) {
    const Part &part = decoder.program.parts[op.first + i];
    if (!part.sink && part.bytes < op.bytes)
      decoder.refuse("a register is narrower than the type");
  }
  if (op.space != Space::Shared)
    decoder.program.hasGlobalAtomics = true;
  if (op.space != Space::Global)
    decoder.program.sharedGranule = std::min<uint32_t>(decoder.program.sharedGranule, op.bytes);
  if (op.space != Space::Shared)
    decoder.program.globalGranule = std::min<uint32_t>(decoder.program.globalGranule, op.bytes);
  decoder.emit(atomicHandler, InstructionClass::Atomic);
}
void decodeAtomic(Decoder &decoder) { decodeAtomicForm(decoder, true); }
void decodeReduction(Decoder &decoder) { decodeAtomicForm(decoder, false); }

} // namespace

const std::vector<DecoderEntry> atomicDecoders = {{"atom", decodeAtomic}, {"red", decodeReduction}};

} // namespace nacre::simulator
