// Atomic operations on host memory. Programs may run on several threads; every operation is sequentially consistent,
// which is at least what any memory order asks for.
#include "compiler/reference/ChunkFunctions.h"
#include "compiler/reference/EagerBuilder.h"
#include "compiler/reference/FloatFormats.h"
#include "llvm/Support/ErrorHandling.h"

using namespace nacre;

namespace {
// Replaces *place by function(*place) and returns what was there. `T` is an unsigned integer of the element's size.
template <typename T, typename Function> T exchangeWith(T *place, Function function) {
  T old = __atomic_load_n(place, __ATOMIC_SEQ_CST);
  while (!__atomic_compare_exchange_n(place, &old, function(old), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
  }
  return old;
}

template <typename T> T rmwInteger(AtomicOp op, T *place, T value) {
  using S = std::make_signed_t<T>;
  switch (op) {
  case AtomicOp::And:
    return __atomic_fetch_and(place, value, __ATOMIC_SEQ_CST);
  case AtomicOp::Or:
    return __atomic_fetch_or(place, value, __ATOMIC_SEQ_CST);
  case AtomicOp::Xor:
    return __atomic_fetch_xor(place, value, __ATOMIC_SEQ_CST);
  case AtomicOp::AddI:
    return __atomic_fetch_add(place, value, __ATOMIC_SEQ_CST);
  case AtomicOp::Exchange:
    return __atomic_exchange_n(place, value, __ATOMIC_SEQ_CST);
  case AtomicOp::MaxS:
    return exchangeWith(place, [&](T old) { return S(old) > S(value) ? old : value; });
  case AtomicOp::MinS:
    return exchangeWith(place, [&](T old) { return S(old) < S(value) ? old : value; });
  case AtomicOp::MaxU:
    return exchangeWith(place, [&](T old) { return old > value ? old : value; });
  case AtomicOp::MinU:
    return exchangeWith(place, [&](T old) { return old < value ? old : value; });
  default:
    llvm_unreachable("a float atomic on integers");
  }
}

// One element in, one out, by the function that the elementwise operation uses.
template <typename T> T combineFloat(AtomicOp op, ScalarKind kind, T old, T value) {
  BinaryOp binary = op == AtomicOp::AddF   ? BinaryOp::AddF
                    : op == AtomicOp::MaxF ? BinaryOp::MaxNumF
                                           : BinaryOp::MinNumF;
  ChunkFunction function = floatBinaryFunction(binary, kind);
  T result;
  if (isNarrowFloat(kind)) {
    float a, b, sum;
    decodeFloats(kind, &old, &a, 1);
    decodeFloats(kind, &value, &b, 1);
    const void *inputs[] = {&a, &b};
    function(inputs, &sum, 1);
    encodeFloats(kind, &sum, &result, 1);
  } else {
    const void *inputs[] = {&old, &value};
    function(inputs, &result, 1);
  }
  return result;
}

template <typename T> T rmw(AtomicOp op, ScalarKind kind, T *place, T value) {
  if (op == AtomicOp::AddF || op == AtomicOp::MaxF || op == AtomicOp::MinF)
    return exchangeWith(place, [&](T old) { return combineFloat(op, kind, old, value); });
  return rmwInteger(op, place, value);
}

template <typename Use> void withWord(int size, Use use) {
  switch (size) {
  case 1:
    return use(uint8_t());
  case 2:
    return use(uint16_t());
  case 4:
    return use(uint32_t());
  case 8:
    return use(uint64_t());
  default:
    llvm_unreachable("element sizes are 1, 2, 4 and 8");
  }
}
} // namespace

void EagerBuilder::noticeWaiting(const Value &pointer, const Value &answer) {
  if (!program.waiting)
    return;
  uint64_t address = 0, bits = 0;
  std::memcpy(&address, bufferOf(pointer).data, sizeof(address));
  std::memcpy(&bits, bufferOf(answer).data, bufferOf(answer).elementSize());
  if (address != watchedAddress || bits != watchedBits)
    sameAnswers = 0;
  watchedAddress = address;
  watchedBits = bits;
  constexpr uint32_t patience = 100;
  if (++sameAnswers > patience)
    program.waiting();
}

Value EagerBuilder::atomic(AtomicOp op, Value pointer, Value value, Value mask, MemoryOrder order, MemoryScope scope) {
  checkAccess("atomic", pointer, mask, Access::Write);
  BufferRef result = makeBuffer(value.type());
  ScalarKind kind = storedKind(value.type());
  llvm::SmallVector<const Buffer *, 3> operands = {&bufferOf(pointer), &bufferOf(value)};
  if (mask)
    operands.push_back(&bufferOf(mask));
  withWord(result->elementSize(), [&](auto element) {
    using T = decltype(element);
    T *out = result->as<T>();
    forEachChunk(operands, false, ChunkReader::chunk, [&](llvm::ArrayRef<const void *> inputs, int64_t count) {
      auto *addresses = static_cast<const uint64_t *>(inputs[0]);
      auto *values = static_cast<const T *>(inputs[1]);
      auto *enabled = mask ? static_cast<const uint8_t *>(inputs[2]) : nullptr;
      for (int64_t i = 0; i < count; ++i)
        *out++ = !enabled || enabled[i] ? rmw<T>(op, kind, reinterpret_cast<T *>(addresses[i]), values[i]) : T(0);
    });
  });
  Value old = valueOf(result);
  noticeWaiting(pointer, old);
  return old;
}

Value EagerBuilder::atomicCas(Value pointer, Value expected, Value desired, MemoryOrder order, MemoryScope scope) {
  checkAccess("atomic_cas", pointer, Value(), Access::Write);
  BufferRef result = makeBuffer(expected.type());
  withWord(result->elementSize(), [&](auto element) {
    using T = decltype(element);
    T *out = result->as<T>();
    forEachChunk({&bufferOf(pointer), &bufferOf(expected), &bufferOf(desired)}, false, ChunkReader::chunk,
                 [&](llvm::ArrayRef<const void *> inputs, int64_t count) {
                   auto *addresses = static_cast<const uint64_t *>(inputs[0]);
                   auto *before = static_cast<const T *>(inputs[1]);
                   auto *after = static_cast<const T *>(inputs[2]);
                   for (int64_t i = 0; i < count; ++i) {
                     T old = before[i]; // holds what was found, whether or not it was replaced
                     __atomic_compare_exchange_n(reinterpret_cast<T *>(addresses[i]), &old, after[i], false,
                                                 __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
                     *out++ = old;
                   }
                 });
  });
  Value old = valueOf(result);
  noticeWaiting(pointer, old);
  return old;
}
