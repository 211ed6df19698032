// cpu.multiply: the sums' place in memory, and a cpu.micro_kernel that adds the products there.
#include "compiler/ir/cpu/Cpu.h"
#include "compiler/passes/cpu/Nest.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

void Lowering::lowerMultiply(Operation *operation) {
  auto op = cast<MultiplyOp>(operation);
  Value start = op.getAccumulator();
  // In place over a carried accumulator, or in a buffer of its own that starts as the accumulator.
  std::optional<Buffer> inPlace = destinationInPlace(op.getSum(), operation);
  Buffer sums = inPlace ? *inPlace : allocate(op.getType(), op->getBlock());
  const Buffer *accumulator = buffer(start);
  bool fromZero = matchPattern(start, m_AnyZeroFloat()) || matchPattern(start, m_Zero());
  if (!fromZero && (!accumulator || accumulator->pointer != sums.pointer))
    materialize(start, sums);

  SmallVector<Value> rows, panels, ahead;
  SmallVector<bool> tables;
  for (auto [left, right] : llvm::zip_equal(op.getRows(), op.getPanels())) {
    auto table = rowTables.find(left);
    tables.push_back(table != rowTables.end());
    rows.push_back(tables.back() ? table->second.addresses : buffer(left)->pointer);
    panels.push_back(buffer(right)->pointer);
    if (tables.back() && table->second.ahead)
      ahead.push_back(table->second.ahead);
  }
  MicroKernelOp::create(b, sums.pointer, rows, panels, ahead, op.getBlocking(), tables, fromZero);
  if (inPlace)
    drop(destinations.find(op.getSum())->second.first);
  hold(op.getSum(), sums);
}
