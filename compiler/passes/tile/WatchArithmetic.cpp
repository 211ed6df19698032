// See WatchArithmetic.h.
#include "compiler/passes/tile/WatchArithmetic.h"
#include "compiler/ir/tile/ToldWhen.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace nacre;

namespace {

// "int32", "uint8"
std::string typeName(Value value, bool isSigned) {
  return (isSigned ? "int" : "uint") + std::to_string(getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth());
}

unsigned widthOf(Value value) { return getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth(); }

// Emits at one place, on tiles and on numbers alike.
struct Arithmetic {
  OpBuilder &builder;
  Location loc;

  Value constant(Type type, const APInt &value) {
    if (auto tile = dyn_cast<RankedTensorType>(type))
      return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(tile, value));
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, value));
  }
  Value constant(Type type, int64_t value) {
    return constant(type, APInt(getElementTypeOrSelf(type).getIntOrFloatBitWidth(), static_cast<uint64_t>(value),
                                /*isSigned=*/true, /*implicitTrunc=*/true));
  }
  Value number(int64_t value) { return constant(builder.getI64Type(), value); }
  template <typename Op> Value binary(Value a, Value b) { return builder.createOrFold<Op>(loc, a, b); }
  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return builder.createOrFold<arith::CmpIOp>(loc, predicate, a, b);
  }
  // The sign is extended.
  Value widen(Value value, unsigned width) {
    Type element = builder.getIntegerType(width), type = value.getType();
    if (getElementTypeOrSelf(type) == element)
      return value;
    if (auto tile = dyn_cast<RankedTensorType>(type))
      return builder.createOrFold<arith::ExtSIOp>(loc, tile.clone(element), value);
    return builder.createOrFold<arith::ExtSIOp>(loc, element, value);
  }
};

// Numbers of 64 bits that all elements lie between.
struct Bounds {
  Value low, high;
};

class BoundsOfTiles {
public:
  BoundsOfTiles(OpBuilder &builder, Location loc) : emit{builder, loc} {}

  // Of a signed number of at most 32 bits, so that nothing here leaves 64. None: not known.
  std::optional<Bounds> of(Value value) {
    if (widthOf(value) > 32 || widthOf(value) == 1 || ++asked > mostAsked)
      return std::nullopt;
    if (!isa<RankedTensorType>(value.getType())) {
      Value wide = emit.widen(value, 64);
      return Bounds{wide, wide};
    }
    Operation *op = value.getDefiningOp();
    if (!op)
      return std::nullopt;
    DenseIntElementsAttr elements;
    if (matchPattern(value, m_Constant(&elements)) && elements.isSplat()) {
      Value number = emit.number(elements.getSplatValue<APInt>().getSExtValue());
      return Bounds{number, number};
    }
    if (auto arange = dyn_cast<tile::ArangeOp>(op)) {
      int64_t first = static_cast<int64_t>(arange.getStart()), count = tile::shapeOf(value.getType()).front();
      return Bounds{emit.number(first), emit.number(first + count - 1)};
    }
    if (isa<tile::SplatOp, tile::BroadcastOp, tile::ExpandDimsOp, tile::ReshapeOp, tile::PermuteOp, arith::ExtSIOp>(op))
      return of(op->getOperand(0));
    if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
      return std::nullopt;
    StringRef name = isa<arith::AddIOp>(op) ? "add" : isa<arith::SubIOp>(op) ? "sub" : "mul";
    std::optional<Bounds> left = of(op->getOperand(0)), right = left ? of(op->getOperand(1)) : std::nullopt;
    if (!right)
      return std::nullopt;
    // Where an element may wrap, it may be anything.
    Bounds result = apply(name, *left, *right);
    Value wraps = leaves(result, widthOf(value));
    auto [least, most] = limits(widthOf(value));
    return Bounds{emit.builder.createOrFold<arith::SelectOp>(emit.loc, wraps, least, result.low),
                  emit.builder.createOrFold<arith::SelectOp>(emit.loc, wraps, most, result.high)};
  }

  // Of sums, differences and products on whole numbers.
  Bounds apply(StringRef name, const Bounds &left, const Bounds &right) {
    if (name == "add")
      return {emit.binary<arith::AddIOp>(left.low, right.low), emit.binary<arith::AddIOp>(left.high, right.high)};
    if (name == "sub")
      return {emit.binary<arith::SubIOp>(left.low, right.high), emit.binary<arith::SubIOp>(left.high, right.low)};
    Value low, high;
    for (Value a : {left.low, left.high})
      for (Value b : {right.low, right.high}) {
        Value product = emit.binary<arith::MulIOp>(a, b);
        low = low ? emit.binary<arith::MinSIOp>(low, product) : product;
        high = high ? emit.binary<arith::MaxSIOp>(high, product) : product;
      }
    return {low, high};
  }

  // Whether they reach beyond numbers of so many bits: an i1.
  Value leaves(const Bounds &bounds, unsigned width) {
    auto [least, most] = limits(width);
    return emit.binary<arith::OrIOp>(emit.compare(arith::CmpIPredicate::slt, bounds.low, least),
                                     emit.compare(arith::CmpIPredicate::sgt, bounds.high, most));
  }

private:
  std::pair<Value, Value> limits(unsigned width) {
    int64_t most = (int64_t(1) << (width - 1)) - 1;
    return {emit.number(-most - 1), emit.number(most)};
  }

  Arithmetic emit;
  static constexpr int mostAsked = 64; // a value may be met on many ways
  int asked = 0;
};

// Where a sum, difference or product may not be what it is on whole numbers, element by element.
Value mayOverflow(Arithmetic emit, StringRef name, Value a, Value b) {
  unsigned width = widthOf(a);
  Value zero = emit.constant(a.getType(), 0);
  auto isNegative = [&](Value value) { return emit.compare(arith::CmpIPredicate::slt, value, zero); };
  // The sign of the result is not that of both operands of a sum; of a difference, not that of the first where theirs
  // differ.
  if (name != "mul") {
    bool isSum = name == "add";
    Value result = isSum ? emit.binary<arith::AddIOp>(a, b) : emit.binary<arith::SubIOp>(a, b);
    Value first = emit.binary<arith::XOrIOp>(a, result),
          second = emit.binary<arith::XOrIOp>(isSum ? b : a, isSum ? result : b);
    return isNegative(emit.binary<arith::AndIOp>(first, second));
  }
  if (width <= 32) {
    Value wide = emit.binary<arith::MulIOp>(emit.widen(a, 2 * width), emit.widen(b, 2 * width));
    Value narrow = emit.widen(emit.binary<arith::MulIOp>(a, b), 2 * width);
    return emit.compare(arith::CmpIPredicate::ne, wide, narrow);
  }
  // Factors of half the width each are never too large.
  Value half = emit.constant(a.getType(), int64_t(1) << (width / 2 - 1)),
        whole = emit.constant(a.getType(), int64_t(1) << (width / 2));
  auto isLarge = [&](Value value) {
    return emit.compare(arith::CmpIPredicate::uge, emit.binary<arith::AddIOp>(value, half), whole);
  };
  return emit.binary<arith::OrIOp>(isLarge(a), isLarge(b));
}

void tellOverflow(tile::TellOp told) {
  StringRef name = told.getSubject().split(' ').first;
  Value a = told->getOperands()[0], b = told->getOperands()[1];
  OpBuilder builder(told);
  BoundsOfTiles bounds(builder, told.getLoc());
  std::optional<Bounds> left = isa<RankedTensorType>(a.getType()) ? bounds.of(a) : std::nullopt;
  std::optional<Bounds> right = left ? bounds.of(b) : std::nullopt;
  Value when = right ? bounds.leaves(bounds.apply(name, *left, *right), widthOf(a))
                     : mayOverflow({builder, told.getLoc()}, name, a, b);
  if (!matchPattern(when, m_Zero()))
    tile::tellWhen(builder, told.getLoc(), told.getKind(), told.getSubject(), {a, b}, when, /*isSigned=*/true);
  told.erase();
}

// Whether a reduction or a scan combines two numbers by their sum.
bool isSum(Operation *op) {
  if (!op || !isa<tile::ReduceOp, tile::ScanOp>(op) || op->getNumOperands() != 1)
    return false;
  Block &block = op->getRegion(0).front();
  auto sum = dyn_cast<arith::AddIOp>(block.front());
  return sum && block.getTerminator()->getOperand(0) == sum && sum.getLhs() != sum.getRhs() &&
         llvm::all_of(sum->getOperands(), [](Value value) { return isa<BlockArgument>(value); });
}

// The same sums in 64 bits tell where the narrow ones are not right. Sums of 64 bits are left alone.
void tellSum(tile::TellOp told) {
  Value input = told->getOperands()[0], result = told->getOperands()[1];
  Operation *op = result.getDefiningOp();
  if (unsigned width = widthOf(input); isSum(op) && width > 1 && width <= 32) {
    OpBuilder builder(told);
    Arithmetic emit{builder, told.getLoc()};
    Value wideInput = emit.widen(input, 64);
    Type element = builder.getI64Type(), type = result.getType();
    if (auto tile = dyn_cast<RankedTensorType>(type))
      type = tile.clone(element);
    else
      type = element;
    Operation *wide;
    if (auto scan = dyn_cast<tile::ScanOp>(op))
      wide = tile::ScanOp::create(builder, op->getLoc(), TypeRange{type}, ValueRange{wideInput}, scan.getAxis(),
                                  scan.getReverse());
    else
      wide = tile::ReduceOp::create(builder, op->getLoc(), TypeRange{type}, ValueRange{wideInput},
                                    cast<tile::ReduceOp>(op).getAxis());
    {
      OpBuilder::InsertionGuard guard(builder);
      Block *block = builder.createBlock(&wide->getRegion(0), {}, {element, element}, {op->getLoc(), op->getLoc()});
      Value sum = arith::AddIOp::create(builder, op->getLoc(), block->getArgument(0), block->getArgument(1));
      tile::YieldOp::create(builder, op->getLoc(), ValueRange{sum});
    }
    Value when = emit.compare(arith::CmpIPredicate::ne, emit.widen(result, 64), wide->getResult(0));
    tile::tellWhen(builder, told.getLoc(), told.getKind(), told.getSubject(), {result, wide->getResult(0)}, when,
                   /*isSigned=*/true);
  }
  told.erase();
}

void tellDivision(Operation *op, bool isSigned) {
  Value a = op->getOperand(0), b = op->getOperand(1);
  APInt constant;
  if (matchPattern(b, m_ConstantInt(&constant)) && !constant.isZero() && !(isSigned && constant.isAllOnes()))
    return;
  OpBuilder builder(op);
  Arithmetic emit{builder, op->getLoc()};
  Value when = emit.compare(arith::CmpIPredicate::eq, b, emit.constant(b.getType(), 0));
  if (isSigned) {
    Value isLeast =
        emit.compare(arith::CmpIPredicate::eq, a, emit.constant(a.getType(), APInt::getSignedMinValue(widthOf(a))));
    Value isMinusOne = emit.compare(arith::CmpIPredicate::eq, b, emit.constant(b.getType(), -1));
    when = emit.binary<arith::OrIOp>(when, emit.binary<arith::AndIOp>(isLeast, isMinusOne));
  }
  StringRef name = isa<arith::RemSIOp, arith::RemUIOp>(op) ? "mod" : "div";
  tile::tellWhen(builder, op->getLoc(), ToldKind::Arithmetic, name.str() + " " + typeName(a, isSigned), {a, b}, when,
                 isSigned);
}

void tellShift(Operation *op) {
  Value a = op->getOperand(0), b = op->getOperand(1);
  APInt constant;
  if (matchPattern(b, m_ConstantInt(&constant)) && constant.ult(constant.getBitWidth()))
    return;
  bool isSigned = isa<arith::ShRSIOp>(op);
  OpBuilder builder(op);
  Arithmetic emit{builder, op->getLoc()};
  Value when = emit.compare(arith::CmpIPredicate::uge, b, emit.constant(b.getType(), widthOf(b)));
  std::string name = isa<arith::ShLIOp>(op) ? "shl " : "shr ";
  tile::tellWhen(builder, op->getLoc(), ToldKind::Arithmetic, name + typeName(a, isSigned), {a, b}, when, isSigned);
}

struct WatchArithmetic : PassWrapper<WatchArithmetic, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(WatchArithmetic)
  StringRef getArgument() const override { return "watch-arithmetic"; }
  StringRef getDescription() const override { return "Tell the operands of integer arithmetic that can go wrong"; }
  void getDependentDialects(DialectRegistry &registry) const override { registry.insert<arith::ArithDialect>(); }
  void runOnOperation() override {
    SmallVector<Operation *> found;
    // Who watches is told; the front end's own assertion would end the launch before.
    getOperation().walk([](tile::AssertOp assertion) {
      if (assertion.getMessage().contains(" overflow detected for operation "))
        assertion.erase();
    });
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<tile::MapOp, tile::ReduceOp, tile::ScanOp>(op)) { // functions of single elements
        op->walk([](tile::TellOp told) { told.erase(); });
        return WalkResult::skip();
      }
      found.push_back(op);
      return WalkResult::advance();
    });
    for (Operation *op : found) {
      if (auto told = dyn_cast<tile::TellOp>(op); told && told.getKind() == ToldKind::Arithmetic && !tile::maskOf(told))
        told.getSubject().starts_with("sum ") ? tellSum(told) : tellOverflow(told);
      else if (isa<arith::DivSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp, arith::RemSIOp>(op))
        tellDivision(op, /*isSigned=*/true);
      else if (isa<arith::DivUIOp, arith::CeilDivUIOp, arith::RemUIOp>(op))
        tellDivision(op, /*isSigned=*/false);
      else if (isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op))
        tellShift(op);
    }
  }
};

} // namespace

std::unique_ptr<Pass> nacre::createWatchArithmetic() { return std::make_unique<WatchArithmetic>(); }
void nacre::registerWatchArithmetic() { PassRegistration<WatchArithmetic>(); }
