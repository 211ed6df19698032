// Types, locations, arithmetic and shapes; memory and the rest of the dialect's own operations are in
// IRBuilderMemory.cpp.
#include "compiler/builder/IRBuilder.h"
#include "compiler/ir/tile/RoundedArithmetic.h"
#include "compiler/ir/tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace nacre {

// ---- Types and places

static mlir::Type scalarIRType(mlir::OpBuilder &ops, ScalarKind kind) {
  switch (kind) {
  case ScalarKind::Void:
    return mlir::Type();
  case ScalarKind::Int1:
    return ops.getI1Type();
  case ScalarKind::Int8:
  case ScalarKind::UInt8:
    return ops.getI8Type();
  case ScalarKind::Int16:
  case ScalarKind::UInt16:
    return ops.getI16Type();
  case ScalarKind::Int32:
  case ScalarKind::UInt32:
    return ops.getI32Type();
  case ScalarKind::Int64:
  case ScalarKind::UInt64:
    return ops.getI64Type();
  case ScalarKind::Float8E4NV:
    return mlir::Float8E4M3FNType::get(ops.getContext());
  case ScalarKind::Float8E5:
    return mlir::Float8E5M2Type::get(ops.getContext());
  case ScalarKind::Float8E4B15:
    return tile::Float8E4B15Type::get(ops.getContext());
  case ScalarKind::Float8E4B8:
    return mlir::Float8E4M3FNUZType::get(ops.getContext());
  case ScalarKind::Float8E5B16:
    return mlir::Float8E5M2FNUZType::get(ops.getContext());
  case ScalarKind::Float16:
    return ops.getF16Type();
  case ScalarKind::BFloat16:
    return ops.getBF16Type();
  case ScalarKind::Float32:
    return ops.getF32Type();
  case ScalarKind::Float64:
    return ops.getF64Type();
  }
  return mlir::Type();
}

mlir::Type IRBuilder::irType(Type type) {
  mlir::Type result;
  switch (type.kind()) {
  case Type::Kind::Scalar:
    result = scalarIRType(operations, type.scalarKind());
    break;
  case Type::Kind::Pointer:
    result = tile::PointerType::get(irType(type.element()), type.addressSpace(), type.isConst());
    break;
  case Type::Kind::Block:
    result = mlir::RankedTensorType::get(type.shape(), irType(type.element()));
    break;
  case Type::Kind::Descriptor:
    result = tile::DescriptorType::get(mlir::cast<mlir::RankedTensorType>(irType(type.element())));
    break;
  }
  if (!result) {
    Diagnostic diagnostic;
    diagnostic.kind = Diagnostic::Kind::Unsupported;
    diagnostic.location = location();
    diagnostic.message = "a value of type " + type.str() + " cannot be compiled";
    throw CompileError(diagnostic);
  }
  return result;
}

mlir::Location IRBuilder::irLocation(const SourceLocation &place) {
  if (!place.source)
    return operations.getUnknownLoc();
  if (!llvm::is_contained(llvm::reverse(sources), place.source))
    sources.push_back(place.source);
  mlir::Location here =
      mlir::FileLineColLoc::get(operations.getStringAttr(place.source->fileName), place.line, place.column + 1);
  return callers.empty() ? here : mlir::CallSiteLoc::get(here, callers.back());
}

mlir::Location IRBuilder::irLocation() { return fixedLocation ? *fixedLocation : irLocation(location()); }

// The innermost caller already holds the outer ones.
void IRBuilder::enterCall(const SourceLocation &callSite) { callers.push_back(irLocation(callSite)); }
void IRBuilder::leaveCall() { callers.pop_back(); }

template <typename Op, typename... Arguments> Value IRBuilder::emit(Type type, Arguments &&...arguments) {
  return wrap(type, operations.createOrFold<Op>(irLocation(), std::forward<Arguments>(arguments)...));
}

Value IRBuilder::undefined(Type type) {
  return emit<mlir::ub::PoisonOp>(type, irType(type), mlir::ub::PoisonAttrInterface());
}

// ---- The grid and constants

Value IRBuilder::programId(int axis) { return emit<tile::ProgramIdOp>(int32(), axis); }
Value IRBuilder::numPrograms(int axis) { return emit<tile::NumProgramsOp>(int32(), axis); }
Value IRBuilder::readMachine(MachineValue which) {
  return which == MachineValue::Clock ? emit<tile::ClockOp>(int64()) : emit<tile::ProcessorOp>(int32());
}

Value IRBuilder::constantInt(Type type, const llvm::APInt &value) {
  auto attribute = operations.getIntegerAttr(irType(type), value.zextOrTrunc(type.bitWidth()));
  return emit<mlir::arith::ConstantOp>(type, attribute);
}

Value IRBuilder::constantFloat(Type type, const llvm::APFloat &value) {
  if (type.scalarKind() == ScalarKind::Float8E4B15)
    return cast(CastOp::FloatTruncate, constantFloat(float32(), value), type, Rounding::NearestEven);
  auto irFloat = mlir::cast<mlir::FloatType>(irType(type));
  llvm::APFloat rounded = value;
  bool losesInformation = false;
  rounded.convert(irFloat.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &losesInformation);
  return emit<mlir::arith::ConstantOp>(type, operations.getFloatAttr(irFloat, rounded));
}

Value IRBuilder::arange(int64_t start, int64_t end) {
  Type type = Type::block(int32(), {end - start});
  return emit<tile::ArangeOp>(type, irType(type), static_cast<uint64_t>(start));
}

// ---- Shapes

Value IRBuilder::splat(Value scalar, Shape shape) {
  Type type = scalar.type().withShape(shape);
  return shape.empty() ? scalar : emit<tile::SplatOp>(type, irType(type), irValue(scalar));
}

Value IRBuilder::expandDims(Value value, int axis) {
  if (!value.type().isBlock())
    return splat(value, {1});
  llvm::SmallVector<int64_t> shape(value.type().shape());
  shape.insert(shape.begin() + axis, 1);
  Type type = value.type().withShape(shape);
  return emit<tile::ExpandDimsOp>(type, irType(type), irValue(value), static_cast<uint32_t>(axis));
}

Value IRBuilder::broadcast(Value value, Shape shape) {
  Type type = value.type().withShape(shape);
  return emit<tile::BroadcastOp>(type, irType(type), irValue(value));
}

Value IRBuilder::reshape(Value value, Shape shape) {
  if (!value.type().isBlock())
    return splat(value, shape);
  if (shape.empty())
    return extract(value, llvm::SmallVector<int64_t>(value.type().rank(), 0));
  Type type = value.type().withShape(shape);
  return emit<tile::ReshapeOp>(type, irType(type), irValue(value));
}

Value IRBuilder::permute(Value value, llvm::ArrayRef<int> order) {
  llvm::SmallVector<int64_t> shape;
  for (int axis : order)
    shape.push_back(value.type().shape()[axis]);
  Type type = value.type().withShape(shape);
  return emit<tile::PermuteOp>(type, irType(type), irValue(value), llvm::ArrayRef<int32_t>(order));
}

Value IRBuilder::concatenate(Value first, Value second, int axis) {
  llvm::SmallVector<int64_t> shape(first.type().shape());
  shape[axis] += second.type().shape()[axis];
  Type type = first.type().withShape(shape);
  return emit<tile::ConcatenateOp>(type, irType(type), irValue(first), irValue(second), static_cast<uint32_t>(axis));
}

Value IRBuilder::join(Value first, Value second) {
  if (!first.type().isBlock()) // two scalars: a block of two
    return concatenate(splat(first, {1}), splat(second, {1}), 0);
  llvm::SmallVector<int64_t> shape(first.type().shape());
  shape.push_back(2);
  Type type = first.type().withShape(shape);
  return emit<tile::JoinOp>(type, irType(type), irValue(first), irValue(second));
}

std::pair<Value, Value> IRBuilder::split(Value value) {
  Type type = value.type().withShape(value.type().shape().drop_back());
  auto op = tile::SplitOp::create(operations, irLocation(), irType(type), irType(type), irValue(value));
  return {wrap(type, op.getFirst()), wrap(type, op.getSecond())};
}

Value IRBuilder::extract(Value value, llvm::ArrayRef<int64_t> index) {
  Type type = value.type().scalarType();
  return emit<tile::ExtractOp>(type, irType(type), irValue(value), index);
}

Value IRBuilder::gather(Value source, Value index, int axis) {
  Type type = source.type().withShape(index.type().shape());
  return emit<tile::GatherOp>(type, irType(type), irValue(source), irValue(index), static_cast<uint32_t>(axis));
}

// ---- Arithmetic

Value IRBuilder::widenFp8(Value value) {
  return value.type().isFp8()
             ? cast(CastOp::FloatExtend, value, value.type().withScalar(float32()), Rounding::NearestEven)
             : value;
}

Value IRBuilder::narrowFp8(Value value, Type type) {
  return value.type() == type ? value : cast(CastOp::FloatTruncate, value, type, Rounding::NearestEven);
}

// As fast-math flags (TileBase.td): none where the result is as near as can be, which is all that fp64 has.
static mlir::arith::FastMathFlags flagsOf(Accuracy accuracy, Type type) {
  using Flags = mlir::arith::FastMathFlags;
  bool isRounded = accuracy == Accuracy::Rounded || (accuracy == Accuracy::Usual && type.scalarType() == float64());
  return isRounded ? Flags::none : Flags::afn;
}
static mlir::arith::FastMathFlags divisionFlags(Accuracy accuracy, Type type) {
  using Flags = mlir::arith::FastMathFlags;
  if (flagsOf(accuracy, type) == Flags::none)
    return Flags::none;
  return accuracy == Accuracy::Fast ? Flags::arcp | Flags::afn : Flags::arcp;
}

Value IRBuilder::unary(UnaryOp op, Value value, Accuracy accuracy) {
  namespace math = mlir::math;
  if (value.type().isFp8())
    return narrowFp8(unary(op, widenFp8(value), accuracy), value.type());
  Type type = value.type();
  mlir::Value operand = irValue(value);
  mlir::arith::FastMathFlags flags = flagsOf(accuracy, type);
  switch (op) {
  case UnaryOp::Not: {
    Value ones = splat(constantInt(type.scalarType(), llvm::APInt::getAllOnes(type.bitWidth())), type.shape());
    return binary(BinaryOp::Xor, value, ones);
  }
  case UnaryOp::NegF:
    return emit<mlir::arith::NegFOp>(type, operand);
  case UnaryOp::AbsF:
    return emit<math::AbsFOp>(type, operand, flags);
  case UnaryOp::AbsI:
    return emit<math::AbsIOp>(type, operand);
  case UnaryOp::Exp:
    return emit<math::ExpOp>(type, operand, flags);
  case UnaryOp::Exp2:
    return emit<math::Exp2Op>(type, operand, flags);
  case UnaryOp::Log:
    return emit<math::LogOp>(type, operand, flags);
  case UnaryOp::Log2:
    return emit<math::Log2Op>(type, operand, flags);
  case UnaryOp::Sin:
    return emit<math::SinOp>(type, operand, flags);
  case UnaryOp::Cos:
    return emit<math::CosOp>(type, operand, flags);
  case UnaryOp::Tan:
    return emit<math::TanOp>(type, operand, flags);
  case UnaryOp::Sqrt:
    return emit<math::SqrtOp>(type, operand, flags);
  case UnaryOp::Rsqrt:
    return emit<math::RsqrtOp>(type, operand, flags);
  case UnaryOp::Erf:
    return emit<math::ErfOp>(type, operand, flags);
  case UnaryOp::Floor:
    return emit<math::FloorOp>(type, operand, flags);
  case UnaryOp::Ceil:
    return emit<math::CeilOp>(type, operand, flags);
  case UnaryOp::Trunc:
    return emit<math::TruncOp>(type, operand, flags);
  case UnaryOp::RoundEven:
    return emit<math::RoundEvenOp>(type, operand, flags);
  case UnaryOp::Round:
    return emit<math::RoundOp>(type, operand, flags);
  case UnaryOp::Tanh:
    return emit<math::TanhOp>(type, operand, flags);
  case UnaryOp::Sinh:
    return emit<math::SinhOp>(type, operand, flags);
  case UnaryOp::Cosh:
    return emit<math::CoshOp>(type, operand, flags);
  case UnaryOp::Asin:
    return emit<math::AsinOp>(type, operand, flags);
  case UnaryOp::Acos:
    return emit<math::AcosOp>(type, operand, flags);
  case UnaryOp::Atan:
    return emit<math::AtanOp>(type, operand, flags);
  case UnaryOp::Asinh:
    return emit<math::AsinhOp>(type, operand, flags);
  case UnaryOp::Acosh:
    return emit<math::AcoshOp>(type, operand, flags);
  case UnaryOp::Atanh:
    return emit<math::AtanhOp>(type, operand, flags);
  case UnaryOp::Expm1:
    return emit<math::ExpM1Op>(type, operand, flags);
  case UnaryOp::Log1p:
    return emit<math::Log1pOp>(type, operand, flags);
  case UnaryOp::Log10:
    return emit<math::Log10Op>(type, operand, flags);
  case UnaryOp::Cbrt:
    return emit<math::CbrtOp>(type, operand, flags);
  case UnaryOp::Erfc:
    return emit<math::ErfcOp>(type, operand, flags);
  }
  llvm_unreachable("every unary operation is handled");
}

Value IRBuilder::binary(BinaryOp op, Value lhs, Value rhs, Accuracy accuracy) {
  namespace arith = mlir::arith;
  namespace math = mlir::math;
  if (lhs.type().isFp8())
    return narrowFp8(binary(op, widenFp8(lhs), widenFp8(rhs), accuracy), lhs.type());
  Type type = lhs.type();
  mlir::Value a = irValue(lhs), b = irValue(rhs);
  auto fusion = [&]() -> llvm::SmallVector<mlir::NamedAttribute, 1> { // of sums and products
    if (accuracy != Accuracy::Rounded)
      return {};
    return {mlir::NamedAttribute(operations.getStringAttr(tile::roundedAttribute), operations.getUnitAttr())};
  };
  switch (op) {
  case BinaryOp::AddI:
    return emit<arith::AddIOp>(type, a, b);
  case BinaryOp::SubI:
    return emit<arith::SubIOp>(type, a, b);
  case BinaryOp::MulI:
    return emit<arith::MulIOp>(type, a, b);
  case BinaryOp::DivS:
    return emit<arith::DivSIOp>(type, a, b);
  case BinaryOp::DivU:
    return emit<arith::DivUIOp>(type, a, b);
  case BinaryOp::RemS:
    return emit<arith::RemSIOp>(type, a, b);
  case BinaryOp::RemU:
    return emit<arith::RemUIOp>(type, a, b);
  case BinaryOp::And:
    return emit<arith::AndIOp>(type, a, b);
  case BinaryOp::Or:
    return emit<arith::OrIOp>(type, a, b);
  case BinaryOp::Xor:
    return emit<arith::XOrIOp>(type, a, b);
  case BinaryOp::Shl:
    return emit<arith::ShLIOp>(type, a, b);
  case BinaryOp::ShrS:
    return emit<arith::ShRSIOp>(type, a, b);
  case BinaryOp::ShrU:
    return emit<arith::ShRUIOp>(type, a, b);
  case BinaryOp::MinS:
    return emit<arith::MinSIOp>(type, a, b);
  case BinaryOp::MinU:
    return emit<arith::MinUIOp>(type, a, b);
  case BinaryOp::MaxS:
    return emit<arith::MaxSIOp>(type, a, b);
  case BinaryOp::MaxU:
    return emit<arith::MaxUIOp>(type, a, b);
  case BinaryOp::MulHighU:
    return wrap(type, arith::MulUIExtendedOp::create(operations, irLocation(), a, b).getHigh());
  case BinaryOp::MulHighS:
    return wrap(type, arith::MulSIExtendedOp::create(operations, irLocation(), a, b).getHigh());
  case BinaryOp::AddF:
    return emit<arith::AddFOp>(type, a.getType(), mlir::ValueRange{a, b}, fusion());
  case BinaryOp::SubF:
    return emit<arith::SubFOp>(type, a.getType(), mlir::ValueRange{a, b}, fusion());
  case BinaryOp::MulF:
    return emit<arith::MulFOp>(type, a.getType(), mlir::ValueRange{a, b}, fusion());
  case BinaryOp::DivF:
    return emit<arith::DivFOp>(type, a, b, divisionFlags(accuracy, type));
  case BinaryOp::RemF:
    return emit<arith::RemFOp>(type, a, b);
  case BinaryOp::MinNumF:
    return emit<arith::MinNumFOp>(type, a, b);
  case BinaryOp::MaxNumF:
    return emit<arith::MaxNumFOp>(type, a, b);
  case BinaryOp::MinimumF:
    return emit<arith::MinimumFOp>(type, a, b);
  case BinaryOp::MaximumF:
    return emit<arith::MaximumFOp>(type, a, b);
  case BinaryOp::Pow:
    return emit<math::PowFOp>(type, a, b, flagsOf(accuracy, type));
  case BinaryOp::Atan2:
    return emit<math::Atan2Op>(type, a, b);
  case BinaryOp::CopySign:
    return emit<math::CopySignOp>(type, a, b);
  }
  llvm_unreachable("every binary operation is handled");
}

Value IRBuilder::compare(CompareOp op, Value lhs, Value rhs) {
  using Int = mlir::arith::CmpIPredicate;
  using Float = mlir::arith::CmpFPredicate;
  Type type = lhs.type().withScalar(int1());
  auto integers = [&](Int predicate) { return emit<mlir::arith::CmpIOp>(type, predicate, irValue(lhs), irValue(rhs)); };
  auto floats = [&](Float predicate) {
    return emit<mlir::arith::CmpFOp>(type, predicate, irValue(widenFp8(lhs)), irValue(widenFp8(rhs)));
  };
  switch (op) {
  case CompareOp::Eq:
    return integers(Int::eq);
  case CompareOp::Ne:
    return integers(Int::ne);
  case CompareOp::LtS:
    return integers(Int::slt);
  case CompareOp::LeS:
    return integers(Int::sle);
  case CompareOp::GtS:
    return integers(Int::sgt);
  case CompareOp::GeS:
    return integers(Int::sge);
  case CompareOp::LtU:
    return integers(Int::ult);
  case CompareOp::LeU:
    return integers(Int::ule);
  case CompareOp::GtU:
    return integers(Int::ugt);
  case CompareOp::GeU:
    return integers(Int::uge);
  case CompareOp::EqF:
    return floats(Float::OEQ);
  case CompareOp::NeF:
    return floats(Float::UNE);
  case CompareOp::LtF:
    return floats(Float::OLT);
  case CompareOp::LeF:
    return floats(Float::OLE);
  case CompareOp::GtF:
    return floats(Float::OGT);
  case CompareOp::GeF:
    return floats(Float::OGE);
  }
  llvm_unreachable("every comparison is handled");
}

Value IRBuilder::fma(Value a, Value b, Value c) {
  if (a.type().isFp8())
    return narrowFp8(fma(widenFp8(a), widenFp8(b), widenFp8(c)), a.type());
  return emit<mlir::math::FmaOp>(a.type(), irValue(a), irValue(b), irValue(c));
}

Value IRBuilder::select(Value condition, Value whenTrue, Value whenFalse) {
  return emit<mlir::arith::SelectOp>(whenTrue.type(), irValue(condition), irValue(whenTrue), irValue(whenFalse));
}

Value IRBuilder::cast(CastOp op, Value value, Type type, Rounding rounding) {
  namespace arith = mlir::arith;
  mlir::Value operand = irValue(value);
  mlir::Type to = irType(type);
  bool tileCast = value.type().isFp8() || type.isFp8() || rounding == Rounding::TowardZero;
  switch (op) {
  case CastOp::Truncate:
    return emit<arith::TruncIOp>(type, to, operand);
  case CastOp::ExtendSigned:
    return emit<arith::ExtSIOp>(type, to, operand);
  case CastOp::ExtendUnsigned:
    return emit<arith::ExtUIOp>(type, to, operand);
  case CastOp::FloatExtend:
    return tileCast ? emit<tile::FpCastOp>(type, to, operand) : emit<arith::ExtFOp>(type, to, operand);
  case CastOp::FloatTruncate:
    return tileCast ? emit<tile::FpCastOp>(type, to, operand, static_cast<tile::Rounding>(rounding))
                    : emit<arith::TruncFOp>(type, to, operand);
  case CastOp::FloatToSigned:
    return emit<arith::FPToSIOp>(type, to, operand);
  case CastOp::FloatToUnsigned:
    return emit<arith::FPToUIOp>(type, to, operand);
  case CastOp::SignedToFloat:
    return emit<arith::SIToFPOp>(type, to, operand);
  case CastOp::UnsignedToFloat:
    return emit<arith::UIToFPOp>(type, to, operand);
  case CastOp::Bitcast:
    return to == operand.getType() ? wrap(type, operand) : emit<tile::BitcastOp>(type, to, operand);
  case CastOp::PointerToInt:
    return emit<tile::PtrToIntOp>(type, to, operand);
  case CastOp::IntToPointer:
    return emit<tile::IntToPtrOp>(type, to, operand);
  }
  llvm_unreachable("every cast is handled");
}

} // namespace nacre
