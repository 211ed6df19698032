// The grid, constants, elementwise operations, and what needs no computing.
#include "compiler/reference/EagerBuilder.h"
#include "compiler/reference/ChunkFunctions.h"
#include "compiler/reference/FloatFormats.h"
#include "compiler/reference/Machine.h"

using namespace nacre;

void EagerBuilder::fail(Diagnostic::Kind kind, const std::string &message, const std::string &hint) const {
  Diagnostic diagnostic;
  diagnostic.kind = kind;
  diagnostic.location = location();
  diagnostic.message = message;
  diagnostic.hint = hint;
  throw CompileError(std::move(diagnostic));
}

std::string EagerBuilder::programName() const {
  return "(" + std::to_string(program.programId[0]) + ", " + std::to_string(program.programId[1]) + ", " +
         std::to_string(program.programId[2]) + ")";
}

Value EagerBuilder::scalarFromBits(Type type, uint64_t bits) {
  if (type.isBool())
    bits &= 1;
  return valueOf(makeUniform(type, &bits)); // little-endian: the low bytes come first
}

Value EagerBuilder::programId(int axis) { return scalarFromBits(int32(), program.programId[axis]); }
Value EagerBuilder::numPrograms(int axis) { return scalarFromBits(int32(), program.grid[axis]); }

Value EagerBuilder::readMachine(MachineValue which) {
  return which == MachineValue::Clock ? scalarFromBits(int64(), clockNanoseconds())
                                      : scalarFromBits(int32(), processorNumber());
}

Value EagerBuilder::constantInt(Type type, const llvm::APInt &value) {
  return scalarFromBits(type, value.sextOrTrunc(64).getZExtValue());
}

Value EagerBuilder::constantFloat(Type type, const llvm::APFloat &value) {
  double number = value.convertToDouble();
  BufferRef result = makeBuffer(type);
  ScalarKind kind = storedKind(type);
  if (kind == ScalarKind::Float64)
    *result->as<double>() = number;
  else if (kind == ScalarKind::Float32)
    *result->as<float>() = static_cast<float>(number);
  else
    encodeFloats(kind, &number, result->data, 1);
  return valueOf(result);
}

Value EagerBuilder::arange(int64_t start, int64_t end) {
  BufferRef result = makeBuffer(Type::block(int32(), {end - start}));
  auto *out = result->as<int32_t>();
  for (int64_t i = start; i < end; ++i)
    *out++ = static_cast<int32_t>(i);
  return valueOf(result);
}

bool nacre::isFloatOp(UnaryOp op) { return op != UnaryOp::Not && op != UnaryOp::AbsI; }
bool nacre::isFloatOp(BinaryOp op) { return op >= BinaryOp::AddF; }
bool nacre::isFloatOp(CompareOp op) { return op >= CompareOp::EqF; }

static ScalarKind computedKind(Type type) {
  ScalarKind kind = storedKind(type);
  return isNarrowFloat(kind) ? ScalarKind::Float32 : kind;
}

static void mustExist(ChunkFunction function) {
  assert(function && "an operation reached the evaluator on a type that has none");
}

Value EagerBuilder::unary(UnaryOp op, Value value, Accuracy) {
  Buffer &operand = bufferOf(value);
  ScalarKind kind = computedKind(operand.type);
  ChunkFunction function = isFloatOp(op) ? floatUnaryFunction(op, kind) : integerUnaryFunction(op, kind);
  mustExist(function);
  return valueOf(elementwise(function, &operand, operand.type, true));
}

Value EagerBuilder::binary(BinaryOp op, Value lhs, Value rhs, Accuracy) {
  Buffer &left = bufferOf(lhs), &right = bufferOf(rhs);
  ScalarKind kind = computedKind(left.type);
  ChunkFunction function = isFloatOp(op) ? floatBinaryFunction(op, kind) : integerBinaryFunction(op, kind);
  mustExist(function);
  return valueOf(elementwise(function, {&left, &right}, left.type, true));
}

Value EagerBuilder::compare(CompareOp op, Value lhs, Value rhs) {
  Buffer &left = bufferOf(lhs), &right = bufferOf(rhs);
  return valueOf(
      elementwise(compareFunction(op, computedKind(left.type)), {&left, &right}, withScalar(left.type, int1()), true));
}

Value EagerBuilder::fma(Value a, Value b, Value c) {
  Buffer &first = bufferOf(a);
  return valueOf(
      elementwise(fmaFunction(computedKind(first.type)), {&first, &bufferOf(b), &bufferOf(c)}, first.type, true));
}

Value EagerBuilder::select(Value condition, Value whenTrue, Value whenFalse) {
  Buffer &first = bufferOf(whenTrue), &second = bufferOf(whenFalse);
  BufferRef result =
      elementwise(selectFunction(first.elementSize()), {&bufferOf(condition), &first, &second}, first.type);
  result->array = first.array == second.array ? first.array : 0;
  return valueOf(result);
}

void EagerBuilder::barrier() {} // the elements of a program are computed one operation after another

void EagerBuilder::assume(Value condition) {
  if (!scalarOf<uint8_t>(condition))
    fail(Diagnostic::Kind::Value, "program " + programName() + ": an assumption does not hold");
}

Value EagerBuilder::hint(HintKind kind, Value value, llvm::ArrayRef<int64_t> values) { return value; }
