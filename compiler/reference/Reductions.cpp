// Reductions and scans by whole slices. The combining function sees two slices of equal shape at a time, so a reduction
// of n elements takes about log2(n) calls however many lanes there are.
#include "compiler/reference/EagerBuilder.h"
#include "compiler/reference/Loops.h"
#include "llvm/Support/ErrorHandling.h"

using namespace nacre;

using Tiles = llvm::SmallVector<Value, 2>;

static Tiles slices(llvm::ArrayRef<Value> tiles, int axis, int64_t begin, int64_t extent, int64_t step = 1) {
  Tiles result;
  for (const Value &tile : tiles)
    result.push_back(valueOf(slice(bufferOf(tile), axis, begin, extent, step)));
  return result;
}

// The tiles with `axis` moved to the front, contiguous: its slices become rows.
static Tiles axisFirst(EagerBuilder &builder, llvm::ArrayRef<Value> tiles, int axis) {
  llvm::SmallVector<int> order = {axis};
  for (int i = 0; i < static_cast<int>(tiles[0].type().rank()); ++i)
    if (i != axis)
      order.push_back(i);
  Tiles result;
  for (const Value &tile : tiles)
    result.push_back(valueOf(contiguous(bufferRef(builder.permute(tile, order)))));
  return result;
}

Values EagerBuilder::reduce(llvm::ArrayRef<Value> operands, int axis, const Combine &combine) {
  // Halves are combined until one slice is left. When the axis is the last one its halves become short runs: from there
  // on it is cheaper to go on with the axis in front.
  constexpr int64_t shortRun = 16;
  Type wholeType = operands[0].type();
  std::string name = "reduce axis " + std::to_string(axis);
  llvm::SmallVector<int64_t> shape(wholeType.shape());
  shape.erase(shape.begin() + axis);
  int64_t extent = wholeType.shape()[axis], outer = wholeType.elementCount() / std::max<int64_t>(extent, 1);
  Tiles current(operands.begin(), operands.end());
  Tiles leftover; // slices that found no partner, combined into one
  auto addLeftover = [&](Tiles slice) {
    leftover = leftover.empty() ? std::move(slice) : Tiles(combine(slice, leftover));
  };
  while (extent > 1) {
    if (axis != 0 && extent <= shortRun && outer > 1) {
      current = axisFirst(*this, current, axis);
      if (!leftover.empty())
        leftover = axisFirst(*this, leftover, axis);
      axis = 0;
    }
    int64_t half = extent / 2;
    if (extent % 2)
      addLeftover(slices(current, axis, extent - 1, 1));
    Tiles left = slices(current, axis, 0, half), right = slices(current, axis, half, half);
    current = Tiles(combine(left, right));
    extent = half;
  }
  if (!leftover.empty())
    current = Tiles(combine(current, leftover));
  Values results;
  for (const Value &value : current) {
    if (shape.empty())
      results.push_back(valueOf(makeUniform(value.type().scalarType(), bufferOf(value).data)));
    else
      results.push_back(reshape(value, shape));
  }
  if (program.watcher) {
    llvm::SmallVector<Value, 4> told(operands);
    told.append(results.begin(), results.end());
    program.watcher->value(program, name, told);
  }
  return results;
}

// Writes `part` over every `step`-th slice of `whole`, from `begin` on. `whole` was made here and has not been handed
// out.
static void placeSlices(const Buffer &whole, const Buffer &part, int axis, int64_t begin, int64_t step) {
  copyOver(part, *slice(whole, axis, begin, part.shape()[axis], step));
}

// Pairs of neighbours are combined, the pairs are scanned, and the elements between follow from the pair before them.
static Tiles scanForward(llvm::ArrayRef<Value> tiles, int axis, const Builder::Combine &combine) {
  int64_t extent = tiles[0].type().shape()[axis];
  if (extent == 1)
    return Tiles(tiles.begin(), tiles.end());
  int64_t pairs = extent / 2, between = (extent - 1) / 2;
  Tiles evens = slices(tiles, axis, 0, pairs, 2), odds = slices(tiles, axis, 1, pairs, 2);
  Tiles scannedPairs = scanForward(Tiles(combine(evens, odds)), axis, combine); // result 1, 3, 5, ...
  Tiles inBetween;                                                              // result 2, 4, ...
  if (between > 0)
    inBetween = Tiles(combine(slices(scannedPairs, axis, 0, between), slices(tiles, axis, 2, between, 2)));
  Tiles result;
  for (size_t i = 0; i < tiles.size(); ++i) {
    BufferRef whole = makeBuffer(tiles[i].type());
    placeSlices(*whole, *slice(bufferOf(tiles[i]), axis, 0, 1), axis, 0, 1);
    placeSlices(*whole, bufferOf(scannedPairs[i]), axis, 1, 2);
    if (between > 0)
      placeSlices(*whole, bufferOf(inBetween[i]), axis, 2, 2);
    result.push_back(valueOf(whole));
  }
  return result;
}

Values EagerBuilder::scan(llvm::ArrayRef<Value> operands, int axis, bool reverse, const Combine &combine) {
  int64_t extent = operands[0].type().shape()[axis];
  Tiles tiles(operands.begin(), operands.end());
  if (reverse)
    tiles = slices(tiles, axis, extent - 1, extent, -1);
  Tiles result = scanForward(tiles, axis, combine);
  if (reverse)
    result = slices(result, axis, extent - 1, extent, -1);
  return Values(result.begin(), result.end());
}

Value EagerBuilder::histogram(Value value, int64_t bins, Value mask) {
  BufferRef result = makeBuffer(Type::block(int32(), {bins}));
  auto *counts = result->as<int32_t>();
  std::memset(counts, 0, bins * sizeof(int32_t));
  // As 64-bit integers, whatever the width: a negative number is in no bin.
  CastOp widen = value.type().isSigned() ? CastOp::ExtendSigned : CastOp::ExtendUnsigned;
  Value wide = value.type().bitWidth() == 64 ? value : cast(widen, value, withScalar(value.type(), int64()));
  llvm::SmallVector<const Buffer *, 2> operands = {&bufferOf(wide)};
  if (mask)
    operands.push_back(&bufferOf(mask));
  forEachChunk(operands, false, ChunkReader::chunk, [&](llvm::ArrayRef<const void *> inputs, int64_t count) {
    auto *numbers = static_cast<const uint64_t *>(inputs[0]);
    auto *enabled = mask ? static_cast<const uint8_t *>(inputs[1]) : nullptr;
    for (int64_t i = 0; i < count; ++i)
      if ((!enabled || enabled[i]) && numbers[i] < static_cast<uint64_t>(bins))
        ++counts[numbers[i]];
  });
  return valueOf(result);
}
