// See LaunchWork.h.
#include "compiler/analysis/LaunchWork.h"
#include "compiler/analysis/PointerRoots.h"
#include "compiler/ir/tile/Tile.h"
#include "compiler/ir/tile/TileText.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include <bit>

using namespace mlir;

namespace nacre {

namespace {

int64_t elementsOf(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped ? shaped.getNumElements() : 1;
}

// 0: it is no floating-point number.
unsigned floatBits(Type type) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  return element ? std::max(8u, element.getWidth()) : 0;
}

double bytesOf(Type type) {
  Type element = getElementTypeOrSelf(type);
  unsigned bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64; // a pointer
  return static_cast<double>(elementsOf(type)) * std::max(8u, bits) / 8;
}

// One program's share. Numbers are followed in whole 64 bits and cut to their type, as the language does.
class Counter {
public:
  Counter(const uint32_t *grid, llvm::ArrayRef<uint64_t> arguments, LaunchWork &work, double weight)
      : grid(grid), arguments(arguments), work(work), weight(weight) {}

  std::array<uint32_t, 3> program{};
  bool dependsOnProgram = false;

  bool count(Block &block, double times) {
    for (Operation &op : block)
      if (!count(op, times))
        return false;
    return true;
  }

private:
  // A loop goes on by what it reads, or the like: nothing can be said.
  bool count(Operation &op, double times) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return countLoop(loop, times);
    if (auto branch = dyn_cast<scf::IfOp>(op))
      return countBranch(branch, times);
    if (isa<scf::WhileOp>(op))
      return false;
    if (isa<tile::ReduceOp, tile::ScanOp, tile::MapOp>(op))
      return countFunction(op, times);
    if (auto call = dyn_cast<func::CallOp>(op)) {
      auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
      // Its arguments are not known here: fine where nothing in it depends on them.
      return callee && !callee.isExternal() && count(callee.getBody().front(), times);
    }
    if (op.getNumRegions() != 0)
      return false;
    countAccess(op, times);
    countArithmetic(op, times);
    return true;
  }

  bool countLoop(scf::ForOp loop, double times) {
    std::optional<int64_t> low = number(loop.getLowerBound()), high = number(loop.getUpperBound()),
                           step = number(loop.getStep());
    if (!low || !high || !step || *step <= 0)
      return false;
    int64_t trips = *high > *low ? (*high - *low + *step - 1) / *step : 0;
    if (trips == 0)
      return true;
    // What depends on the iteration inside is taken at the middle one: exact for what is linear in it.
    numbers[loop.getInductionVar()] = *low + (trips / 2) * *step;
    return count(*loop.getBody(), times * static_cast<double>(trips));
  }

  bool countBranch(scf::IfOp branch, double times) {
    std::optional<int64_t> condition = number(branch.getCondition());
    if (condition)
      return *condition           ? count(*branch.thenBlock(), times)
             : branch.elseBlock() ? count(*branch.elseBlock(), times)
                                  : true;
    // Either may happen: known where both are the same work, as those are that have none.
    LaunchWork before = work;
    work = {};
    bool isKnown = count(*branch.thenBlock(), times);
    LaunchWork then = std::exchange(work, {});
    isKnown = isKnown && (!branch.elseBlock() || count(*branch.elseBlock(), times));
    LaunchWork otherwise = std::exchange(work, std::move(before));
    return isKnown && isNothing(then) && isNothing(otherwise);
  }
  static bool isNothing(const LaunchWork &work) { return work.ofArgument.empty() && work.flops.empty(); }

  // Combines or maps elements: its operations happen once an element.
  bool countFunction(Operation &op, double times) {
    int64_t elements = 0;
    for (Value operand : op.getOperands())
      elements = std::max(elements, elementsOf(operand.getType()));
    return count(op.getRegion(0).front(), times * static_cast<double>(elements));
  }

  LaunchWork::Traffic &traffic(Value pointer) {
    PointerRoots roots = pointerRoots(pointer);
    return work.ofArgument[roots.isCertain() ? std::countr_zero(roots.arguments) : -1];
  }
  void countAccess(Operation &op, double times) {
    times *= weight;
    if (auto load = dyn_cast<tile::LoadOp>(op)) {
      traffic(load.getPointer()).loaded += times * bytesOf(load.getType());
    } else if (auto store = dyn_cast<tile::StoreOp>(op)) {
      traffic(store.getPointer()).stored += times * bytesOf(store.getValue().getType());
    } else if (isa<tile::AtomicRmwOp, tile::AtomicCasOp>(op)) {
      LaunchWork::Traffic &both = traffic(op.getOperand(0));
      both.loaded += times * bytesOf(op.getResult(0).getType());
      both.stored += times * bytesOf(op.getResult(0).getType());
    } else if (isa<tile::DescriptorLoadOp, tile::DescriptorGatherOp>(op)) {
      traffic(op.getOperand(0)).loaded += times * bytesOf(op.getResult(0).getType());
    } else if (isa<tile::DescriptorStoreOp, tile::DescriptorScatterOp, tile::DescriptorReduceOp>(op)) {
      // Of the operands the tile that is stored is the largest.
      double bytes = 0;
      for (Value operand : op.getOperands().drop_front())
        if (isa<ShapedType>(operand.getType()))
          bytes = std::max(bytes, bytesOf(operand.getType()));
      LaunchWork::Traffic &to = traffic(op.getOperand(0));
      to.stored += times * bytes;
      if (isa<tile::DescriptorReduceOp>(op))
        to.loaded += times * bytes;
    }
  }

  void countArithmetic(Operation &op, double times) {
    times *= weight;
    if (auto dot = dyn_cast<tile::DotOp>(op)) {
      auto left = cast<ShapedType>(op.getOperand(0).getType());
      auto inner = static_cast<double>(left.getShape().back());
      unsigned bits = left.getElementType().getIntOrFloatBitWidth();
      work.flops[std::max(8u, bits)] += 2 * times * inner * static_cast<double>(elementsOf(dot.getType()));
      return;
    }
    if (isa<tile::DotScaledOp>(op)) {
      auto result = cast<ShapedType>(op.getResult(0).getType());
      auto right = cast<ShapedType>(op.getOperand(1).getType());
      // The inner extent is the side of the right operand that is not the result's; packed pairs count as one.
      double inner = static_cast<double>(right.getNumElements()) / static_cast<double>(result.getShape().back());
      work.flops[8] += 2 * times * inner * static_cast<double>(result.getNumElements());
      return;
    }
    if (op.getNumResults() != 1)
      return;
    unsigned bits = floatBits(op.getResult(0).getType());
    if (bits == 0)
      return;
    double each = isa<math::FmaOp>(op) ? 2
                  : isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::RemFOp, arith::NegFOp,
                        arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp>(op) ||
                          isa<math::MathDialect>(op.getDialect())
                      ? 1
                      : 0;
    if (each != 0)
      work.flops[std::min(bits, 64u)] += each * times * static_cast<double>(elementsOf(op.getResult(0).getType()));
  }

  // ---- Numbers that are known before the launch.

  static int64_t cut(int64_t value, Type type) {
    unsigned bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
    if (bits == 1)
      return value & 1;
    return bits >= 64 ? value : static_cast<int64_t>(static_cast<uint64_t>(value) << (64 - bits)) >> (64 - bits);
  }

  std::optional<int64_t> number(Value value) {
    if (!value.getType().isIntOrIndex())
      return std::nullopt;
    if (auto known = numbers.find(value); known != numbers.end())
      return known->second;
    std::optional<int64_t> found = workOut(value);
    if (found)
      found = cut(*found, value.getType());
    numbers[value] = found;
    return found;
  }

  std::optional<int64_t> workOut(Value value) {
    APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant)))
      return constant.getBitWidth() == 1 ? static_cast<int64_t>(constant.getZExtValue()) : constant.getSExtValue();
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto kernel = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
      if (kernel && kernel->hasAttr(tile::kernelAttribute) && argument.getArgNumber() < arguments.size())
        return static_cast<int64_t>(arguments[argument.getArgNumber()]);
      return std::nullopt; // carried around a loop
    }
    Operation *op = value.getDefiningOp();
    if (auto id = dyn_cast<tile::ProgramIdOp>(op)) {
      dependsOnProgram = true;
      return program[static_cast<size_t>(id.getAxis())];
    }
    if (auto count = dyn_cast<tile::NumProgramsOp>(op))
      return grid[static_cast<size_t>(count.getAxis())];
    if (auto hint = dyn_cast<tile::HintOp>(op))
      return number(hint.getSource());
    if (auto select = dyn_cast<arith::SelectOp>(op)) {
      std::optional<int64_t> condition = number(select.getCondition());
      return condition ? number(*condition ? select.getTrueValue() : select.getFalseValue()) : std::nullopt;
    }
    if (op->getNumOperands() == 1) {
      std::optional<int64_t> source = number(op->getOperand(0));
      if (!source)
        return std::nullopt;
      if (isa<arith::ExtUIOp, arith::IndexCastUIOp>(op))
        return static_cast<int64_t>(asUnsigned(*source, op->getOperand(0).getType()));
      if (isa<arith::ExtSIOp>(op) && op->getOperand(0).getType().isInteger(1))
        return -*source;
      if (isa<arith::ExtSIOp, arith::TruncIOp, arith::IndexCastOp>(op))
        return source;
      return std::nullopt;
    }
    if (op->getNumOperands() != 2 || !op->getOperand(0).getType().isIntOrIndex())
      return std::nullopt;
    std::optional<int64_t> a = number(op->getOperand(0)), b = number(op->getOperand(1));
    return a && b ? binary(op, *a, *b) : std::nullopt;
  }

  static uint64_t asUnsigned(int64_t value, Type type) {
    unsigned bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
    return bits >= 64 ? static_cast<uint64_t>(value) : static_cast<uint64_t>(value) & ((uint64_t(1) << bits) - 1);
  }

  static std::optional<int64_t> binary(Operation *op, int64_t a, int64_t b) {
    Type type = op->getOperand(0).getType();
    uint64_t ua = asUnsigned(a, type), ub = asUnsigned(b, type);
    auto wrapped = [](uint64_t value) { return static_cast<int64_t>(value); };
    bool isDivision =
        isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp, arith::FloorDivSIOp>(
            op);
    if (isDivision && (b == 0 || b == -1))
      return std::nullopt;
    if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
      switch (compare.getPredicate()) {
      case arith::CmpIPredicate::eq:
        return a == b;
      case arith::CmpIPredicate::ne:
        return a != b;
      case arith::CmpIPredicate::slt:
        return a < b;
      case arith::CmpIPredicate::sle:
        return a <= b;
      case arith::CmpIPredicate::sgt:
        return a > b;
      case arith::CmpIPredicate::sge:
        return a >= b;
      case arith::CmpIPredicate::ult:
        return ua < ub;
      case arith::CmpIPredicate::ule:
        return ua <= ub;
      case arith::CmpIPredicate::ugt:
        return ua > ub;
      case arith::CmpIPredicate::uge:
        return ua >= ub;
      }
    }
    return llvm::TypeSwitch<Operation *, std::optional<int64_t>>(op)
        .Case([&](arith::AddIOp) { return wrapped(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); })
        .Case([&](arith::SubIOp) { return wrapped(static_cast<uint64_t>(a) - static_cast<uint64_t>(b)); })
        .Case([&](arith::MulIOp) { return wrapped(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)); })
        .Case([&](arith::DivSIOp) { return a / b; })
        .Case([&](arith::DivUIOp) { return wrapped(ua / ub); })
        .Case([&](arith::RemSIOp) { return a % b; })
        .Case([&](arith::RemUIOp) { return wrapped(ua % ub); })
        .Case([&](arith::CeilDivSIOp) { return a / b + (a % b != 0 && (a < 0) == (b < 0)); })
        .Case([&](arith::FloorDivSIOp) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); })
        .Case([&](arith::MinSIOp) { return std::min(a, b); })
        .Case([&](arith::MaxSIOp) { return std::max(a, b); })
        .Case([&](arith::MinUIOp) { return wrapped(std::min(ua, ub)); })
        .Case([&](arith::MaxUIOp) { return wrapped(std::max(ua, ub)); })
        .Case([&](arith::AndIOp) { return a & b; })
        .Case([&](arith::OrIOp) { return a | b; })
        .Case([&](arith::XOrIOp) { return a ^ b; })
        .Case([&](arith::ShLIOp) {
          return ub < 64 ? std::optional(wrapped(static_cast<uint64_t>(a) << ub)) : std::nullopt;
        })
        .Case([&](arith::ShRSIOp) { return ub < 64 ? std::optional(a >> ub) : std::nullopt; })
        .Default([](Operation *) { return std::nullopt; });
  }

  const uint32_t *grid;
  llvm::ArrayRef<uint64_t> arguments;
  LaunchWork &work;
  const double weight;
  llvm::DenseMap<Value, std::optional<int64_t>> numbers;
};

} // namespace

std::optional<LaunchWork> launchWork(llvm::StringRef text, const uint32_t grid[3], llvm::ArrayRef<uint64_t> arguments) {
  tile::TileText parsed(text);
  ModuleOp module = parsed.module();
  func::FuncOp kernel;
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(tile::kernelAttribute))
      kernel = function;
  if (!kernel || !kernel.getBody().hasOneBlock() || kernel.getNumArguments() != arguments.size())
    return std::nullopt;
  uint64_t programs = uint64_t(grid[0]) * grid[1] * grid[2];
  auto countOne = [&](uint64_t number, double weight, LaunchWork &work, bool *depends) {
    Counter counter(grid, arguments, work, weight);
    counter.program = {static_cast<uint32_t>(number % grid[0]), static_cast<uint32_t>(number / grid[0] % grid[1]),
                       static_cast<uint32_t>(number / grid[0] / grid[1])};
    bool isKnown = counter.count(kernel.getBody().front(), 1);
    if (depends)
      *depends = counter.dependsOnProgram;
    return isKnown;
  };
  LaunchWork work;
  if (programs == 0)
    return work;
  bool dependsOnProgram = false;
  if (!countOne(0, static_cast<double>(programs), work, &dependsOnProgram))
    return std::nullopt;
  if (!dependsOnProgram)
    return work;
  // Programs differ: all of them, or an even sample of many.
  constexpr uint64_t most = 512;
  uint64_t samples = std::min(programs, most);
  work = {};
  for (uint64_t i = 0; i < samples; ++i)
    if (!countOne(static_cast<uint64_t>((static_cast<double>(i) + 0.5) * static_cast<double>(programs) /
                                        static_cast<double>(samples)),
                  static_cast<double>(programs) / static_cast<double>(samples), work, nullptr))
      return std::nullopt;
  return work;
}

} // namespace nacre
