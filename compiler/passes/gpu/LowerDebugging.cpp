// device_print: each element is told by the one thread that acts for it.
#include "compiler/passes/gpu/Lowering.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

// How an element is printed: its conversion, and the value as C's variadic arguments have it.
static std::pair<std::string, Value> printed(Lowering &lowering, Value value, Type element, bool isSigned, bool hex) {
  simt::Builder &b = lowering.b;
  if (isa<tile::PointerType>(element))
    return {"%p", value};
  int64_t bytes = Lowering::byteSize(element);
  bool isFloat = !isa<IntegerType>(element);
  if (hex && !isFloat) {
    Value bits = lowering.bitcast(lowering.toMemory(value, element), b.getIntegerType(8 * bytes));
    if (bytes < 4)
      bits = LLVM::ZExtOp::create(b, b.getI32Type(), bits);
    return {"0x%0" + std::to_string(2 * bytes) + (bytes == 8 ? "llx" : "x"), bits};
  }
  if (isFloat) {
    if (!element.isF64())
      value = lowering.convertFloat(value, element, b.getF32Type(), tile::Rounding::NearestEven);
    if (!value.getType().isF64())
      value = LLVM::FPExtOp::create(b, b.getF64Type(), value);
    return {hex ? "%a" : "%f", value};
  }
  if (bytes == 8)
    return {isSigned ? "%lli" : "%llu", value};
  if (element.isInteger(1))
    isSigned = false;
  if (value.getType() != b.getI32Type())
    value = isSigned ? Value(LLVM::SExtOp::create(b, b.getI32Type(), value))
                     : Value(LLVM::ZExtOp::create(b, b.getI32Type(), value));
  return {isSigned ? "%i" : "%u", value};
}

static std::string escaped(StringRef text) {
  std::string result;
  for (char c : text)
    result += c == '%' ? std::string("%%") : std::string(1, c);
  return result;
}

// The user's "x" is shown as " x", an empty one as nothing; a colon and a blank follow where a value does.
static std::string label(StringRef prefix) {
  StringRef words = prefix.rtrim(": ");
  return (words.empty() || words.starts_with(" ") ? "" : " ") + escaped(words);
}

// "pid (0, 0, 0) idx ( 3, 12) prefix: (operand 1) value\n"
LogicalResult Lowering::lowerPrint(tile::PrintOp op) {
  Value ids[3];
  for (int axis = 0; axis < 3; ++axis)
    ids[axis] = programId(axis);
  auto emit = [&](Value predicate, const std::string &format, ArrayRef<Value> arguments) {
    scf::IfOp branch;
    OpBuilder::InsertionGuard guard(b);
    if (predicate) {
      branch = scf::IfOp::create(b, TypeRange{}, predicate, /*withElse=*/false);
      b.setInsertionPointToStart(branch.thenBlock());
    }
    SmallVector<Value> all = {ids[0], ids[1], ids[2]};
    llvm::append_range(all, arguments);
    machine.print(b, text("pid (%u, %u, %u)" + format + "\n"), all);
  };
  if (op.getOperands().empty())
    emit(elements ? Value() : isFirstThread(), label(op.getPrefix()), {});
  for (auto [number, operand] : llvm::enumerate(op.getOperands())) {
    Type type = operand.getType(), element = getElementTypeOrSelf(type);
    bool isTile = isa<RankedTensorType>(type);
    bool isSigned = number < op.getIsSigned().size() && op.getIsSigned()[number];
    std::string middle = ")" + label(op.getPrefix()) + ": ";
    if (op.getOperands().size() > 1)
      middle += "(operand " + std::to_string(number) + ") ";
    for (auto [reg, value] : llvm::enumerate(registers(operand))) {
      std::string format = " idx (";
      SmallVector<Value> arguments;
      for (auto [axis, extent] : llvm::enumerate(tile::shapeOf(type))) {
        format += (axis ? ", %" : "%") + std::to_string(std::to_string(extent - 1).size()) + "u";
        arguments.push_back(coordinate(layoutOf(type), reg, axis));
      }
      auto [conversion, argument] = printed(*this, value, element, isSigned, op.getHex());
      arguments.push_back(argument);
      Value predicate = actor(type);
      if (isTile)
        predicate = both(predicate, isInside(type, reg));
      emit(predicate, format + middle + conversion, arguments);
    }
  }
  return success();
}
