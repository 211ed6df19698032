// Loads, stores and atomics. What a predicate guards stands in a branch. The order and the scope of atomics are LLVM's
// own, which makes the waits and the cache control of each GPU of them; what the hardware has no instruction for becomes
// a loop of compare-and-swap there.
#include "compiler/targets/amd/Instructions.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::amd;

// What `make` gives where the predicate is true, else `otherwise`.
static llvm::SmallVector<Value> where(simt::Builder &b, Value predicate, ArrayRef<Value> otherwise,
                                      llvm::function_ref<SmallVector<Value>()> make) {
  if (!predicate)
    return make();
  auto branch = scf::IfOp::create(b, ValueRange(otherwise).getTypes(), predicate, /*withElse=*/!otherwise.empty());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Value> made = make();
  if (otherwise.empty())
    return {};
  scf::YieldOp::create(b, made);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, otherwise);
  return llvm::to_vector_of<Value>(branch.getResults());
}

static unsigned alignmentOf(Type word, size_t count) {
  return static_cast<unsigned>(count * word.getIntOrFloatBitWidth() / 8);
}

// Data that will not be used again need not stay in the caches.
static bool isStreamed(const simt::AccessHints &hints) {
  return hints.cache == tile::CacheModifier::CS || hints.eviction == tile::EvictionPolicy::First;
}
// Fresh from memory, which others may write meanwhile.
static bool isVolatile(const simt::AccessHints &hints) {
  return hints.isVolatile || hints.cache == tile::CacheModifier::CV;
}

static Value index(simt::Builder &b, size_t i) {
  return LLVM::ConstantOp::create(b, b.getI32Type(), b.getI32IntegerAttr(static_cast<int32_t>(i)));
}

llvm::SmallVector<Value> Instructions::load(simt::Builder &b, Type word, Value address, Value predicate,
                                            ArrayRef<Value> otherwise, const simt::AccessHints &hints) const {
  size_t count = std::max<size_t>(otherwise.size(), 1);
  return where(b, predicate, otherwise, [&]() -> SmallVector<Value> {
    Type type = count == 1 ? word : VectorType::get(static_cast<int64_t>(count), word);
    Value loaded =
        LLVM::LoadOp::create(b, type, address, alignmentOf(word, count), isVolatile(hints), isStreamed(hints));
    if (count == 1)
      return {loaded};
    SmallVector<Value> words;
    for (size_t i = 0; i < count; ++i)
      words.push_back(LLVM::ExtractElementOp::create(b, loaded, index(b, i)));
    return words;
  });
}

void Instructions::store(simt::Builder &b, ArrayRef<Value> words, Value address, Value predicate,
                         const simt::AccessHints &hints) const {
  where(b, predicate, {}, [&]() -> SmallVector<Value> {
    Value value = words.front();
    if (words.size() > 1) {
      value = LLVM::PoisonOp::create(b, VectorType::get(static_cast<int64_t>(words.size()), value.getType()));
      for (auto [i, word] : llvm::enumerate(words))
        value = LLVM::InsertElementOp::create(b, value, word, index(b, i));
    }
    LLVM::StoreOp::create(b, value, address, alignmentOf(words.front().getType(), words.size()), isVolatile(hints),
                          isStreamed(hints));
    return {};
  });
}

// ---- Atomics

static LLVM::AtomicOrdering orderingOf(tile::MemoryOrder order) {
  switch (order) {
  case tile::MemoryOrder::Relaxed:
    return LLVM::AtomicOrdering::monotonic;
  case tile::MemoryOrder::Acquire:
    return LLVM::AtomicOrdering::acquire;
  case tile::MemoryOrder::Release:
    return LLVM::AtomicOrdering::release;
  case tile::MemoryOrder::AcquireRelease:
    return LLVM::AtomicOrdering::acq_rel;
  }
  llvm_unreachable("an order of the language");
}

// What a compare-and-swap that finds another value may be.
static LLVM::AtomicOrdering orderingOfFailure(tile::MemoryOrder order) {
  bool acquires = order == tile::MemoryOrder::Acquire || order == tile::MemoryOrder::AcquireRelease;
  return acquires ? LLVM::AtomicOrdering::acquire : LLVM::AtomicOrdering::monotonic;
}

static StringRef scopeOf(tile::MemoryScope scope) {
  switch (scope) {
  case tile::MemoryScope::CTA:
    return "workgroup";
  case tile::MemoryScope::GPU:
    return "agent";
  case tile::MemoryScope::System:
    return "";
  }
  llvm_unreachable("a scope of the language");
}

static LLVM::AtomicBinOp operationOf(tile::AtomicKind kind) {
  using tile::AtomicKind;
  switch (kind) {
  case AtomicKind::And:
    return LLVM::AtomicBinOp::_and;
  case AtomicKind::Or:
    return LLVM::AtomicBinOp::_or;
  case AtomicKind::Xor:
    return LLVM::AtomicBinOp::_xor;
  case AtomicKind::AddI:
    return LLVM::AtomicBinOp::add;
  case AtomicKind::AddF:
    return LLVM::AtomicBinOp::fadd;
  case AtomicKind::MaxS:
    return LLVM::AtomicBinOp::max;
  case AtomicKind::MaxU:
    return LLVM::AtomicBinOp::umax;
  case AtomicKind::MaxF:
    return LLVM::AtomicBinOp::fmax;
  case AtomicKind::MinS:
    return LLVM::AtomicBinOp::min;
  case AtomicKind::MinU:
    return LLVM::AtomicBinOp::umin;
  case AtomicKind::MinF:
    return LLVM::AtomicBinOp::fmin;
  case AtomicKind::Exchange:
    return LLVM::AtomicBinOp::xchg;
  }
  llvm_unreachable("a kind of the language");
}

// A float's order is that of its bits as a signed integer, where it is not negative, and the opposite of that of its bits
// as an unsigned one, where it is: one of two instructions runs. They differ from the language's in NaN alone, whose bits
// are the largest.
static Value extremeByBits(const Instructions &machine, simt::Builder &b, Value address, Value value, Value predicate,
                           const simt::AtomicAccess &access) {
  using tile::AtomicKind;
  Type type = value.getType(), word = b.getIntegerType(type.getIntOrFloatBitWidth());
  Value bits = type == word ? value : LLVM::BitcastOp::create(b, word, value).getResult();
  Value zero = LLVM::ZeroOp::create(b, word);
  Value isPositive = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::sge, bits, zero);
  Value isNegative = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::slt, bits, zero);
  auto old = [&](Value acts, AtomicKind kind) {
    simt::AtomicAccess part = access;
    part.kind = kind;
    if (predicate)
      acts = LLVM::AndOp::create(b, acts, predicate);
    return machine.atomic(b, word, address, bits, acts, part);
  };
  bool isMaximum = access.kind == AtomicKind::MaxF;
  Value ofPositive = old(isPositive, isMaximum ? AtomicKind::MaxS : AtomicKind::MinS);
  Value ofNegative = old(isNegative, isMaximum ? AtomicKind::MinU : AtomicKind::MaxU);
  if (!access.wantsResult)
    return nullptr;
  Value found = LLVM::SelectOp::create(b, isPositive, ofPositive, ofNegative);
  return type == word ? found : LLVM::BitcastOp::create(b, type, found).getResult();
}

Value Instructions::atomic(simt::Builder &b, Type element, Value address, Value value, Value predicate,
                           const simt::AtomicAccess &access) const {
  using tile::AtomicKind;
  bool isExtreme = access.kind == AtomicKind::MaxF || access.kind == AtomicKind::MinF;
  if (isExtreme && value.getType().getIntOrFloatBitWidth() >= 32)
    return extremeByBits(*this, b, address, value, predicate, access);
  bool isFloat = access.kind == AtomicKind::AddF || access.kind == AtomicKind::MaxF || access.kind == AtomicKind::MinF;
  Type type = value.getType(), computed = type;
  if (isFloat && !isa<FloatType>(type))
    computed = element;
  else if (!isFloat && isa<FloatType>(type))
    computed = b.getIntegerType(type.getIntOrFloatBitWidth());
  SmallVector<Value> otherwise;
  if (predicate && access.wantsResult)
    otherwise.push_back(LLVM::PoisonOp::create(b, type));
  SmallVector<Value> old = where(b, predicate, otherwise, [&]() -> SmallVector<Value> {
    Value operand = computed == type ? value : LLVM::BitcastOp::create(b, computed, value).getResult();
    Value found = LLVM::AtomicRMWOp::create(b, operationOf(access.kind), address, operand, orderingOf(access.order),
                                            scopeOf(access.scope));
    return {computed == type ? found : LLVM::BitcastOp::create(b, type, found).getResult()};
  });
  return access.wantsResult ? old.front() : nullptr;
}

Value Instructions::compareAndSwap(simt::Builder &b, Value address, Value expected, Value desired, Value predicate,
                                   const simt::AtomicAccess &access) const {
  Type type = expected.getType();
  SmallVector<Value> otherwise;
  if (predicate)
    otherwise.push_back(LLVM::PoisonOp::create(b, type));
  return where(b, predicate, otherwise,
               [&]() -> SmallVector<Value> {
                 Type word = b.getIntegerType(type.getIntOrFloatBitWidth());
                 auto asWord = [&](Value value) -> Value {
                   return type == word ? value : LLVM::BitcastOp::create(b, word, value).getResult();
                 };
                 Value both = LLVM::AtomicCmpXchgOp::create(b, address, asWord(expected), asWord(desired),
                                                            orderingOf(access.order), orderingOfFailure(access.order),
                                                            scopeOf(access.scope));
                 Value found = LLVM::ExtractValueOp::create(b, both, 0);
                 return {type == word ? found : LLVM::BitcastOp::create(b, type, found).getResult()};
               })
      .front();
}
