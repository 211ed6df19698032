// Code that takes elements rather than tiles: inline assembly, functions of a user's library, functions of the language
// applied to single elements. A pack is so many neighbours of the last axis, which lie in registers of one thread.
#include "compiler/language/meaning/ExternalFunction.h"
#include "compiler/passes/gpu/Lowering.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

// The registers of each pack, in the order of elements.
static std::optional<SmallVector<SmallVector<uint32_t>>> packsOf(Type type, int64_t pack) {
  if (!isa<RankedTensorType>(type))
    return SmallVector<SmallVector<uint32_t>>{SmallVector<uint32_t>(pack, 0)};
  const LinearLayout &layout = layoutOf(type);
  SmallVector<SmallVector<uint32_t>> packs;
  uint32_t count = layout.count(Place::Register);
  BitMatrix byRegister(layout.outputBits(), layout.basesOf(Place::Register));
  for (uint32_t reg = 0; reg < count; ++reg) {
    uint32_t packed = layout.apply(Position{.reg = reg});
    if (packed % pack != 0)
      continue;
    SmallVector<uint32_t> &group = packs.emplace_back();
    for (int64_t i = 0; i < pack; ++i) {
      std::optional<uint32_t> member = byRegister.solve(packed + i);
      if (!member)
        return std::nullopt;
      group.push_back(*member);
    }
  }
  return packs;
}

using PackBody = llvm::function_ref<SmallVector<Value>(ArrayRef<Value>)>;

// Through shared memory: packs are dealt out to the threads, whatever layouts operands and results have. Each runs
// once. The last element fills the last pack up.
static LogicalResult forEachPackInMemory(Lowering &lowering, Operation *op, int64_t pack, PackBody body) {
  simt::Builder &b = lowering.b;
  SmallVector<Value> sources, targets;
  Value base = lowering.scratch(op);
  int64_t offset = 0, count = 1;
  auto part = [&](Value value) -> Value {
    auto tensor = dyn_cast<RankedTensorType>(value.getType());
    if (!tensor)
      return {};
    Value place = offset ? lowering.byteOffset(base, lowering.i32(offset)) : base;
    count = tensor.getNumElements();
    offset += llvm::alignTo(count * Lowering::byteSize(tensor.getElementType()), 16);
    return place;
  };
  for (Value operand : op->getOperands())
    sources.push_back(part(operand));
  for (Value result : op->getResults())
    targets.push_back(part(result));
  lowering.barrierBefore(op);
  for (auto [operand, source] : llvm::zip(op->getOperands(), sources))
    if (source)
      lowering.writeTile(operand, source);
  lowering.barrier();
  int64_t packs = (count + pack - 1) / pack;
  // Each pack is run once: by a thread of the cluster where the blocks share the memory.
  bool isAlone = !lowering.acrossBlocks;
  auto loop = scf::ForOp::create(b, isAlone ? lowering.threadId() : lowering.threadNumber(), lowering.i32(packs),
                                 lowering.i32(lowering.block.threads() * (isAlone ? 1 : lowering.block.ctas)));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(loop.getBody()->getTerminator());
    Value first = LLVM::MulOp::create(b, loop.getInductionVar(), lowering.i32(pack));
    SmallVector<Value> indices;
    for (int64_t i = 0; i < pack; ++i) {
      Value index = LLVM::AddOp::create(b, first, lowering.i32(i));
      if (count % pack != 0)
        index = LLVM::SMinOp::create(b, index, lowering.i32(count - 1));
      indices.push_back(index);
    }
    SmallVector<Value> arguments;
    for (auto [operand, source] : llvm::zip(op->getOperands(), sources))
      for (Value index : indices)
        arguments.push_back(source
                                ? lowering.loadShared(source, getElementTypeOrSelf(operand.getType()), index, Value())
                                : lowering.scalar(operand));
    ++lowering.elements;
    SmallVector<Value> values = body(arguments);
    --lowering.elements;
    if (values.size() != static_cast<size_t>(op->getNumResults() * pack))
      return failure();
    // From the back, so that the last element's own result is written last.
    for (auto [number, result, target] : llvm::enumerate(op->getResults(), targets))
      for (int64_t i = pack - 1; i >= 0; --i)
        lowering.storeShared(values[number * pack + i], target, getElementTypeOrSelf(result.getType()), indices[i],
                             Value());
  }
  lowering.barrier();
  for (auto [result, target] : llvm::zip(op->getResults(), targets))
    lowering.readTile(result, target);
  return success();
}

// Runs `body` on each pack: `pack` values of each operand in turn, and as many of each result.
static LogicalResult forEachPack(Lowering &lowering, Operation *op, int64_t pack, PackBody body) {
  if (isa<tile::MapOp, tile::InlineAsmOp>(op) && !runsOnRegisters(op))
    return forEachPackInMemory(lowering, op, pack, body);
  Type shape;
  for (Value value : llvm::concat<Value>(SmallVector<Value>(op->getOperands()), SmallVector<Value>(op->getResults())))
    if (!shape || isa<RankedTensorType>(value.getType()))
      shape = value.getType();
  auto packs = packsOf(shape, pack);
  if (!packs)
    return op->emitError("the elements of a pack lie in different threads");
  SmallVector<SmallVector<Value>> results;
  for (Value result : op->getResults())
    results.emplace_back(Lowering::registerCount(result.getType()));
  for (const SmallVector<uint32_t> &group : *packs) {
    SmallVector<Value> arguments;
    for (Value operand : op->getOperands())
      for (uint32_t reg : group) {
        ArrayRef<Value> all = lowering.registers(operand);
        arguments.push_back(isa<RankedTensorType>(operand.getType()) ? all[reg] : all.front());
      }
    ++lowering.elements;
    SmallVector<Value> values = body(arguments);
    --lowering.elements;
    if (values.size() != static_cast<size_t>(op->getNumResults() * pack))
      return failure();
    for (auto [number, registers] : llvm::enumerate(results))
      for (int64_t i = pack - 1; i >= 0; --i)
        registers[group[i]] = values[number * pack + i];
  }
  for (auto [result, registers] : llvm::zip(op->getResults(), results))
    lowering.define(result, registers);
  return success();
}

LogicalResult Lowering::lowerInlineAsm(tile::InlineAsmOp op) {
  int64_t pack = op.getPack();
  auto elementOf = [](Value value) { return getElementTypeOrSelf(value.getType()); };
  // Elements under 32 bits lie several to a register; a word's type is the float's own where it is one.
  auto registerWords = [&](Type element) -> std::pair<Type, int64_t> {
    int64_t size = byteSize(element);
    if (size >= 4)
      return {registerType(element), pack};
    return {b.getI32Type(), (pack * size + 3) / 4};
  };
  return forEachPack(*this, op, pack, [&](ArrayRef<Value> values) {
    SmallVector<Value> operands;
    for (auto [number, operand] : llvm::enumerate(op.getOperands())) {
      Type element = elementOf(operand);
      ArrayRef<Value> elements = values.slice(number * pack, pack);
      if (byteSize(element) >= 4) {
        llvm::append_range(operands, elements);
        continue;
      }
      int64_t perWord = 4 / byteSize(element);
      for (int64_t first = 0; first < pack; first += perWord) {
        auto vector = VectorType::get({perWord}, memoryType(element));
        Value packed = LLVM::ZeroOp::create(b, vector);
        for (int64_t i = 0; i < std::min(perWord, pack - first); ++i)
          packed = LLVM::InsertElementOp::create(b, vector, packed, toMemory(elements[first + i], element), i32(i));
        operands.push_back(LLVM::BitcastOp::create(b, b.getI32Type(), packed));
      }
    }
    SmallVector<Type> types;
    for (Value result : op.getResults()) {
      auto [type, count] = registerWords(elementOf(result));
      types.append(count, type);
    }
    Type type = types.size() == 1 ? types[0] : Type(LLVM::LLVMStructType::getLiteral(b.getContext(), types));
    auto inlined = LLVM::InlineAsmOp::create(
        b, type, operands, op.getText(), op.getConstraints(), /*has_side_effects=*/!op.getIsPure(),
        /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
        LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr());
    SmallVector<Value> words;
    for (size_t i = 0; i < types.size(); ++i)
      words.push_back(types.size() == 1 ? inlined.getResult(0)
                                        : Value(LLVM::ExtractValueOp::create(b, inlined.getResult(0), i)));
    SmallVector<Value> results;
    ArrayRef<Value> rest = words;
    for (Value result : op.getResults()) {
      Type element = elementOf(result);
      auto [wordType, count] = registerWords(element);
      if (byteSize(element) >= 4) {
        llvm::append_range(results, rest.take_front(count));
      } else {
        int64_t perWord = 4 / byteSize(element);
        auto vector = VectorType::get({perWord}, memoryType(element));
        for (int64_t i = 0; i < pack; ++i) {
          Value packed = LLVM::BitcastOp::create(b, vector, rest[i / perWord]);
          results.push_back(fromMemory(LLVM::ExtractElementOp::create(b, packed, i32(i % perWord)), element));
        }
      }
      rest = rest.drop_front(count);
    }
    return results;
  });
}

LogicalResult Lowering::lowerExternalCall(tile::ExternalCallOp op) {
  ExternalFunction external{op.getLibrary().str(), op.getDigest().str(), op.getSymbol().str()};
  std::string name = external.linkName();
  SmallVector<Type> types;
  for (Type type : op->getOperandTypes())
    types.push_back(registerType(getElementTypeOrSelf(type)));
  Type result = registerType(getElementTypeOrSelf(op.getType()));
  auto callee = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!callee) {
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    callee =
        LLVM::LLVMFuncOp::create(builder, builder.getUnknownLoc(), name, LLVM::LLVMFunctionType::get(result, types));
  }
  return forEachPack(*this, op, 1, [&](ArrayRef<Value> values) {
    return SmallVector<Value>{LLVM::CallOp::create(b, callee, values).getResult()};
  });
}

LogicalResult Lowering::lowerMap(tile::MapOp op) {
  return forEachPack(*this, op, op.getPack(),
                     [&](ArrayRef<Value> values) { return inlineRegion(op.getBody(), values); });
}
