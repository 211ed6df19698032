// See WatchValues.h.
#include "compiler/passes/tile/WatchValues.h"
#include "compiler/ir/tile/Tile.h"
#include "compiler/passes/tile/UserPlace.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nacre;

namespace {

// "sum" of a function that adds its two arguments; "reduce" where it is none that has a name.
std::string nameOf(tile::ReduceOp reduce) {
  Block &block = reduce.getCombine().front();
  if (block.getNumArguments() != 2 || block.getOperations().size() != 2)
    return "reduce";
  Operation &op = block.front();
  if (isa<arith::AddFOp, arith::AddIOp>(op))
    return "sum";
  if (isa<arith::MaxNumFOp, arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp>(op))
    return "max";
  return isa<arith::MinNumFOp, arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp>(op) ? "min" : "reduce";
}

// What the operation is called; empty for those that are not told.
std::string wordFor(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::string>(op)
      .Case([](tile::LoadOp) { return "load"; })
      .Case<tile::DotOp, tile::DotScaledOp>([](auto) { return "dot"; })
      .Case([](tile::ReduceOp reduce) { return nameOf(reduce) + " axis " + std::to_string(reduce.getAxis()); })
      .Case([](tile::ScanOp) { return "scan"; })
      .Case([](tile::HistogramOp) { return "histogram"; })
      .Case([](tile::GatherOp) { return "gather"; })
      .Case([](tile::MapOp) { return "map"; })
      .Case([](tile::AtomicRmwOp) { return "atomic"; })
      .Case([](tile::AtomicCasOp) { return "atomic_cas"; })
      .Default([](Operation *) { return ""; });
}

// Numbers that are computed, and no masks.
bool isArithmetic(Operation *op) {
  if (!isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()) || op->getNumResults() != 1 ||
      isa<arith::ConstantOp>(op))
    return false;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  return type && isa<FloatType>(type.getElementType());
}

void tell(Operation *op, StringRef word) {
  SmallVector<Value> values;
  if (isa<tile::DotOp>(op))
    values.append(op->operand_begin(), op->operand_begin() + 2);
  else if (isa<tile::ReduceOp>(op))
    values.append(op->operand_begin(), op->operand_end());
  values.append(op->result_begin(), op->result_end());
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  SmallVector<bool> isSigned(values.size(), true);
  tile::TellOp::create(builder, op->getLoc(), ToldKind::Value, word.str(), values, isSigned);
}

struct WatchValues : PassWrapper<WatchValues, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(WatchValues)
  StringRef getArgument() const override { return "watch-values"; }
  StringRef getDescription() const override { return "Tell the tiles that operations give"; }
  void runOnOperation() override {
    SmallVector<std::pair<Operation *, std::string>> told;
    llvm::DenseMap<Block *, llvm::StringMap<Operation *>> last; // arithmetic, by its line
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (std::string word = wordFor(op); !word.empty())
        told.emplace_back(op, std::move(word));
      if (isArithmetic(op)) {
        UserPlace place = userPlace(op->getLoc());
        if (place.line != 0)
          last[op->getBlock()][place.file + ":" + std::to_string(place.line)] = op;
      }
      return isa<tile::MapOp, tile::ReduceOp, tile::ScanOp>(op) ? WalkResult::skip() : WalkResult::advance();
    });
    for (auto &[op, word] : told)
      tell(op, word);
    for (auto &[block, lines] : last)
      for (auto &line : lines)
        tell(line.second, "value");
  }
};

} // namespace

std::unique_ptr<Pass> nacre::createWatchValues() { return std::make_unique<WatchValues>(); }
void nacre::registerWatchValues() { PassRegistration<WatchValues>(); }
