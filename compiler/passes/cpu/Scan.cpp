// Scans: running values along an axis. Vectors of the other axes are taken at a time where neighbours lie there;
// along the last axis, where neighbours are the running values themselves, whole vectors of it.
#include "compiler/passes/cpu/Nest.h"
#include "compiler/support/PlantedBugs.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

namespace {

// One row of a scan along contiguous memory, from the first element in its direction to the last.
//
// A vector is scanned by itself in as many steps as its lanes have bits: with what the lanes at distance 1 before gave,
// then 2, 4, ... The values carried from vector to vector wait for one combination each, not for one an element.
//
// Legal because the function of a scan is associative: that is what `associative_scan` asks for. Lanes that have none
// before them combine with themselves and forget it, so the function may have no effects (isPure).
class RowScan {
public:
  RowScan(Lowering &lowering, tile::ScanOp op, ArrayRef<Buffer> sources, ArrayRef<Buffer> targets)
      : lowering(lowering), b(lowering.b), op(op), sources(sources), targets(targets),
        extent(sources[0].shape[op.getAxis()]), lanes(lanesOf(lowering, op)) {}

  // The lanes of a step; 1 where the scan is not for this class.
  static int64_t lanesOf(Lowering &lowering, tile::ScanOp op) {
    Block &block = op.getCombine().front();
    auto isPure = [](Operation &inner) { return inner.getNumRegions() == 0 && isMemoryEffectFree(&inner); };
    auto shape = tile::shapeOf(op.getOperands().front().getType());
    if (op.getAxis() + 1 != shape.size() || !llvm::all_of(block.without_terminator(), isPure))
      return 1;
    int64_t widest = 4;
    for (Value operand : op.getOperands()) {
      Type element = getElementTypeOrSelf(operand.getType());
      if (!registerType(element).isIntOrFloat() || element.isInteger(1))
        return 1;
      widest = std::max(widest, byteSize(element));
    }
    int64_t lanes = std::min(lowering.target.vectorBytes / widest, int64_t(1) << llvm::Log2_64(shape.back()));
    return lanes < 4 ? 1 : lanes;
  }

  // `row`: what the buffers' elements are moved by, in elements.
  void emit(Value row) {
    int64_t whole = extent / lanes * lanes;
    SmallVector<Value> carried = scanVector(row, b.index(0), {});
    auto vectors = scf::ForOp::create(b, b.index(lanes), b.index(whole), b.index(lanes), carried);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(vectors.getBody());
      scf::YieldOp::create(b, scanVector(row, vectors.getInductionVar(), vectors.getRegionIterArgs()));
    }
    carried.assign(vectors.getResults().begin(), vectors.getResults().end());
    for (int64_t step = whole; step < extent; ++step) {
      SmallVector<Value> arguments(carried);
      arguments.append(load(row, b.index(step), 1));
      carried = lowering.combine(op.getCombine(), arguments);
      store(row, b.index(step), carried, 1);
    }
  }

private:
  // The address of the lowest of `count` elements from `step` on, counted in the direction of the scan.
  Value place(const Buffer &buffer, Value row, Value step, int64_t count) {
    Value first = op.getReverse() ? b.sub(b.index(extent - count), step) : step;
    return b.advance(buffer.pointer, b.add(row, first), byteSize(buffer.element));
  }

  SmallVector<Value> load(Value row, Value step, int64_t count) {
    SmallVector<Value> values;
    for (const Buffer &source : sources) {
      Type type = memoryType(source.element);
      type = count > 1 ? Type(b.vectorType(type, count)) : type;
      values.push_back(
          b.fromMemory(b.load(type, place(source, row, step, count), byteSize(source.element)), source.element));
    }
    return values;
  }

  void store(Value row, Value step, ArrayRef<Value> values, int64_t count) {
    for (auto [target, value] : llvm::zip_equal(targets, values))
      b.store(b.toMemory(value, target.element), place(target, row, step, count), byteSize(target.element));
  }

  // Each lane with the one `distance` before it in the direction of the scan; those that have none, as they are.
  SmallVector<Value> withEarlier(ArrayRef<Value> values, int64_t distance) {
    SmallVector<int64_t> earlier;
    SmallVector<bool> exists;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      int64_t from = op.getReverse() ? lane + distance : lane - distance;
      exists.push_back(from >= 0 && from < lanes);
      earlier.push_back(exists.back() ? from : lane);
    }
    SmallVector<Value> arguments;
    for (Value value : values)
      arguments.push_back(vector::ShuffleOp::create(b, value, value, earlier));
    arguments.append(values.begin(), values.end());
    if (planted(PlantedBug::RowScanOrder))
      std::rotate(arguments.begin(), arguments.begin() + values.size(), arguments.end());
    SmallVector<Value> combined = lowering.combine(op.getCombine(), arguments);
    Value mask = arith::ConstantOp::create(b, DenseElementsAttr::get(b.vectorType(b.getI1Type(), lanes), exists));
    for (auto [value, before] : llvm::zip_equal(combined, values))
      value = b.select(mask, value, before);
    return combined;
  }

  // Scans the vector from `step` on, given the running values before it, if any; the running values after it.
  SmallVector<Value> scanVector(Value row, Value step, ValueRange before) {
    SmallVector<Value> values = load(row, step, lanes);
    for (int64_t distance = 1; distance < lanes; distance *= 2)
      values = withEarlier(values, distance);
    SmallVector<Value> last;
    for (Value value : values)
      last.push_back(b.lane(value, op.getReverse() && !planted(PlantedBug::ReverseScanCarry) ? 0 : lanes - 1));
    if (!before.empty()) {
      SmallVector<Value> arguments, scalars(before);
      for (Value value : before)
        arguments.push_back(b.splat(value, lanes));
      arguments.append(values);
      values = lowering.combine(op.getCombine(), arguments);
      scalars.append(last);
      last = lowering.combine(op.getCombine(), scalars);
    }
    store(row, step, values, lanes);
    return last;
  }

  Lowering &lowering;
  Emit &b;
  tile::ScanOp op;
  ArrayRef<Buffer> sources, targets;
  const int64_t extent, lanes;
};

} // namespace

void Lowering::lowerScan(Operation *op) {
  auto scan = cast<tile::ScanOp>(op);
  Block *owner = op->getBlock();
  SmallVector<Buffer> sources, targets;
  for (auto [operand, result] : llvm::zip(scan.getOperands(), scan.getResults())) {
    sources.push_back(inMemory(operand, owner));
    targets.push_back(allocate(cast<RankedTensorType>(result.getType()), owner));
  }
  ArrayRef<int64_t> shape = sources[0].shape;
  int64_t axis = scan.getAxis(), extent = shape[axis];
  auto lieAsTargets = [&] {
    return llvm::all_of(sources, [&](const Buffer &source) { return source.strides == targets[0].strides; });
  };
  bool areRows = lieAsTargets();
  // Columns side by side: the running values lie as the elements do, unless their reader wants rows. Sources that are
  // views of others may lie otherwise.
  bool mayLie = llvm::none_of(scan.getResults(), [&](Value result) { return plan.isForced(result); });
  for (int along = 0; mayLie && along < static_cast<int>(shape.size()) && !lieAsTargets(); ++along)
    for (Buffer &target : targets)
      target.layAlong(along);
  if (areRows && RowScan::lanesOf(*this, scan) > 1) {
    int64_t rows = 1;
    for (int64_t other : shape.drop_back())
      rows *= other;
    b.loop(rows, [&](Value row) { RowScan(*this, scan, sources, targets).emit(b.mul(row, b.index(extent))); });
    for (auto [result, target] : llvm::zip(scan.getResults(), targets))
      hold(result, target);
    return;
  }
  SmallVector<int64_t> others(shape);
  others.erase(others.begin() + axis);
  if (others.empty())
    others.push_back(1);
  Nest nest(*this, others);
  for (auto [other, stride] : llvm::enumerate(sources[0].strides))
    if (static_cast<int64_t>(other) != axis && stride == 1 && shape[other] > 1)
      nest.runAlong(static_cast<int>(other) - (static_cast<int64_t>(other) > axis ? 1 : 0));
  nest.emitLoops(
      [&](Nest &inner) {
        // The buffers seen with the scanned axis fixed at `index`.
        Coordinates coordinates = shape.size() == 1 ? Coordinates{} : inner.identity(others.size());
        auto at = [&](const Buffer &buffer, Value index) {
          Buffer view = buffer;
          view.pointer =
              b.offsetBytes(buffer.pointer, b.mul(index, b.index(buffer.strides[axis] * byteSize(buffer.element))));
          view.strides.erase(view.strides.begin() + axis);
          view.shape.erase(view.shape.begin() + axis);
          return view;
        };
        auto place = [&](Value step) -> Value { return scan.getReverse() ? b.sub(b.index(extent - 1), step) : step; };
        auto read = [&](Value index) {
          SmallVector<Value> values;
          for (Buffer &source : sources)
            values.push_back(inner.vectorOf(inner.readBuffer(at(source, index), coordinates), source.element));
          return values;
        };
        auto write = [&](Value index, ValueRange values) {
          for (auto [target, value] : llvm::zip(targets, values))
            inner.writeBuffer(at(target, index), inner.width > 1 ? Lanes::varying(value) : Lanes::uniform(value),
                              coordinates);
        };
        Value first = place(b.index(0));
        SmallVector<Value> running = read(first);
        write(first, running);
        if (extent == 1)
          return;
        auto loop = scf::ForOp::create(b, b.index(1), b.index(extent), b.index(1), running);
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(loop.getBody());
        Value index = place(loop.getInductionVar());
        SmallVector<Value> arguments(loop.getRegionIterArgs());
        arguments.append(read(index));
        SmallVector<Value> next = combine(scan.getCombine(), arguments);
        write(index, next);
        scf::YieldOp::create(b, next);
      },
      {}, /*maxWidth=*/shape.size() == 1 ? 1 : target.vectorBytes / 4);
  for (auto [result, target] : llvm::zip(scan.getResults(), targets))
    hold(result, target);
}
