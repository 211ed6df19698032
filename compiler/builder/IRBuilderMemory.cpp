// Memory, dot, reductions, debugging and hints as tile operations.
#include "compiler/builder/IRBuilder.h"
#include "compiler/ir/tile/Tile.h"

namespace nacre {

// The enumerations of the language and of the dialect list the same cases in the same order.
static_assert(static_cast<int>(CacheModifier::WT) == static_cast<int>(tile::CacheModifier::WT));
static_assert(static_cast<int>(EvictionPolicy::Last) == static_cast<int>(tile::EvictionPolicy::Last));
static_assert(static_cast<int>(AtomicOp::Exchange) == static_cast<int>(tile::AtomicKind::Exchange));
static_assert(static_cast<int>(MemoryOrder::AcquireRelease) == static_cast<int>(tile::MemoryOrder::AcquireRelease));
static_assert(static_cast<int>(MemoryScope::System) == static_cast<int>(tile::MemoryScope::System));
static_assert(static_cast<int>(DotPrecision::BF16x6) == static_cast<int>(tile::DotPrecision::BF16x6));
static_assert(static_cast<int>(Rounding::TowardZero) == static_cast<int>(tile::Rounding::TowardZero));
static_assert(static_cast<int>(HintKind::Constancy) == static_cast<int>(tile::HintKind::Constancy));
static_assert(static_cast<int>(Padding::Nan) == static_cast<int>(tile::Padding::Nan));
static_assert(static_cast<int>(ScaledFormat::FP16) == static_cast<int>(tile::ScaledFormat::FP16));

static mlir::Value optional(const Value &value) { return value ? IRBuilder::irValue(value) : mlir::Value(); }

static llvm::SmallVector<mlir::Value> irValues(llvm::ArrayRef<Value> values) {
  return llvm::map_to_vector(values, [](const Value &value) { return IRBuilder::irValue(value); });
}

Value IRBuilder::addPointer(Value pointer, Value offset) {
  return wrap(pointer.type(), operations.createOrFold<tile::AddPtrOp>(irLocation(), irValue(pointer), irValue(offset)));
}

Value IRBuilder::load(Value pointer, Value mask, Value other, const LoadOptions &options) {
  Type type = pointer.type().withScalar(pointer.type().scalarType().element());
  auto op = tile::LoadOp::create(operations, irLocation(), irValue(pointer), optional(mask), optional(other),
                                 static_cast<tile::CacheModifier>(options.cache),
                                 static_cast<tile::EvictionPolicy>(options.eviction), options.isVolatile);
  return wrap(type, op.getResult());
}

void IRBuilder::store(Value pointer, Value value, Value mask, const StoreOptions &options) {
  tile::StoreOp::create(operations, irLocation(), irValue(pointer), irValue(value), optional(mask),
                        static_cast<tile::CacheModifier>(options.cache),
                        static_cast<tile::EvictionPolicy>(options.eviction));
}

Value IRBuilder::atomic(AtomicOp op, Value pointer, Value value, Value mask, MemoryOrder order, MemoryScope scope) {
  auto result = tile::AtomicRmwOp::create(
      operations, irLocation(), irType(value.type()), static_cast<tile::AtomicKind>(op), irValue(pointer),
      irValue(value), optional(mask), static_cast<tile::MemoryOrder>(order), static_cast<tile::MemoryScope>(scope));
  return wrap(value.type(), result.getResult());
}

Value IRBuilder::atomicCas(Value pointer, Value expected, Value desired, MemoryOrder order, MemoryScope scope) {
  auto result = tile::AtomicCasOp::create(operations, irLocation(), irType(expected.type()), irValue(pointer),
                                          irValue(expected), irValue(desired), static_cast<tile::MemoryOrder>(order),
                                          static_cast<tile::MemoryScope>(scope));
  return wrap(expected.type(), result.getResult());
}

// ---- Tensor descriptors

Value IRBuilder::makeDescriptor(const BlockArray &array, Padding padding) {
  Type type = Type::descriptor(Type::block(array.base.type().element(), array.blockShape));
  auto op = tile::MakeDescriptorOp::create(operations, irLocation(), irType(type), irValue(array.base),
                                           irValues(array.shape), irValues(llvm::ArrayRef(array.strides).drop_back()),
                                           static_cast<tile::Padding>(padding));
  return wrap(type, op.getResult());
}

Value IRBuilder::loadDescriptor(const Descriptor &descriptor, llvm::ArrayRef<Value> offsets,
                                const LoadOptions &options) {
  Type type = descriptor.blockType();
  auto op = tile::DescriptorLoadOp::create(operations, irLocation(), irType(type), irValue(descriptor.handle),
                                           irValues(offsets), static_cast<tile::Padding>(descriptor.padding),
                                           static_cast<tile::CacheModifier>(options.cache),
                                           static_cast<tile::EvictionPolicy>(options.eviction));
  return wrap(type, op.getResult());
}

void IRBuilder::storeDescriptor(const Descriptor &descriptor, llvm::ArrayRef<Value> offsets, Value value) {
  tile::DescriptorStoreOp::create(operations, irLocation(), irValue(descriptor.handle), irValues(offsets),
                                  irValue(value));
}

void IRBuilder::reduceDescriptor(AtomicOp op, const Descriptor &descriptor, llvm::ArrayRef<Value> offsets,
                                 Value value) {
  tile::DescriptorReduceOp::create(operations, irLocation(), static_cast<tile::AtomicKind>(op),
                                   irValue(descriptor.handle), irValues(offsets), irValue(value));
}

Value IRBuilder::gatherDescriptor(const Descriptor &descriptor, Value rows, Value column, const LoadOptions &options) {
  Type type =
      Type::block(descriptor.blockType().element(), {rows.type().shape()[0], descriptor.blockType().shape()[1]});
  auto op = tile::DescriptorGatherOp::create(
      operations, irLocation(), irType(type), irValue(descriptor.handle), irValue(rows), irValue(column),
      static_cast<tile::Padding>(descriptor.padding), static_cast<tile::CacheModifier>(options.cache),
      static_cast<tile::EvictionPolicy>(options.eviction));
  return wrap(type, op.getResult());
}

void IRBuilder::scatterDescriptor(const Descriptor &descriptor, Value rows, Value column, Value value) {
  tile::DescriptorScatterOp::create(operations, irLocation(), irValue(descriptor.handle), irValue(rows),
                                    irValue(column), irValue(value));
}

// ---- Linear algebra

Value IRBuilder::dotScaled(const ScaledOperand &a, const ScaledOperand &b, Value accumulator, bool ignoresNan) {
  auto op = tile::DotScaledOp::create(
      operations, irLocation(), irType(accumulator.type()), static_cast<tile::ScaledFormat>(a.format), irValue(a.value),
      static_cast<tile::ScaledFormat>(b.format), irValue(b.value), irValue(accumulator), optional(a.scale),
      optional(b.scale), a.isPackedAlongK, b.isPackedAlongK, ignoresNan);
  return wrap(accumulator.type(), op.getResult());
}

Value IRBuilder::dot(Value a, Value b, Value accumulator, const DotOptions &options) {
  mlir::IntegerAttr limit;
  if (options.maxImpreciseAcc)
    limit = operations.getI32IntegerAttr(*options.maxImpreciseAcc);
  auto result = tile::DotOp::create(operations, irLocation(), irType(accumulator.type()), irValue(a), irValue(b),
                                    irValue(accumulator), static_cast<tile::DotPrecision>(options.precision), limit);
  return wrap(accumulator.type(), result.getResult());
}

// ---- Reductions and scans

void IRBuilder::fillCombine(mlir::Region &region, llvm::ArrayRef<Value> operands, const Combine &combine) {
  SourceLocation place = location();
  mlir::OpBuilder::InsertionGuard guard(operations);
  mlir::Block *block = operations.createBlock(&region);
  Values sides[2];
  for (Values &side : sides)
    for (const Value &operand : operands) {
      Type scalar = operand.type().scalarType();
      side.push_back(wrap(scalar, block->addArgument(irType(scalar), irLocation())));
    }
  Values combined = combine(sides[0], sides[1]);
  setLocation(place);
  tile::YieldOp::create(operations, irLocation(), irValues(combined));
}

Values IRBuilder::reduce(llvm::ArrayRef<Value> operands, int axis, const Combine &combine) {
  llvm::SmallVector<int64_t> shape(operands.front().type().shape());
  shape.erase(shape.begin() + axis);
  llvm::SmallVector<mlir::Type> types;
  for (const Value &operand : operands)
    types.push_back(irType(operand.type().withShape(shape)));
  auto op = tile::ReduceOp::create(operations, irLocation(), types, irValues(operands), static_cast<uint32_t>(axis));
  fillCombine(op.getCombine(), operands, combine);
  Values results;
  for (auto [operand, result] : llvm::zip(operands, op.getResults()))
    results.push_back(wrap(operand.type().withShape(shape), result));
  return results;
}

Values IRBuilder::scan(llvm::ArrayRef<Value> operands, int axis, bool reverse, const Combine &combine) {
  llvm::SmallVector<mlir::Type> types;
  for (const Value &operand : operands)
    types.push_back(irType(operand.type()));
  auto op =
      tile::ScanOp::create(operations, irLocation(), types, irValues(operands), static_cast<uint32_t>(axis), reverse);
  fillCombine(op.getCombine(), operands, combine);
  Values results;
  for (auto [operand, result] : llvm::zip(operands, op.getResults()))
    results.push_back(wrap(operand.type(), result));
  return results;
}

Value IRBuilder::histogram(Value value, int64_t bins, Value mask) {
  Type type = Type::block(int32(), {bins});
  auto op = tile::HistogramOp::create(operations, irLocation(), irType(type), irValue(value), optional(mask));
  return wrap(type, op.getResult());
}

// ---- Debugging and hints

void IRBuilder::devicePrint(llvm::StringRef prefix, llvm::ArrayRef<Value> values, bool hex) {
  llvm::SmallVector<bool> isSigned;
  for (const Value &value : values)
    isSigned.push_back(value.type().isSigned());
  tile::PrintOp::create(operations, irLocation(), prefix, irValues(values), hex, isSigned);
}

void IRBuilder::deviceAssert(Value condition, llvm::StringRef message) {
  tile::AssertOp::create(operations, irLocation(), irValue(condition), message);
}

void IRBuilder::barrier() { tile::BarrierOp::create(operations, irLocation()); }

void IRBuilder::assume(Value condition) { tile::AssumeOp::create(operations, irLocation(), irValue(condition)); }

Value IRBuilder::hint(HintKind kind, Value value, llvm::ArrayRef<int64_t> values) {
  auto op = tile::HintOp::create(operations, irLocation(), irType(value.type()), irValue(value),
                                 static_cast<tile::HintKind>(kind), values);
  return wrap(value.type(), op.getResult());
}

Values IRBuilder::inlineAssembly(llvm::StringRef text, llvm::StringRef constraints, llvm::ArrayRef<Value> operands,
                                 llvm::ArrayRef<Type> results, bool isPure, int pack) {
  llvm::SmallVector<mlir::Type> types;
  for (Type type : results)
    types.push_back(irType(type));
  auto op = tile::InlineAsmOp::create(operations, irLocation(), types, text, constraints, irValues(operands), isPure,
                                      static_cast<uint32_t>(pack));
  Values wrapped;
  for (auto [type, result] : llvm::zip(results, op.getResults()))
    wrapped.push_back(wrap(type, result));
  return wrapped;
}

Value IRBuilder::externalCall(const ExternalFunction &function, llvm::ArrayRef<Value> operands, Type result,
                              bool isPure) {
  llvm::SmallVector<bool> isSigned;
  for (const Value &operand : operands)
    isSigned.push_back(operand.type().isSigned());
  isSigned.push_back(result.isSigned());
  auto op = tile::ExternalCallOp::create(operations, irLocation(), irType(result), function.library, function.digest,
                                         function.symbol, irValues(operands), isPure, isSigned);
  return wrap(result, op.getResult());
}

} // namespace nacre
