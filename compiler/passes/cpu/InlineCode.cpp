// Code that takes elements rather than tiles: inline assembly, functions of a user's library, functions of the language
// applied to single elements. Operands and results are whole tiles in memory, and a plain loop goes over their packs.
#include "compiler/language/meaning/ExternalFunction.h"
#include "compiler/passes/cpu/Lowering.h"

using namespace mlir;
using namespace nacre::cpu;
using nacre::ExternalFunction;
namespace tile = nacre::tile;

// `body` gets `pack` register values of each operand in turn, and gives as many of each result.
void Lowering::lowerPacks(Operation *op, int64_t pack, PackBody body) {
  if (!llvm::any_of(op->getResults(), isTile)) {
    SmallVector<Value> values;
    for (Value operand : op->getOperands())
      values.append(pack, scalar(operand));
    SmallVector<Value> results = body(values);
    for (auto [i, result] : llvm::enumerate(op->getResults()))
      scalars[result] = results[i * pack];
    return;
  }
  Block *owner = op->getBlock();
  SmallVector<Buffer> sources, targets;
  for (Value operand : op->getOperands())
    sources.push_back(inMemory(operand, owner));
  for (Value result : op->getResults())
    targets.push_back(allocate(cast<RankedTensorType>(result.getType()), owner));
  int64_t count = cast<RankedTensorType>(op->getResult(0).getType()).getNumElements();
  int64_t packs = (count + pack - 1) / pack;
  auto loop = scf::ForOp::create(b, b.index(0), b.index(packs), b.index(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value first = b.mul(loop.getInductionVar(), b.index(pack));
  // The last element stands in for those that the last pack lacks.
  SmallVector<Value> indices;
  for (int64_t i = 0; i < pack; ++i) {
    Value index = b.add(first, b.index(i));
    indices.push_back(count % pack == 0 ? index : b.minSigned(index, b.index(count - 1)));
  }
  auto address = [&](const Buffer &buffer, Value index) {
    return b.offsetBytes(buffer.pointer, b.mul(index, b.index(byteSize(buffer.element))));
  };
  SmallVector<Value> values;
  for (const Buffer &source : sources)
    for (Value index : indices)
      values.push_back(b.fromMemory(
          b.load(memoryType(source.element), address(source, index), byteSize(source.element)), source.element));
  SmallVector<Value> results = body(values);
  if (failed)
    return;
  // From the back, so that the last element's own result is written last.
  for (auto [number, target] : llvm::enumerate(targets))
    for (int64_t i = pack - 1; i >= 0; --i)
      b.store(b.toMemory(results[number * pack + i], target.element), address(target, indices[i]),
              byteSize(target.element));
  for (auto [result, target] : llvm::zip(op->getResults(), targets))
    hold(result, target);
}

// ---- Inline assembly

namespace {

// How the elements of one pack lie in registers: those of under 32 bits several to a register of 32.
struct Packing {
  int64_t bits, perRegister, registers;
  Type type;

  Packing(Emit &b, Type element, int64_t pack) {
    bits = 8 * byteSize(element);
    bool isPacked = bits < 32;
    perRegister = isPacked ? 32 / bits : 1;
    registers = (pack + perRegister - 1) / perRegister;
    type = isPacked ? Type(b.getI32Type()) : registerType(element);
  }
};

void packInto(Emit &b, SmallVector<Value> &registers, ArrayRef<Value> elements, Type element) {
  Packing packing(b, element, elements.size());
  if (packing.perRegister == 1) {
    registers.append(elements.begin(), elements.end());
    return;
  }
  Type narrow = b.getIntegerType(packing.bits);
  for (int64_t number = 0; number < packing.registers; ++number) {
    Value whole;
    for (int64_t i = 0; i < packing.perRegister; ++i) {
      size_t position = number * packing.perRegister + i;
      if (position >= elements.size())
        break;
      Value bits = b.toMemory(elements[position], element);
      if (bits.getType() != narrow)
        bits = arith::BitcastOp::create(b, narrow, bits);
      Value wide = arith::ExtUIOp::create(b, packing.type, bits);
      if (i > 0)
        wide = arith::ShLIOp::create(b, wide, b.constant(packing.type, i * packing.bits));
      whole = whole ? Value(arith::OrIOp::create(b, whole, wide)) : wide;
    }
    registers.push_back(whole);
  }
}

void unpackFrom(Emit &b, ArrayRef<Value> registers, SmallVector<Value> &elements, Type element, int64_t pack) {
  Packing packing(b, element, pack);
  if (packing.perRegister == 1) {
    elements.append(registers.begin(), registers.end());
    return;
  }
  Type narrow = b.getIntegerType(packing.bits), memory = memoryType(element);
  for (int64_t i = 0; i < pack; ++i) {
    Value whole = registers[i / packing.perRegister];
    int64_t place = i % packing.perRegister;
    if (place > 0)
      whole = arith::ShRUIOp::create(b, whole, b.constant(packing.type, place * packing.bits));
    Value bits = arith::TruncIOp::create(b, narrow, whole);
    if (memory != narrow)
      bits = arith::BitcastOp::create(b, memory, bits);
    elements.push_back(b.fromMemory(bits, element));
  }
}

} // namespace

void Lowering::lowerInlineAsm(Operation *op) {
  auto assembly = cast<tile::InlineAsmOp>(op);
  int64_t pack = assembly.getPack();
  auto elementOf = [](Value value) { return getElementTypeOrSelf(value.getType()); };
  lowerPacks(op, pack, [&](ArrayRef<Value> values) {
    SmallVector<Value> operands;
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      packInto(b, operands, values.slice(i * pack, pack), elementOf(operand));
    SmallVector<Type> types;
    for (Value result : op->getResults()) {
      Packing packing(b, elementOf(result), pack);
      types.append(packing.registers, packing.type);
    }
    Type type = types.size() == 1 ? types[0] : Type(LLVM::LLVMStructType::getLiteral(b.getContext(), types));
    auto inlined = LLVM::InlineAsmOp::create(
        b, type, operands, assembly.getText(), assembly.getConstraints(), /*has_side_effects=*/!assembly.getIsPure(),
        /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
        LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr());
    SmallVector<Value> registers;
    for (size_t i = 0; i < types.size(); ++i)
      registers.push_back(types.size() == 1
                              ? inlined.getResult(0)
                              : Value(LLVM::ExtractValueOp::create(b, inlined.getResult(0), ArrayRef<int64_t>(i))));
    SmallVector<Value> results;
    size_t next = 0;
    for (Value result : op->getResults()) {
      int64_t count = Packing(b, elementOf(result), pack).registers;
      unpackFrom(b, ArrayRef(registers).slice(next, count), results, elementOf(result), pack);
      next += count;
    }
    return results;
  });
}

// ---- Functions of a user's library

// A C function's type for an element: floats of their own format, where a register holds some of them as integers.
static Type parameterType(Type element) { return element.isBF16() ? element : registerType(element); }

static StringRef extension(Type type, bool isSigned) {
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.getWidth() >= 32)
    return "";
  return isSigned && integer.getWidth() > 1 ? "llvm.signext" : "llvm.zeroext";
}

void Lowering::lowerExternalCall(Operation *op) {
  auto external = cast<tile::ExternalCallOp>(op);
  std::string name =
      ExternalFunction{external.getLibrary().str(), external.getDigest().str(), external.getSymbol().str()}.linkName();
  SmallVector<Type> types;
  for (Type type : op->getOperandTypes())
    types.push_back(parameterType(getElementTypeOrSelf(type)));
  Type element = getElementTypeOrSelf(op->getResult(0).getType()), result = parameterType(element);
  auto function = kernel->getParentOfType<ModuleOp>().lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!function) {
    OpBuilder builder = OpBuilder::atBlockBegin(kernel->getBlock());
    function =
        LLVM::LLVMFuncOp::create(builder, builder.getUnknownLoc(), name, LLVM::LLVMFunctionType::get(result, types));
    ArrayRef<bool> isSigned = external.getIsSigned();
    for (auto [i, type] : llvm::enumerate(types))
      if (StringRef attribute = extension(type, isSigned[i]); !attribute.empty())
        function.setArgAttr(i, attribute, b.getUnitAttr());
    if (StringRef attribute = extension(result, isSigned.back()); !attribute.empty())
      function.setResultAttr(0, attribute, b.getUnitAttr());
  }
  lowerPacks(op, 1, [&](ArrayRef<Value> values) {
    SmallVector<Value> arguments;
    for (auto [value, type] : llvm::zip(values, types))
      arguments.push_back(value.getType() == type ? value : Value(arith::BitcastOp::create(b, type, value)));
    Value returned = LLVM::CallOp::create(b, function, arguments).getResult();
    if (returned.getType() != registerType(element))
      returned = arith::BitcastOp::create(b, registerType(element), returned);
    return SmallVector<Value>{returned};
  });
}

// ---- Functions of the language

void Lowering::lowerMap(Operation *op) {
  auto map = cast<tile::MapOp>(op);
  Block &body = map.getBody().front();
  lowerPacks(op, map.getPack(), [&](ArrayRef<Value> values) {
    for (auto [argument, value] : llvm::zip_equal(body.getArguments(), values))
      scalars[argument] = value;
    lowerBlock(body);
    SmallVector<Value> results;
    if (failed)
      return results;
    for (Value value : body.getTerminator()->getOperands())
      results.push_back(scalar(value));
    releaseBlock(&body);
    return results;
  });
}
