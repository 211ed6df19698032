// Loads and stores of global memory: neighbours in registers (attribute simt.vector) are one access.
#include "compiler/passes/gpu/Exchange.h"
#include "compiler/support/PlantedBugs.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

// ---- Elements and words. Memory is accessed by integers: as many of 64 bits as elements of that size, of 32 bits
// otherwise; a single shorter one where all elements together are shorter.

Type Lowering::wordType(Type element, int64_t count) {
  int64_t size = byteSize(element);
  return b.getIntegerType(8 * (size == 8 ? 8 : std::min<int64_t>(4, size * count)));
}

SmallVector<Value> Lowering::packWords(ArrayRef<Value> elements, Type element) {
  Type word = wordType(element, elements.size()), memory = memoryType(element);
  int64_t perWord = word.getIntOrFloatBitWidth() / (8 * byteSize(element));
  SmallVector<Value> words;
  for (size_t first = 0; first < elements.size(); first += perWord) {
    if (perWord == 1) {
      words.push_back(bitcast(toMemory(elements[first], element), word));
      continue;
    }
    auto vector = VectorType::get({perWord}, memory);
    Value packed = LLVM::PoisonOp::create(b, vector);
    for (int64_t i = 0; i < perWord; ++i)
      packed = LLVM::InsertElementOp::create(b, vector, packed, toMemory(elements[first + i], element), i32(i));
    words.push_back(LLVM::BitcastOp::create(b, word, packed));
  }
  return words;
}

SmallVector<Value> Lowering::unpackWords(ArrayRef<Value> words, Type element, int64_t count) {
  Type memory = memoryType(element);
  int64_t perWord = count / static_cast<int64_t>(words.size());
  SmallVector<Value> elements;
  for (Value word : words) {
    if (perWord == 1) {
      elements.push_back(fromMemory(bitcast(word, memory), element));
      continue;
    }
    Value packed = LLVM::BitcastOp::create(b, VectorType::get({perWord}, memory), word);
    for (int64_t i = 0; i < perWord; ++i)
      elements.push_back(fromMemory(LLVM::ExtractElementOp::create(b, packed, i32(i)), element));
  }
  return elements;
}

SmallVector<SmallVector<uint32_t>> nacre::simt::groupRegisters(Operation *op, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return {{0}};
  const LinearLayout &layout = layoutOf(type);
  SmallVector<unsigned> bits;
  if (auto vector = op->getAttrOfType<DenseI32ArrayAttr>(vectorAttribute)) {
    bits = layout.contiguousRegisters(vector[0]);
    bits.truncate(llvm::Log2_32(vector[1]));
  }
  uint32_t within = 0;
  for (unsigned bit : bits)
    within |= uint32_t(1) << bit;
  SmallVector<SmallVector<uint32_t>> groups;
  for (uint32_t first = 0; first < layout.count(Place::Register); ++first) {
    if (first & within)
      continue;
    SmallVector<uint32_t> &group = groups.emplace_back();
    for (uint32_t i = 0; i < uint32_t(1) << bits.size(); ++i) {
      uint32_t reg = first;
      for (auto [position, bit] : llvm::enumerate(bits))
        reg |= (i >> position & 1) << bit;
      group.push_back(reg);
    }
  }
  return groups;
}

LogicalResult Lowering::lowerLoad(tile::LoadOp op) {
  Type type = op.getType(), element = getElementTypeOrSelf(type);
  AccessHints hints{op.getCache(), op.getEviction(), op.getIsVolatile()};
  ArrayRef<Value> pointers = registers(op.getPointer());
  SmallVector<Value> results(registerCount(type));
  for (const SmallVector<uint32_t> &group : groupRegisters(op, type)) {
    int64_t count = group.size();
    Value predicate = isa<RankedTensorType>(type) ? isInside(type, group.front()) : Value();
    if (op.getMask())
      predicate = both(predicate, registers(op.getMask())[group.front()]);
    Type word = wordType(element, count);
    size_t words = count * byteSize(element) * 8 / word.getIntOrFloatBitWidth();
    SmallVector<Value> otherwise;
    if (op.getOther() && !planted(PlantedBug::LoadOtherGpu)) {
      SmallVector<Value> others;
      for (uint32_t reg : group)
        others.push_back(registers(op.getOther())[reg]);
      otherwise = packWords(others, element);
    } else {
      otherwise.assign(words, constant(word, 0));
    }
    SmallVector<Value> loaded = machine.load(b, word, pointers[group.front()], predicate, otherwise, hints);
    for (auto [reg, value] : llvm::zip(group, unpackWords(loaded, element, count)))
      results[reg] = value;
  }
  // Somebody may write it meanwhile: threads that go by what they read have to have read the same.
  if (op.getIsVolatile() && !op.getResult().use_empty())
    shareResult(op, results);
  define(op, results);
  return success();
}

LogicalResult Lowering::lowerStore(tile::StoreOp op) {
  Type type = op.getValue().getType(), element = getElementTypeOrSelf(type);
  AccessHints hints{op.getCache(), op.getEviction(), false};
  ArrayRef<Value> pointers = registers(op.getPointer());
  Value holder = actor(type);
  for (const SmallVector<uint32_t> &group : groupRegisters(op, type)) {
    Value predicate = holder;
    if (Value isOfTile = isa<RankedTensorType>(type) ? isInside(type, group.front()) : Value();
        isOfTile && !planted(PlantedBug::StorePad))
      predicate = both(predicate, isOfTile);
    if (op.getMask())
      predicate = both(predicate, registers(op.getMask())[group.front()]);
    SmallVector<Value> elements;
    for (uint32_t reg : group)
      elements.push_back(registers(op.getValue())[reg]);
    machine.store(b, packWords(elements, element), pointers[group.front()], predicate, hints);
  }
  return success();
}
