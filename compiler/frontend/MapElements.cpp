// tl.map_elementwise. A function of single elements is built on whole tiles where it can be: a branch then becomes a
// select, and the loops over the elements are the target's own, vectors included. Where each element has to go its own
// way (a loop that runs as long as the element says, a store inside a branch) the function is built once on scalars, as
// the region of a tile.map.
#include "compiler/frontend/Generator.h"
#include "compiler/ir/tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/ScopeExit.h"

namespace nacre {

Object Generator::callElementwise(const Object &function, llvm::ArrayRef<Object> arguments, int pack) {
  if (!arguments.front().value().type().isBlock())
    return call(function, arguments);
  if (pack == 1)
    if (std::optional<Object> result = callOnTiles(function, arguments))
      return *result;
  return mapElements(function, arguments, pack);
}

// What means the same on a whole tile as on one element after the other.
static bool isSameOnTiles(mlir::Operation &op) {
  return llvm::isa<tile::AssertOp, tile::LoadOp>(op) || mlir::isMemoryEffectFree(&op);
}

std::optional<Object> Generator::attemptCall(mlir::Block &block, const Object &function,
                                             llvm::ArrayRef<Object> arguments) {
  SourceLocation place = irBuilder.location();
  int depth = regionDepth;
  ++attempts;
  auto leave = llvm::scope_exit([&] {
    --attempts;
    regionDepth = depth;
    irBuilder.setLocation(place);
  });
  std::optional<Object> result;
  try {
    at(&block, [&] { result = call(function, arguments); });
  } catch (const NeedsElements &) {
  } catch (const CompileError &) {
  }
  return result;
}

// None when the function cannot be built so; an error of it is told by its scalar form.
std::optional<Object> Generator::callOnTiles(const Object &function, llvm::ArrayRef<Object> arguments) {
  mlir::Block block;
  size_t printed = heldPrints.size();
  std::optional<Object> result;
  {
    ++elementwiseCalls;
    auto leave = llvm::scope_exit([&] { --elementwiseCalls; });
    result = attemptCall(block, function, arguments);
  }
  if (result && llvm::all_of(block, isSameOnTiles)) {
    mlir::OpBuilder &ops = irBuilder.ops();
    ops.getInsertionBlock()->getOperations().splice(ops.getInsertionPoint(), block.getOperations());
    if (attempts == 0)
      flushPrints();
    return result;
  }
  heldPrints.resize(printed);
  return std::nullopt;
}

// A single operation on two different operands is one on the two arguments: there are no other values in the block.
std::optional<BinaryOp> Generator::sumOrProduct(const Object &function, Type type) {
  mlir::Block block;
  size_t printed = heldPrints.size();
  std::vector<Object> arguments;
  for (int i = 0; i < 2; ++i)
    arguments.push_back(IRBuilder::wrap(type, block.addArgument(irBuilder.irType(type), irBuilder.irLocation())));
  std::optional<Object> result = attemptCall(block, function, arguments);
  mlir::Operation *op = llvm::hasSingleElement(block) ? &block.front() : nullptr;
  bool isSum = llvm::isa_and_present<mlir::arith::AddFOp>(op),
       isProduct = llvm::isa_and_present<mlir::arith::MulFOp>(op);
  if (!(isSum || isProduct) || op->getOperand(0) == op->getOperand(1) || !result || !result->isValue() ||
      IRBuilder::irValue(result->value()) != op->getResult(0)) {
    heldPrints.resize(printed); // it will be built, and print, where it is used
    return std::nullopt;
  }
  if (attempts == 0)
    flushPrints();
  return isSum ? BinaryOp::AddF : BinaryOp::MulF;
}

Object Generator::mapElements(const Object &function, llvm::ArrayRef<Object> arguments, int pack) {
  SourceLocation place = irBuilder.location();
  mlir::Location location = irBuilder.irLocation();
  auto block = std::make_unique<mlir::Block>();
  std::vector<Object> elements;
  llvm::SmallVector<mlir::Value> operands;
  for (const Object &argument : arguments) {
    operands.push_back(IRBuilder::irValue(argument.value()));
    Type type = argument.value().type().scalarType();
    for (int i = 0; i < pack; ++i)
      elements.push_back(IRBuilder::wrap(type, block->addArgument(irBuilder.irType(type), location)));
  }
  int outer = std::exchange(elementwiseCalls, 0);
  auto leave = llvm::scope_exit([&] { elementwiseCalls = outer; });
  Object result;
  llvm::SmallVector<Value> values;
  at(block.get(), [&] {
    result = call(function, elements);
    irBuilder.setLocation(place);
    std::vector<Object> items = result.isTuple() ? result.tuple().items : std::vector<Object>{result};
    checkPackedResults(*this, items.size(), pack);
    llvm::SmallVector<mlir::Value> yields;
    for (const Object &item : items) {
      if (!item.isNumber() && !(item.isValue() && !item.value().type().isBlock()))
        fail(Diagnostic::Kind::Type, "the function must return numbers, not " + item.typeName());
      values.push_back(toValue(*this, item));
      yields.push_back(IRBuilder::irValue(values.back()));
    }
    tile::YieldOp::create(irBuilder.ops(), location, yields);
  });
  Shape shape = arguments.front().value().type().shape();
  std::vector<Object> results;
  llvm::SmallVector<Type> types;
  llvm::SmallVector<mlir::Type> irTypes;
  for (size_t i = 0; i < values.size(); ++i) {
    if (i % static_cast<size_t>(pack) == 0) {
      types.push_back(values[i].type().withShape(shape));
      irTypes.push_back(irBuilder.irType(types.back()));
    } else if (values[i].type() != types.back().scalarType()) {
      fail(Diagnostic::Kind::Type, "the function returns " + Object(values[i]).typeName() + " for one element and " +
                                       Object(values[i - 1]).typeName() + " for another");
    }
  }
  auto op = tile::MapOp::create(irBuilder.ops(), location, irTypes, operands, static_cast<uint32_t>(pack));
  op.getBody().push_back(block.release());
  for (auto [type, value] : llvm::zip(types, op.getResults()))
    results.push_back(IRBuilder::wrap(type, value));
  return result.isTuple() ? Object::makeTuple(std::move(results)) : results.front();
}

} // namespace nacre
