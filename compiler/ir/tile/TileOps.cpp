// Verifiers, builders and memory effects of the tile operations.
#include "compiler/ir/tile/Tile.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::tile;

static ParseResult parseToldKind(OpAsmParser &parser, IntegerAttr &kindNumber) {
  std::string name;
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseString(&name))
    return failure();
  std::optional<ToldKind> kind = toldKindNamed(name);
  if (!kind)
    return parser.emitError(place, "nothing is told of the kind \"") << name << "\"";
  kindNumber = parser.getBuilder().getI32IntegerAttr(static_cast<int32_t>(*kind));
  return success();
}
static void printToldKind(OpAsmPrinter &printer, TellOp op, IntegerAttr) {
  printer << '"' << nameOf(op.getKind()) << '"';
}

#define GET_OP_CLASSES
#include "compiler/ir/tile/Tile.cpp.inc"

using Effects = SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

static LogicalResult sameElement(Operation *op, Type a, Type b) {
  if (getElementTypeOrSelf(a) != getElementTypeOrSelf(b))
    return op->emitOpError("element types differ: ") << a << " and " << b;
  return success();
}

static LogicalResult sameShape(Operation *op, StringRef what, Type a, Type b) {
  if (shapeOf(a) != shapeOf(b))
    return op->emitOpError() << what << ": shapes differ: " << a << " and " << b;
  return success();
}

// ---- Shapes

LogicalResult ArangeOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  if (type.getRank() != 1 || !type.getElementType().isSignlessInteger())
    return emitOpError("result must be a rank-1 tile of integers");
  return success();
}

LogicalResult SplatOp::verify() {
  if (getSource().getType() != getElementTypeOrSelf(getType()))
    return emitOpError("operand must be the result's element type");
  return success();
}

LogicalResult ExpandDimsOp::verify() {
  SmallVector<int64_t> expected(getSource().getType().getShape());
  if (getAxis() > expected.size())
    return emitOpError("axis ") << getAxis() << " is out of range for rank " << expected.size();
  expected.insert(expected.begin() + getAxis(), 1);
  if (getType().getShape() != ArrayRef<int64_t>(expected))
    return emitOpError("result shape must be the operand's with 1 at axis ") << getAxis();
  return sameElement(*this, getSource().getType(), getType());
}

LogicalResult BroadcastOp::verify() {
  ArrayRef<int64_t> from = getSource().getType().getShape(), to = getType().getShape();
  if (from.size() != to.size())
    return emitOpError("rank must stay");
  for (auto [a, b] : llvm::zip(from, to))
    if (a != b && a != 1)
      return emitOpError("only axes of extent 1 grow");
  return sameElement(*this, getSource().getType(), getType());
}

LogicalResult ReshapeOp::verify() {
  if (getSource().getType().getNumElements() != getType().getNumElements())
    return emitOpError("number of elements must stay");
  return sameElement(*this, getSource().getType(), getType());
}

LogicalResult PermuteOp::verify() {
  ArrayRef<int64_t> from = getSource().getType().getShape(), to = getType().getShape();
  ArrayRef<int32_t> order = getOrder();
  if (order.size() != from.size() || to.size() != from.size())
    return emitOpError("order must name every axis once");
  SmallVector<bool> seen(from.size());
  for (auto [i, axis] : llvm::enumerate(order)) {
    if (axis < 0 || axis >= static_cast<int64_t>(from.size()) || seen[axis])
      return emitOpError("order must name every axis once");
    seen[axis] = true;
    if (to[i] != from[axis])
      return emitOpError("result axis ") << i << " must have the extent of operand axis " << axis;
  }
  return sameElement(*this, getSource().getType(), getType());
}

LogicalResult ConcatenateOp::verify() {
  auto first = getFirst().getType(), second = getSecond().getType();
  SmallVector<int64_t> expected(first.getShape());
  if (getAxis() >= expected.size() || second.getRank() != first.getRank())
    return emitOpError("operands must have one rank, and the axis be in it");
  expected[getAxis()] = second.getShape()[getAxis()];
  if (second.getShape() != ArrayRef<int64_t>(expected))
    return emitOpError("operands may differ only along the axis");
  expected[getAxis()] += first.getShape()[getAxis()];
  if (getType().getShape() != ArrayRef<int64_t>(expected))
    return emitOpError("result extent must be the sum along the axis");
  if (failed(sameElement(*this, first, second)))
    return failure();
  return sameElement(*this, first, getType());
}

LogicalResult JoinOp::verify() {
  SmallVector<int64_t> expected(getFirst().getType().getShape());
  expected.push_back(2);
  if (getType().getShape() != ArrayRef<int64_t>(expected))
    return emitOpError("result must have the operands' shape and a last axis of 2");
  return sameElement(*this, getFirst().getType(), getType());
}

LogicalResult SplitOp::verify() {
  ArrayRef<int64_t> shape = getSource().getType().getShape();
  if (shape.back() != 2 || shapeOf(getFirst().getType()) != shape.drop_back())
    return emitOpError("operand's last axis must be 2 and the results drop it");
  return sameElement(*this, getSource().getType(), getFirst().getType());
}

LogicalResult ExtractOp::verify() {
  ArrayRef<int64_t> shape = getSource().getType().getShape();
  if (getIndex().size() != shape.size())
    return emitOpError("needs one index an axis");
  for (auto [index, extent] : llvm::zip(getIndex(), shape))
    if (index < 0 || index >= extent)
      return emitOpError("index is out of range");
  return sameElement(*this, getSource().getType(), getType());
}

LogicalResult GatherOp::verify() {
  auto source = getSource().getType(), index = getIndex().getType();
  if (source.getRank() != index.getRank() || getAxis() >= static_cast<uint32_t>(source.getRank()))
    return emitOpError("source and index must have one rank, and the axis be in it");
  for (int64_t i = 0; i < source.getRank(); ++i)
    if (i != static_cast<int64_t>(getAxis()) && source.getShape()[i] != index.getShape()[i])
      return emitOpError("source and index may differ only along the axis");
  if (failed(sameShape(*this, "index and result", index, getType())))
    return failure();
  if (!isIntegerLike(index))
    return emitOpError("the index must be of integers");
  return sameElement(*this, source, getType());
}

// ---- Conversions

LogicalResult BitcastOp::verify() {
  auto width = [](Type type) -> unsigned {
    Type element = getElementTypeOrSelf(type);
    if (isa<PointerType>(element))
      return 64;
    return isa<Float8E4B15Type>(element) ? 8 : element.getIntOrFloatBitWidth();
  };
  if (width(getSource().getType()) != width(getType()))
    return emitOpError("widths differ: ") << getSource().getType() << " and " << getType();
  return success();
}

LogicalResult PtrToIntOp::verify() {
  if (!getElementTypeOrSelf(getType()).isInteger(64))
    return emitOpError("an address has 64 bits");
  return success();
}

LogicalResult AddPtrOp::verify() {
  Type offset = getElementTypeOrSelf(getOffset().getType());
  if (!offset.isInteger(32) && !offset.isInteger(64))
    return emitOpError("the offset must be of i32 or i64");
  return success();
}

// ---- Memory

static LogicalResult verifyPointee(Operation *op, Type pointer, Type value) {
  auto pointee = cast<PointerType>(getElementTypeOrSelf(pointer)).getPointee();
  if (pointee != getElementTypeOrSelf(value))
    return op->emitOpError("the pointer addresses ") << pointee << " but the value is " << value;
  return sameShape(op, "pointer and value", pointer, value);
}

void LoadOp::build(OpBuilder &builder, OperationState &state, Value pointer, Value mask, Value other,
                   CacheModifier cache, EvictionPolicy eviction, bool isVolatile) {
  Type pointee = cast<PointerType>(getElementTypeOrSelf(pointer.getType())).getPointee();
  build(builder, state, withElement(pointer.getType(), pointee), pointer, mask, other,
        CacheModifierAttr::get(builder.getContext(), cache), EvictionPolicyAttr::get(builder.getContext(), eviction),
        builder.getBoolAttr(isVolatile));
}

LogicalResult LoadOp::verify() {
  if (failed(verifyPointee(*this, getPointer().getType(), getType())))
    return failure();
  if (getMask() && failed(sameShape(*this, "pointer and mask", getPointer().getType(), getMask().getType())))
    return failure();
  if (getOther() && !getMask())
    return emitOpError("`other` needs a mask");
  if (getOther() && getOther().getType() != getType())
    return emitOpError("`other` must have the result's type");
  return success();
}

LogicalResult StoreOp::verify() {
  if (getMask() && failed(sameShape(*this, "pointer and mask", getPointer().getType(), getMask().getType())))
    return failure();
  return verifyPointee(*this, getPointer().getType(), getValue().getType());
}

LogicalResult nacre::tile::verifyAtomicKind(Operation *op, AtomicKind kind, Type value) {
  bool isFloat = llvm::is_contained({AtomicKind::AddF, AtomicKind::MaxF, AtomicKind::MinF}, kind);
  if (kind == AtomicKind::Exchange || (isFloat ? isFloatLike(value) : isIntegerLike(value)))
    return success();
  return op->emitOpError("this kind of atomic does not suit elements of ") << getElementTypeOrSelf(value);
}

LogicalResult AtomicRmwOp::verify() {
  if (getValue().getType() != getType())
    return emitOpError("result must have the value's type");
  if (getMask() && failed(sameShape(*this, "pointer and mask", getPointer().getType(), getMask().getType())))
    return failure();
  if (failed(verifyAtomicKind(*this, getKind(), getType())))
    return failure();
  return verifyPointee(*this, getPointer().getType(), getValue().getType());
}

LogicalResult AtomicCasOp::verify() { return verifyPointee(*this, getPointer().getType(), getType()); }

void LoadOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get());
  if (getIsVolatile())
    effects.emplace_back(MemoryEffects::Write::get());
}
void StoreOp::getEffects(Effects &effects) { effects.emplace_back(MemoryEffects::Write::get()); }

static void readsAndWrites(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get());
}
void AtomicRmwOp::getEffects(Effects &effects) { readsAndWrites(effects); }
void AtomicCasOp::getEffects(Effects &effects) { readsAndWrites(effects); }
void BarrierOp::getEffects(Effects &effects) { readsAndWrites(effects); }
void ClockOp::getEffects(Effects &effects) { readsAndWrites(effects); }
void ProcessorOp::getEffects(Effects &effects) { readsAndWrites(effects); }
void PrintOp::getEffects(Effects &effects) { readsAndWrites(effects); }
void TellOp::getEffects(Effects &effects) { readsAndWrites(effects); }
void AssertOp::getEffects(Effects &effects) { readsAndWrites(effects); }
void CheckAccessOp::getEffects(Effects &effects) { readsAndWrites(effects); }
void AssumeOp::getEffects(Effects &effects) { effects.emplace_back(MemoryEffects::Write::get(), Assumptions::get()); }
void InlineAsmOp::getEffects(Effects &effects) {
  if (!getIsPure())
    readsAndWrites(effects);
}
void ExternalCallOp::getEffects(Effects &effects) {
  if (!getIsPure())
    readsAndWrites(effects);
}

bool nacre::tile::writesMemory(Operation *op) {
  std::optional<SmallVector<MemoryEffects::EffectInstance>> effects = getEffectsRecursively(op);
  if (!effects)
    return true;
  return llvm::any_of(*effects, [](const MemoryEffects::EffectInstance &effect) {
    return isa<MemoryEffects::Write>(effect.getEffect()) && effect.getResource() != Assumptions::get();
  });
}

// ---- Linear algebra, reductions

static bool isFp8(Type element) {
  return isFloatLike(element) && (!isa<FloatType>(element) || element.getIntOrFloatBitWidth() == 8);
}

// Which sums there are of products of two elements.
static LogicalResult verifyDotTypes(DotOp op) {
  Type a = op.getA().getType().getElementType(), b = op.getB().getType().getElementType();
  Type sum = op.getType().getElementType();
  if (a != b && !(isFp8(a) && isFp8(b)))
    return op.emitOpError("operands must have one element type, or be fp8: ") << a << " and " << b;
  bool isHalf = a.isF16() || isFp8(a);
  bool isSum = a.isInteger(8) ? sum.isInteger(32)
               : a.isF64()    ? sum.isF64()
                              : (sum.isF32() && (isHalf || a.isF32() || a.isBF16())) || (sum.isF16() && isHalf);
  if (!isSum)
    return op.emitOpError("products of ") << a << " are not summed in " << sum;
  return success();
}

LogicalResult DotOp::verify() {
  ArrayRef<int64_t> a = getA().getType().getShape(), b = getB().getType().getShape(), c = getType().getShape();
  size_t rank = c.size();
  if (a.size() != rank || b.size() != rank || (rank != 2 && rank != 3))
    return emitOpError("operands must all have rank 2, or all rank 3");
  if (rank == 3 && (a[0] != c[0] || b[0] != c[0]))
    return emitOpError("batch extents differ");
  if (a[rank - 1] != b[rank - 2] || a[rank - 2] != c[rank - 2] || b[rank - 1] != c[rank - 1])
    return emitOpError("shapes do not multiply: ") << getA().getType() << " and " << getB().getType();
  bool areFloats = isFloatLike(getA().getType()) && isFloatLike(getB().getType()) && isFloatLike(getType());
  bool areIntegers = isIntegerLike(getA().getType()) && isIntegerLike(getB().getType()) && isIntegerLike(getType());
  if (!areFloats && !areIntegers)
    return emitOpError("operands and result must all be floats, or all integers");
  return verifyDotTypes(*this);
}

// The scale of an operand: a group of neighbours along K for each of its numbers.
static LogicalResult verifyScale(Operation *op, StringRef name, Value scale, int64_t other, int64_t common) {
  if (!scale)
    return success();
  ArrayRef<int64_t> shape = shapeOf(scale.getType());
  if (shape.size() < 2 || shape[shape.size() - 2] != other || common % shape.back() != 0)
    return op->emitOpError() << name << " must be " << other << " by a divisor of " << common << ", not "
                             << scale.getType();
  if (!isFloatLike(scale.getType()) && !getElementTypeOrSelf(scale.getType()).isInteger(8))
    return op->emitOpError() << name << " must hold bytes or floats";
  return success();
}

LogicalResult DotScaledOp::verify() {
  ArrayRef<int64_t> a = getA().getType().getShape(), b = getB().getType().getShape(), c = getType().getShape();
  size_t rank = c.size();
  if (a.size() != rank || b.size() != rank || (rank != 2 && rank != 3))
    return emitOpError("operands must all have rank 2, or all rank 3");
  if (rank == 3 && (a[0] != c[0] || b[0] != c[0]))
    return emitOpError("batch extents differ");
  if (!getType().getElementType().isF32())
    return emitOpError("products are summed in f32");
  auto packed = [](ScaledFormat format, bool along) { return format == ScaledFormat::E2M1 && along ? 2 : 1; };
  int64_t m = a[rank - 2] * packed(getAFormat(), !getAPacksK()), k = a[rank - 1] * packed(getAFormat(), getAPacksK());
  int64_t n = b[rank - 1] * packed(getBFormat(), !getBPacksK()), kb = b[rank - 2] * packed(getBFormat(), getBPacksK());
  if (k != kb || m != c[rank - 2] || n != c[rank - 1])
    return emitOpError("shapes do not multiply: ") << getA().getType() << " and " << getB().getType();
  for (auto [format, type] : {std::pair(getAFormat(), getA().getType()), std::pair(getBFormat(), getB().getType())})
    if (format == ScaledFormat::E2M1 && !type.getElementType().isInteger(8))
      return emitOpError("e2m1 is packed two in a byte, not in ") << type.getElementType();
  if (failed(verifyScale(*this, "the scale of a", getAScale(), m, k)))
    return failure();
  return verifyScale(*this, "the scale of b", getBScale(), n, k);
}

static LogicalResult verifyCombine(Operation *op, ValueRange operands, int64_t axis, Region &region) {
  if (operands.empty())
    return op->emitOpError("needs an operand");
  ArrayRef<int64_t> shape = shapeOf(operands.front().getType());
  if (axis >= static_cast<int64_t>(shape.size()))
    return op->emitOpError("axis is out of range");
  Block &block = region.front();
  if (block.getNumArguments() != 2 * operands.size())
    return op->emitOpError("the region needs two arguments an operand");
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || yield.getNumOperands() != operands.size())
    return op->emitOpError("the region must yield one value an operand");
  for (auto [i, operand] : llvm::enumerate(operands)) {
    Type element = getElementTypeOrSelf(operand.getType());
    if (shapeOf(operand.getType()) != shape)
      return op->emitOpError("operands must have one shape");
    if (block.getArgument(i).getType() != element || block.getArgument(i + operands.size()).getType() != element ||
        yield.getOperand(i).getType() != element)
      return op->emitOpError("the region's types must be the operands' element types");
  }
  return success();
}

LogicalResult ReduceOp::verify() {
  if (failed(verifyCombine(*this, getOperands(), getAxis(), getCombine())))
    return failure();
  if (getNumOperands() != getNumResults())
    return emitOpError("needs one result an operand");
  SmallVector<int64_t> shape(shapeOf(getOperands().front().getType()));
  shape.erase(shape.begin() + getAxis());
  for (auto [operand, result] : llvm::zip_equal(getOperands(), getResults()))
    if (shapeOf(result.getType()) != ArrayRef<int64_t>(shape) ||
        failed(sameElement(*this, operand.getType(), result.getType())))
      return emitOpError("results must drop the axis");
  return success();
}

LogicalResult ScanOp::verify() {
  if (getOperandTypes() != getResultTypes())
    return emitOpError("results must have the operands' types");
  return verifyCombine(*this, getOperands(), getAxis(), getCombine());
}

LogicalResult MapOp::verify() {
  if (getOperands().empty() || getResults().empty())
    return emitOpError("needs an operand and a result");
  if (static_cast<int32_t>(getPack()) < 1)
    return emitOpError("pack must be positive");
  ArrayRef<int64_t> shape = shapeOf(getOperands().front().getType());
  Block &block = getBody().front();
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  auto fits = [&](ValueRange tiles, TypeRange scalars) {
    if (scalars.size() != tiles.size() * getPack())
      return false;
    for (auto [i, type] : llvm::enumerate(scalars)) {
      Type tile = tiles[i / getPack()].getType();
      if (shapeOf(tile) != shape || getElementTypeOrSelf(tile) != type)
        return false;
    }
    return true;
  };
  if (!fits(getOperands(), block.getArgumentTypes()))
    return emitOpError("the region must take `pack` elements of each operand");
  if (!yield || !fits(getResults(), yield.getOperandTypes()))
    return emitOpError("the region must yield `pack` elements of each result");
  return success();
}

LogicalResult HistogramOp::verify() {
  if (!isIntegerLike(getSource().getType()) || !getType().getElementType().isInteger(32) || getType().getRank() != 1)
    return emitOpError("counts integers into a rank-1 tile of i32");
  if (getMask())
    return sameShape(*this, "source and mask", getSource().getType(), getMask().getType());
  return success();
}

// ---- Debugging, hints and what is not ours

static LogicalResult verifySigns(Operation *op, ArrayRef<bool> isSigned) {
  if (isSigned.size() != op->getNumOperands())
    return op->emitOpError("isSigned must say one thing an operand");
  return success();
}
LogicalResult PrintOp::verify() { return verifySigns(*this, getIsSigned()); }
LogicalResult TellOp::verify() {
  if (getKindNumber() >= static_cast<uint32_t>(ToldKind::LostMarks))
    return emitOpError("is of no kind that an operation tells");
  return verifySigns(*this, getIsSigned());
}

LogicalResult HintOp::verify() {
  if (isFloatLike(getType()))
    return emitOpError("is about integers and pointers");
  if (getValues().size() != std::max<size_t>(1, shapeOf(getType()).size()))
    return emitOpError("needs one number an axis");
  if (llvm::any_of(getValues(), [](int64_t value) { return value < 1; }))
    return emitOpError("needs positive numbers");
  return success();
}

// Packs and single elements come from tiles of one shape.
static LogicalResult verifyElementwise(Operation *op) {
  std::optional<ArrayRef<int64_t>> shape;
  for (Type type :
       llvm::concat<Type>(SmallVector<Type>(op->getOperandTypes()), SmallVector<Type>(op->getResultTypes()))) {
    if (shape && *shape != shapeOf(type))
      return op->emitOpError("operands and results must have one shape");
    shape = shapeOf(type);
  }
  return success();
}

LogicalResult InlineAsmOp::verify() {
  if (getResults().empty() || static_cast<int32_t>(getPack()) < 1)
    return emitOpError("needs a result and a positive pack");
  return verifyElementwise(*this);
}

LogicalResult ExternalCallOp::verify() {
  if (getIsSigned().size() != getOperands().size() + 1)
    return emitOpError("isSigned must say one thing an operand and one of the result");
  return verifyElementwise(*this);
}
