// See WatchArithmetic.h.
#include "compiler/passes/tile/WatchArithmetic.h"
#include "compiler/ir/tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace nacre;

namespace {

void tell(Operation *before, const std::string &name, Value lhs, Value rhs, bool isSigned) {
  OpBuilder builder(before);
  tile::TellOp::create(builder, before->getLoc(), "arithmetic", name, ValueRange{lhs, rhs},
                       ArrayRef<bool>{isSigned, isSigned});
}

// "int32", "uint8"
std::string typeName(Value value, bool isSigned) {
  return (isSigned ? "int" : "uint") + std::to_string(getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth());
}

void tellOperands(Operation *op, StringRef name, bool isSigned) {
  Value lhs = op->getOperand(0), rhs = op->getOperand(1);
  tell(op, name.str() + " " + typeName(lhs, isSigned), lhs, rhs, isSigned);
}

// The front end's assertion that an operation, repeated in 64 bits, gives the same.
void replaceOverflowCheck(tile::AssertOp assertion) {
  auto [type, rest] = assertion.getMessage().split(" overflow detected for operation ");
  auto comparison = assertion.getCondition().getDefiningOp<arith::CmpIOp>();
  Operation *wide = comparison ? comparison.getLhs().getDefiningOp() : nullptr;
  if (rest.empty() || !isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp>(wide))
    return;
  tell(assertion, (rest + " " + type).str(), wide->getOperand(0), wide->getOperand(1), /*isSigned=*/true);
  assertion.erase();
}

struct WatchArithmetic : PassWrapper<WatchArithmetic, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(WatchArithmetic)
  StringRef getArgument() const override { return "watch-arithmetic"; }
  StringRef getDescription() const override { return "Tell the operands of integer arithmetic that can go wrong"; }
  void runOnOperation() override {
    getOperation().walk<WalkOrder::PreOrder>([](Operation *op) {
      if (isa<tile::MapOp, tile::ReduceOp, tile::ScanOp>(op))
        return WalkResult::skip(); // functions of single elements
      if (auto assertion = dyn_cast<tile::AssertOp>(op)) {
        replaceOverflowCheck(assertion);
        return WalkResult::skip();
      }
      bool isSigned = isa<arith::DivSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp, arith::RemSIOp>(op);
      APInt constant;
      if (isSigned || isa<arith::DivUIOp, arith::CeilDivUIOp, arith::RemUIOp>(op)) {
        bool isFine = matchPattern(op->getOperand(1), m_ConstantInt(&constant)) && !constant.isZero() &&
                      !(isSigned && constant.isAllOnes());
        if (!isFine)
          tellOperands(op, isa<arith::RemSIOp, arith::RemUIOp>(op) ? "mod" : "div", isSigned);
      } else if (isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op)) {
        bool isFine = matchPattern(op->getOperand(1), m_ConstantInt(&constant)) && constant.ult(constant.getBitWidth());
        if (!isFine)
          tellOperands(op, isa<arith::ShLIOp>(op) ? "shl" : "shr", isa<arith::ShRSIOp>(op));
      }
      return WalkResult::advance();
    });
  }
};

} // namespace

std::unique_ptr<Pass> nacre::createWatchArithmetic() { return std::make_unique<WatchArithmetic>(); }
void nacre::registerWatchArithmetic() { PassRegistration<WatchArithmetic>(); }
