#include "compiler/passes/gpu/Exchange.h"
#include "compiler/support/PlantedBugs.h"
#include <bit>

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

SmallVector<Value> nacre::simt::sendWords(Lowering &lowering, ArrayRef<Value> values, Type element,
                                          llvm::function_ref<Value(Value)> send) {
  simt::Builder &b = lowering.b;
  int64_t size = Lowering::byteSize(element);
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  SmallVector<Value> results;
  if (size == 8) {
    for (Value value : values) {
      Value bits = lowering.bitcast(value, i64);
      Value low = send(LLVM::TruncOp::create(b, i32, bits));
      Value high = send(LLVM::TruncOp::create(b, i32, LLVM::LShrOp::create(b, bits, lowering.constant(i64, 32))));
      Value joined =
          LLVM::OrOp::create(b, LLVM::ZExtOp::create(b, i64, low),
                             LLVM::ShlOp::create(b, LLVM::ZExtOp::create(b, i64, high), lowering.constant(i64, 32)));
      results.push_back(lowering.bitcast(joined, value.getType()));
    }
    return results;
  }
  size_t perWord = 4 / size;
  Type memory = lowering.memoryType(element), bits = b.getIntegerType(8 * size);
  for (size_t first = 0; first < values.size(); first += perWord) {
    ArrayRef<Value> group = values.slice(first).take_front(perWord);
    if (group.size() == perWord) {
      Value word = send(lowering.packWords(group, element).front());
      llvm::append_range(results, lowering.unpackWords(word, element, perWord));
      continue;
    }
    // Fewer than fill a word: side by side in its low bits.
    Value word;
    for (auto [i, value] : llvm::enumerate(group)) {
      Value wide = LLVM::ZExtOp::create(b, i32, lowering.bitcast(lowering.toMemory(value, element), bits));
      if (i)
        wide = LLVM::ShlOp::create(b, wide, lowering.i32(8 * size * i));
      word = word ? Value(LLVM::OrOp::create(b, word, wide)) : wide;
    }
    word = send(word);
    for (size_t i = 0; i < group.size(); ++i) {
      Value part = i ? Value(LLVM::LShrOp::create(b, word, lowering.i32(8 * size * i))) : word;
      results.push_back(lowering.fromMemory(lowering.bitcast(LLVM::TruncOp::create(b, bits, part), memory), element));
    }
  }
  return results;
}

// The thread's number under the mask: in the cluster where the mask has bits of the block's number.
static Value threadBits(Lowering &lowering, uint32_t mask) {
  Value number = mask < lowering.block.threads() ? lowering.threadId() : lowering.threadNumber();
  return LLVM::AndOp::create(lowering.b, number, lowering.i32(mask));
}

static uint32_t threadMask(Lowering &lowering, uint32_t lanes, uint32_t warps) {
  return lanes | warps << llvm::Log2_64(lowering.block.lanes);
}

Value nacre::simt::oddParity(Lowering &lowering, uint32_t lanes, uint32_t warps) {
  simt::Builder &b = lowering.b;
  uint32_t mask = threadMask(lowering, lanes, warps);
  Value bits = threadBits(lowering, mask);
  if (std::has_single_bit(mask) || planted(PlantedBug::ParityOfSeveral))
    return LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, bits, lowering.i32(0));
  return LLVM::TruncOp::create(b, b.getI1Type(), LLVM::CtPopOp::create(b, b.getI32Type(), bits));
}

Value nacre::simt::bitsAreZero(Lowering &lowering, uint32_t lanes, uint32_t warps) {
  simt::Builder &b = lowering.b;
  uint32_t mask = threadMask(lowering, lanes, warps);
  if (!mask)
    return {};
  Value bits = threadBits(lowering, mask);
  return LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, bits, lowering.i32(0));
}

// ---- Shared memory

SharedAddresses::SharedAddresses(Lowering &lowering, Value base, const LinearLayout &thread, int64_t elementSize)
    : lowering(lowering), base(base), thread(thread.withoutRegisters()), elementSize(elementSize) {
  for (Place place : {Place::Lane, Place::Warp, Place::Block})
    for (uint32_t basis : thread.basesOf(place))
      moving |= basis;
}

Value SharedAddresses::at(uint32_t offset) {
  simt::Builder &b = lowering.b;
  Value &pointer = pointers[offset & moving];
  if (!pointer) {
    Value share = moving ? lowering.coordinate(thread, 0, 0) : Value();
    if (share && (offset & moving))
      share = LLVM::XOrOp::create(b, share, lowering.i32(offset & moving));
    if (share && elementSize != 1)
      share = LLVM::MulOp::create(b, share, lowering.i32(elementSize));
    pointer = share ? lowering.byteOffset(base, share) : base;
  }
  uint32_t fixed = offset & ~moving;
  return fixed ? lowering.byteOffset(pointer, lowering.i32(fixed * elementSize)) : pointer;
}

void nacre::simt::writeShared(Lowering &lowering, ArrayRef<Value> values, Type element, Value address,
                              Value predicate) {
  lowering.machine.store(lowering.b, lowering.packWords(values, element), address, predicate, {});
}

SmallVector<Value> nacre::simt::readShared(Lowering &lowering, Type element, unsigned count, Value address,
                                           Value predicate) {
  Type word = lowering.wordType(element, count);
  size_t words = count * Lowering::byteSize(element) * 8 / word.getIntOrFloatBitWidth();
  SmallVector<Value> otherwise(words, lowering.constant(word, 0));
  return lowering.unpackWords(lowering.machine.load(lowering.b, word, address, predicate, otherwise, {}), element,
                              count);
}

SmallVector<int64_t> nacre::simt::arrayStarts(ArrayRef<Type> elements, int64_t count) {
  SmallVector<int64_t> starts{0};
  for (Type element : elements)
    starts.push_back(llvm::alignTo(starts.back() + count * Lowering::byteSize(element), 16));
  return starts;
}

// ---- Combining

SmallVector<Value> Combiner::combine(ArrayRef<Value> left, ArrayRef<Value> right) {
  SmallVector<Value> arguments(left);
  llvm::append_range(arguments, right);
  SmallVector<Value> results = lowering.inlineRegion(region, arguments);
  hasFailed |= results.size() != left.size();
  return hasFailed ? SmallVector<Value>(left) : results;
}

Combiner::Partial Combiner::select(Value condition, const Partial &yes, const Partial &no) {
  simt::Builder &b = lowering.b;
  Partial result;
  for (auto [left, right] : llvm::zip_equal(yes.values, no.values))
    result.values.push_back(left == right ? left : Value(LLVM::SelectOp::create(b, condition, left, right)));
  if (yes.exists || no.exists) {
    auto exists = [&](const Partial &partial) {
      return partial.exists ? partial.exists : lowering.constant(b.getI1Type(), 1);
    };
    result.exists = LLVM::SelectOp::create(b, condition, exists(yes), exists(no));
  }
  return result;
}

Combiner::Partial Combiner::combine(const Partial &left, const Partial &right) {
  simt::Builder &b = lowering.b;
  Partial result{combine(left.values, right.values), {}};
  if (right.exists && !(left.exists && planted(PlantedBug::MissingOnRight)))
    result = select(right.exists, result, Partial{left.values, {}});
  if (left.exists)
    result = select(left.exists, result, Partial{right.values, {}});
  result.exists = left.exists && right.exists ? Value(LLVM::OrOp::create(b, left.exists, right.exists)) : Value();
  return result;
}

Combiner::Partial Combiner::combineAll(SmallVector<Partial> partials) {
  while (partials.size() > 1) {
    SmallVector<Partial> next;
    for (size_t i = 0; i + 1 < partials.size(); i += 2)
      next.push_back(combine(partials[i], partials[i + 1]));
    if (partials.size() % 2)
      next.push_back(partials.back());
    partials = std::move(next);
  }
  return partials.front();
}

SmallVector<Type> Combiner::elementTypes(Operation *op) {
  SmallVector<Type> result;
  for (Type type : op->getOperandTypes())
    result.push_back(getElementTypeOrSelf(type));
  return result;
}

bool Combiner::isCommutative() const {
  Block &body = region.front();
  return llvm::hasSingleElement(body.without_terminator()) && body.front().hasTrait<OpTrait::IsCommutative>();
}
