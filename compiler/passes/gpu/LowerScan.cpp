// Scans: running combinations along an axis.
//
// The bits of the axis are done from the lowest on. What is known after some of them: of each run of registers that are
// neighbours along the axis (a chunk) its elements' scan within the chunk, the chunk's prefix, which combines all that
// comes before the chunk within the block of the bits done so far, and that block's total. The next bit joins two
// blocks: the upper one's prefixes get the lower one's total in front, and the totals are combined. If the bit is one
// of registers, both blocks are in the thread; if it is a lane's, lanes at that distance exchange totals; runs of warp
// bits exchange all totals through shared memory at once. At the end prefixes are put before their chunks' elements.
//
// In a reverse scan the block with the bit set comes first. Elements beyond the end of an axis that is no power of two
// then come before all others, and are missing; in a forward scan they come last, and disturb nobody.
//
// A layout in which a bit of the axis is not one bit of a register's, lane's or warp's number is converted before and
// after.
#include "compiler/ir/layout/Scan.h"
#include "compiler/passes/gpu/Clusters.h"
#include "compiler/passes/gpu/Exchange.h"
#include "compiler/support/PlantedBugs.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

using Partial = Combiner::Partial;

namespace {

class Scan {
public:
  Scan(Lowering &lowering, tile::ScanOp op, const ScanPlan &plan)
      : lowering(lowering), b(lowering.b), op(op), plan(plan), combiner(lowering, op.getCombine()),
        elements(exchangedTypes(op, plan)), extent(tile::shapeOf(op.getOperands().front().getType())[plan.axis]),
        isPartial(elements.size() > op.getNumOperands()) {}

  // Operands by register; gives results by register.
  SmallVector<SmallVector<Value>> run(ArrayRef<SmallVector<Value>> operands);
  LogicalResult status() const { return combiner.status(); }

  // How many values of these types scratch memory has room for.
  static uint64_t mostTotals(ArrayRef<Type> elements) {
    int64_t bytes = 0;
    for (Type element : elements)
      bytes += Lowering::byteSize(element);
    return mostScratchBytes / bytes;
  }
  // What warps tell each other: totals, and whether they exist.
  static SmallVector<Type> exchangedTypes(tile::ScanOp op, const ScanPlan &plan) {
    SmallVector<Type> elements = Combiner::elementTypes(op);
    if (op.getReverse() &&
        tile::shapeOf(op.getOperands().front().getType())[plan.axis] != plan.layout.extent(plan.axis))
      elements.push_back(IntegerType::get(op.getContext(), 1));
    return elements;
  }

private:
  struct Chunk {
    SmallVector<uint32_t> registers; // in the order of the scan
    SmallVector<Partial> scanned;
    std::optional<Partial> prefix;
    Partial total;
  };

  SmallVector<Value> components(const Partial &partial);
  Partial fromComponents(SmallVector<Value> components);
  Partial combineInOrder(Value isSecond, const Partial &own, const Partial &other);
  void putBefore(std::optional<Partial> &prefix, const Partial &before, Value isSecond);

  void scanChunk(Chunk &chunk, ArrayRef<SmallVector<Value>> operands);
  void joinRegisters(unsigned chunkBit, std::vector<Chunk> &chunks);
  void joinLanes(unsigned laneBit, std::vector<Chunk> &chunks);
  void joinWarps(unsigned first, unsigned count, std::vector<Chunk> &chunks);
  void joinWarps(unsigned first, unsigned count, const ScanPlan::WarpExchange &exchange, MutableArrayRef<Chunk> chunks);

  Lowering &lowering;
  simt::Builder &b;
  tile::ScanOp op;
  const ScanPlan &plan;
  Combiner combiner;
  SmallVector<Type> elements;
  int64_t extent;
  bool isPartial;
  bool hasExchanged = false;
};

SmallVector<Value> Scan::components(const Partial &partial) {
  SmallVector<Value> result = partial.values;
  if (isPartial)
    result.push_back(partial.exists ? partial.exists : lowering.constant(b.getI1Type(), 1));
  return result;
}

Partial Scan::fromComponents(SmallVector<Value> components) {
  Partial result;
  if (isPartial)
    result.exists = components.pop_back_val();
  result.values = std::move(components);
  return result;
}

// Own and other are neighbouring blocks; isSecond: own comes after other.
Partial Scan::combineInOrder(Value isSecond, const Partial &own, const Partial &other) {
  if (combiner.isCommutative() || planted(PlantedBug::ScanOrder))
    return combiner.combine(own, other);
  return combiner.combine(combiner.select(isSecond, other, own), combiner.select(isSecond, own, other));
}

// Where isSecond (null: everywhere), `before` comes in front of the prefix.
void Scan::putBefore(std::optional<Partial> &prefix, const Partial &before, Value isSecond) {
  if (!prefix) {
    prefix = before;
    if (isSecond)
      prefix->exists = lowering.both(before.exists, isSecond);
    return;
  }
  Partial joined = combiner.combine(before, *prefix);
  prefix = isSecond ? combiner.select(isSecond, joined, *prefix) : joined;
}

void Scan::scanChunk(Chunk &chunk, ArrayRef<SmallVector<Value>> operands) {
  for (uint32_t reg : chunk.registers) {
    Partial element;
    for (const SmallVector<Value> &operand : operands)
      element.values.push_back(operand[reg]);
    if (isPartial && !planted(PlantedBug::ReverseScanPad))
      element.exists = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ult,
                                            lowering.coordinate(plan.layout, reg, plan.axis), lowering.i32(extent));
    chunk.scanned.push_back(chunk.scanned.empty() ? element : combiner.combine(chunk.scanned.back(), element));
  }
  chunk.total = chunk.scanned.back();
}

void Scan::joinRegisters(unsigned chunkBit, std::vector<Chunk> &chunks) {
  for (uint32_t number = 0; number < chunks.size(); ++number) {
    uint32_t other = number ^ (uint32_t(1) << chunkBit);
    if (other < number)
      continue;
    Chunk &first = chunks[op.getReverse() ? other : number], &second = chunks[op.getReverse() ? number : other];
    putBefore(second.prefix, first.total, Value());
    first.total = second.total = combiner.combine(first.total, second.total);
  }
}

void Scan::joinLanes(unsigned laneBit, std::vector<Chunk> &chunks) {
  uint32_t distance = uint32_t(1) << laneBit;
  Value bitIsSet = oddParity(lowering, distance, 0);
  Value isSecond = bitIsSet;
  if (op.getReverse())
    isSecond = LLVM::XOrOp::create(b, bitIsSet, lowering.constant(b.getI1Type(), 1));
  SmallVector<SmallVector<Value>> received(chunks.size());
  for (auto [number, element] : llvm::enumerate(elements)) {
    SmallVector<Value> sent;
    for (const Chunk &chunk : chunks)
      sent.push_back(components(chunk.total)[number]);
    for (auto [place, value] : llvm::zip_equal(received, sendWords(lowering, sent, element, [&](Value word) {
                                                 return lowering.machine.shuffleXor(b, word, distance);
                                               })))
      place.push_back(value);
  }
  for (auto [chunk, components] : llvm::zip_equal(chunks, received)) {
    Partial other = fromComponents(components);
    putBefore(chunk.prefix, other, isSecond);
    chunk.total = combineInOrder(isSecond, chunk.total, other);
  }
}

void Scan::joinWarps(unsigned first, unsigned count, std::vector<Chunk> &chunks) {
  ScanPlan::WarpExchange exchange = plan.warpExchange(first, mostTotals(elements));
  for (uint32_t chunk = 0; chunk < chunks.size(); chunk += exchange.chunksAtOnce)
    joinWarps(first, count, exchange, MutableArrayRef(chunks).slice(chunk, exchange.chunksAtOnce));
}

// The chunks of one round.
void Scan::joinWarps(unsigned first, unsigned count, const ScanPlan::WarpExchange &exchange,
                     MutableArrayRef<Chunk> chunks) {
  SmallVector<int64_t> starts = arrayStarts(elements, exchange.count());
  if (hasExchanged && !planted(PlantedBug::ScanSecondExchange))
    lowering.barrier();
  else if (!hasExchanged)
    lowering.barrierBefore(op);
  hasExchanged = true;
  Value base = lowering.scratch(op);
  Value isWriter = bitsAreZero(lowering, exchange.silentLanes, exchange.silentWarps);
  // Read: this thread's totals in the warps of the run, the others' bits as its own.
  SmallVector<uint32_t> runOffsets;
  LinearLayout others = exchange.offsets;
  for (const ScanPlan::InputBit &input : ArrayRef(plan.inputs).slice(first, count)) {
    runOffsets.push_back(exchange.offsets.basesOf(Place::Warp)[input.bit]);
    others.setBasis(Place::Warp, input.bit, 0);
  }
  SmallVector<SharedAddresses> reads;
  for (auto [number, element] : llvm::enumerate(elements)) {
    Value start = starts[number] ? lowering.byteOffset(base, lowering.i32(starts[number])) : base;
    SharedAddresses writes(lowering, start, exchange.offsets, Lowering::byteSize(element));
    reads.emplace_back(lowering, start, others, Lowering::byteSize(element));
    for (uint32_t chunk = 0; chunk < chunks.size(); ++chunk)
      writeShared(lowering, components(chunks[chunk].total)[number], element,
                  writes.at(exchange.offsets.apply(Position{.reg = chunk})), isWriter);
  }
  lowering.barrier();
  // The thread's place among the warps of the run, in the order of the scan.
  SmallVector<unsigned> axes{count};
  LinearLayout place(axes);
  for (unsigned bit = 0; bit < plan.layout.bits(Place::Lane); ++bit)
    place.add(Place::Lane, 0);
  for (unsigned bit = 0; bit < plan.layout.bits(Place::Warp); ++bit) {
    uint32_t basis = 0;
    for (unsigned i = 0; i < count; ++i)
      if (plan.inputs[first + i].bit == bit)
        basis = uint32_t(1) << i;
    place.add(Place::Warp, basis);
  }
  uint32_t last = (uint32_t(1) << count) - 1;
  Value own = lowering.coordinate(place, 0, 0);
  if (op.getReverse())
    own = LLVM::XOrOp::create(b, own, lowering.i32(last));
  for (uint32_t chunk = 0; chunk < chunks.size(); ++chunk) {
    std::optional<Partial> before;
    Partial running;
    for (uint32_t i = 0; i <= last; ++i) {
      uint32_t number = op.getReverse() ? last - i : i, offset = exchange.offsets.apply(Position{.reg = chunk});
      for (unsigned bit = 0; bit < count; ++bit)
        if (number >> bit & 1)
          offset ^= runOffsets[bit];
      SmallVector<Value> values;
      for (auto [component, element] : llvm::enumerate(elements))
        values.push_back(readShared(lowering, element, 1, reads[component].at(offset)).front());
      Partial total = fromComponents(std::move(values));
      if (i == 1) {
        before = running;
      } else if (i > 1) {
        auto atLeast = planted(PlantedBug::ScanWarpPlace) ? LLVM::ICmpPredicate::ugt : LLVM::ICmpPredicate::uge;
        Value isHere = LLVM::ICmpOp::create(b, atLeast, own, lowering.i32(i));
        before = combiner.select(isHere, running, *before);
      }
      running = i ? combiner.combine(running, total) : total;
    }
    Value isSecond = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, own, lowering.i32(0));
    putBefore(chunks[chunk].prefix, *before, isSecond);
    chunks[chunk].total = running;
  }
}

SmallVector<SmallVector<Value>> Scan::run(ArrayRef<SmallVector<Value>> operands) {
  std::vector<Chunk> chunks(plan.chunkCount());
  for (auto [number, chunk] : llvm::enumerate(chunks)) {
    chunk.registers = plan.registersOf(number);
    if (op.getReverse())
      std::reverse(chunk.registers.begin(), chunk.registers.end());
    scanChunk(chunk, operands);
  }
  for (unsigned bit = plan.chunkBits; bit < plan.inputs.size();) {
    const ScanPlan::InputBit &input = plan.inputs[bit];
    unsigned count = 1;
    if (input.place == Place::Register)
      joinRegisters(llvm::find(plan.chunkRegisters, input.bit) - plan.chunkRegisters.begin(), chunks);
    else if (input.place == Place::Lane)
      joinLanes(input.bit, chunks);
    else
      joinWarps(bit, count = plan.warpRun(bit), chunks);
    bit += count;
  }
  SmallVector<SmallVector<Value>> results(operands.size(), SmallVector<Value>(plan.layout.count(Place::Register)));
  for (Chunk &chunk : chunks)
    for (auto [reg, scanned] : llvm::zip_equal(chunk.registers, chunk.scanned)) {
      Partial value = chunk.prefix ? combiner.combine(*chunk.prefix, scanned) : scanned;
      for (auto [result, component] : llvm::zip_equal(results, value.values))
        result[reg] = component;
    }
  return results;
}

} // namespace

int64_t nacre::simt::scanScratch(tile::ScanOp op) {
  const LinearLayout layout = planningLayout(layoutOf(op.getOperands().front()), op.getAxis());
  ScanPlan plan = *planScan(scanLayout(layout, op.getAxis()), op.getAxis());
  int64_t bytes = 0;
  SmallVector<Type> exchanged = Scan::exchangedTypes(op, plan);
  if (uint32_t count = plan.exchangeCount(Scan::mostTotals(exchanged)))
    bytes = arrayStarts(exchanged, count).back();
  for (Type element : Combiner::elementTypes(op))
    for (const Conversion &conversion : {planFor(element, layout, plan.layout), planFor(element, plan.layout, layout)})
      bytes = std::max<int64_t>(bytes, conversion.scratchBytes(llvm::Log2_64(Lowering::byteSize(element))));
  return bytes;
}

LogicalResult Lowering::lowerScan(tile::ScanOp op) {
  const LinearLayout layout = planningLayout(layoutOf(op.getOperands().front()), op.getAxis());
  ScanPlan plan = *planScan(scanLayout(layout, op.getAxis()), op.getAxis());
  bool isConverted = plan.layout != layout, isFirst = true;
  auto converted = [&](ArrayRef<Value> source, Type element, const LinearLayout &from, const LinearLayout &to) {
    return convertRegisters(*this, planFor(element, from, to), source, element, to.count(Place::Register), [&] {
      isFirst ? barrierBefore(op) : barrier();
      isFirst = false;
      return scratch(op);
    });
  };
  SmallVector<SmallVector<Value>> operands;
  for (Value operand : op.getOperands()) {
    operands.emplace_back(registers(operand));
    if (isConverted)
      operands.back() = converted(operands.back(), getElementTypeOrSelf(operand.getType()), layout, plan.layout);
  }
  if (!isFirst)
    barrier();
  Scan scan(*this, op, plan);
  SmallVector<SmallVector<Value>> results = scan.run(operands);
  isFirst = false;
  for (auto [result, values] : llvm::zip_equal(op.getResults(), results)) {
    if (isConverted)
      values = converted(values, getElementTypeOrSelf(result.getType()), plan.layout, layout);
    define(result, values);
  }
  return scan.status();
}
