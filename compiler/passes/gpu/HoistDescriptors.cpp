// See HoistDescriptors.h.
#include "compiler/passes/gpu/HoistDescriptors.h"
#include "compiler/analysis/AxisInfo.h"
#include "compiler/ir/simt/Simt.h"
#include "compiler/ir/simt/TensorMapRecipe.h"
#include "compiler/passes/gpu/Clusters.h"
#include "compiler/passes/tile/ExpandDescriptors.h"
#include "llvm/ADT/TypeSwitch.h"
#include <numeric>

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

using Kind = LaunchExpression::Kind;
using Element = TensorMapRecipe::Element;

namespace {

int64_t bytesOf(Type element) { return isa<tile::Float8E4B15Type>(element) ? 1 : element.getIntOrFloatBitWidth() / 8; }

// ---- Expressions of arguments

// The signed value of an integer, or the address of a pointer; none where the launch cannot compute it.
std::optional<LaunchExpression> expressionOf(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (!isa<func::FuncOp>(argument.getOwner()->getParentOp()))
      return std::nullopt;
    LaunchExpression whole = LaunchExpression::argument(argument.getArgNumber());
    if (isa<tile::PointerType>(value.getType()))
      return whole;
    auto type = dyn_cast<IntegerType>(value.getType());
    if (!type || type.getWidth() == 1)
      return std::nullopt;
    return type.getWidth() == 64 ? whole : whole.then(Kind::SignExtend, type.getWidth());
  }
  Operation *op = value.getDefiningOp();
  if (IntegerAttr number; matchPattern(value, m_Constant(&number)))
    return LaunchExpression::number(number.getValue().getSExtValue());
  auto of = [&](unsigned operand) { return expressionOf(op->getOperand(operand)); };
  // The result of arithmetic wraps at the width of its type.
  auto both = [&](Kind kind) -> std::optional<LaunchExpression> {
    std::optional<LaunchExpression> left = of(0), right = left ? of(1) : std::nullopt;
    if (!right)
      return std::nullopt;
    LaunchExpression result = LaunchExpression::combine(kind, *left, *right);
    unsigned width = value.getType().getIntOrFloatBitWidth();
    return width == 64 || kind == Kind::Minimum || kind == Kind::Maximum ? result
                                                                         : result.then(Kind::SignExtend, width);
  };
  return llvm::TypeSwitch<Operation *, std::optional<LaunchExpression>>(op)
      .Case<arith::ExtSIOp, tile::HintOp>([&](auto) { return of(0); })
      .Case([&](arith::ExtUIOp extend) -> std::optional<LaunchExpression> {
        std::optional<LaunchExpression> source = of(0);
        if (!source)
          return std::nullopt;
        return source->then(Kind::ZeroExtend, extend.getIn().getType().getIntOrFloatBitWidth());
      })
      .Case([&](arith::TruncIOp) -> std::optional<LaunchExpression> {
        std::optional<LaunchExpression> source = of(0);
        if (!source)
          return std::nullopt;
        return source->then(Kind::SignExtend, value.getType().getIntOrFloatBitWidth());
      })
      .Case([&](arith::AddIOp) { return both(Kind::Add); })
      .Case([&](arith::SubIOp) { return both(Kind::Subtract); })
      .Case([&](arith::MulIOp) { return both(Kind::Multiply); })
      .Case([&](arith::MinSIOp) { return both(Kind::Minimum); })
      .Case([&](arith::MaxSIOp) { return both(Kind::Maximum); })
      .Case([&](tile::BitcastOp cast) -> std::optional<LaunchExpression> {
        if (!isa<tile::PointerType>(cast.getType()) || !isa<tile::PointerType>(cast.getSource().getType()))
          return std::nullopt;
        return of(0);
      })
      .Case([&](tile::AddPtrOp add) -> std::optional<LaunchExpression> {
        auto type = dyn_cast<tile::PointerType>(add.getType());
        if (!type || isa<tile::PointerType>(type.getPointee()) || type.getPointee().isInteger(1))
          return std::nullopt;
        std::optional<LaunchExpression> pointer = of(0), offset = pointer ? of(1) : std::nullopt;
        if (!offset)
          return std::nullopt;
        LaunchExpression bytes =
            LaunchExpression::combine(Kind::Multiply, *offset, LaunchExpression::number(bytesOf(type.getPointee())));
        return LaunchExpression::combine(Kind::Add, *pointer, bytes);
      })
      .Default([](Operation *) { return std::nullopt; });
}

// The type of a map's elements: for copies, or for a reduction of that kind. None: there is none.
std::optional<Element> elementOf(Type type, std::optional<tile::AtomicKind> kind) {
  if (kind) {
    using tile::AtomicKind;
    bool isUnsigned = *kind == AtomicKind::MinU || *kind == AtomicKind::MaxU;
    bool isFloat = *kind == AtomicKind::AddF || *kind == AtomicKind::MinF || *kind == AtomicKind::MaxF;
    if (*kind == AtomicKind::MinF || *kind == AtomicKind::MaxF)
      return type.isF16() ? std::optional(Element::F16) : type.isBF16() ? std::optional(Element::BF16) : std::nullopt;
    if (!isFloat)
      return type.isInteger(32) ? std::optional(isUnsigned ? Element::U32 : Element::S32) : std::nullopt;
    if (!type.isF16() && !type.isBF16() && !type.isF32())
      return std::nullopt;
  }
  if (type.isF16())
    return Element::F16;
  if (type.isBF16())
    return Element::BF16;
  if (type.isF32())
    return Element::F32;
  if (type.isF64())
    return Element::F64;
  if (type.isInteger(1) || isa<tile::PointerType>(type))
    return std::nullopt;
  switch (bytesOf(type)) {
  case 1:
    return Element::U8;
  case 2:
    return Element::U16;
  case 4:
    return Element::S32;
  default:
    return Element::U64;
  }
}

// ---- Accesses

// One access, and what of it decides.
struct Access {
  Operation *op;
  Value descriptor;
  OperandRange offsets;
  tile::Padding padding = tile::Padding::Zero;
  tile::CacheModifier cache = tile::CacheModifier::None;
  std::optional<tile::AtomicKind> kind;

  tile::DescriptorType type() const { return cast<tile::DescriptorType>(descriptor.getType()); }

  // None of an access of another kind.
  static std::optional<Access> of(Operation *op) {
    if (auto load = dyn_cast<tile::DescriptorLoadOp>(op))
      return Access{op, load.getDescriptor(), load.getOffsets(), load.getPadding(), load.getCache(), std::nullopt};
    if (auto store = dyn_cast<tile::DescriptorStoreOp>(op))
      return Access{op, store.getDescriptor(), store.getOffsets()};
    if (auto reduce = dyn_cast<tile::DescriptorReduceOp>(op))
      return Access{op,
                    reduce.getDescriptor(),
                    reduce.getOffsets(),
                    tile::Padding::Zero,
                    tile::CacheModifier::None,
                    reduce.getKind()};
    return std::nullopt;
  }
};

// Whether accesses may be copies of boxes, by facts about one kernel.
class Decision {
public:
  Decision(func::FuncOp kernel, const BoxLimits &limits)
      : limits(limits), ctas(tile::LaunchOptions::of(kernel->getParentOfType<ModuleOp>()).numCtas.value_or(1)),
        analysis(kernel) {}

  // Why it may not; empty when it may, and then `recipe` is how its map is made.
  std::string reason(const Access &access, TensorMapRecipe &recipe);
  // An offset as a coordinate.
  bool fits(Value offset) {
    IntegerRange range = analysis.range(offset);
    return range.low >= std::numeric_limits<int32_t>::min() && range.high <= std::numeric_limits<int32_t>::max();
  }
  bool isPositive(Value extent) { return analysis.range(extent).low > 0; }

private:
  bool isAligned(Value value, int64_t bytes) {
    return IntegerFacts::product(analysis.info(value).divisibility(), bytes & -bytes) % limits.alignment == 0;
  }
  std::string reasonOfBlock(const Access &access, TensorMapRecipe &recipe);

  const BoxLimits &limits;
  const int64_t ctas;
  AxisAnalysis analysis;
};

// One box where it can be. Rows longer than the widest swizzle, 128 bytes, are several boxes beside each other; so is
// an axis that is longer than a box may be. A swizzle repeats after eight rows, and is used where there are as many.
void chooseBox(ArrayRef<int64_t> shape, int64_t size, const BoxLimits &limits, TensorMapRecipe &recipe) {
  constexpr int64_t narrowest = 32, widest = 128, rowsOfPattern = 8;
  int64_t rowBytes = shape.back() * size, rows = 1;
  for (int64_t extent : shape.drop_back())
    rows *= extent;
  for (int64_t extent : shape)
    recipe.box.push_back(std::min(extent, limits.mostExtent));
  if (rowBytes >= narrowest && rows >= rowsOfPattern) {
    recipe.swizzle = static_cast<unsigned>(std::min(rowBytes, widest));
    recipe.box.back() = recipe.swizzle / size;
  }
}

// What each block of a cluster copies: its share of the tile, as an access alone would have it. One that wants all of the
// tile, or another part, copies several such boxes.
static SmallVector<int64_t> shareOf(RankedTensorType block, int64_t size, int64_t ctas) {
  SmallVector<int64_t> share(block.getShape());
  if (ctas == 1)
    return share;
  SmallVector<unsigned> axes(share.size()), bits = LinearLayout::paddedBits(share);
  std::iota(axes.begin(), axes.end(), 0);
  constexpr int64_t leastBytes = 32; // of a row
  LinearLayout parts = blockParts(bits, axes, axes.back(), leastBytes / size, ctas);
  for (unsigned axis : axes)
    share[axis] >>= parts.axisBits(axis);
  // Boxes lie one after the other in shared memory, each at a multiple of its alignment.
  if (ShapedType::getNumElements(share) * size < SharedType::leastAlignment)
    return SmallVector<int64_t>(block.getShape());
  return share;
}

std::string Decision::reasonOfBlock(const Access &access, TensorMapRecipe &recipe) {
  RankedTensorType block = access.type().getBlock();
  Type element = block.getElementType();
  std::optional<Element> kind = elementOf(element, access.kind);
  if (!kind)
    return access.kind ? "the hardware has no such reduction of this type"
                       : "the hardware copies no elements of this type";
  recipe.element = *kind;
  int64_t size = bytesOf(element), rowBytes = block.getShape().back() * size;
  if (!llvm::all_of(block.getShape(), [](int64_t extent) { return llvm::isPowerOf2_64(extent); }))
    return "the extents of its block are not all powers of two";
  if (rowBytes % limits.alignment != 0)
    return "a row of its block has " + std::to_string(rowBytes) + " bytes, less than a copy takes";
  if (block.getNumElements() * size > limits.sharedBytes / 2)
    return "its block is larger than half of shared memory";
  if (access.padding == tile::Padding::Nan) {
    if (!element.isF16() && !element.isBF16() && !element.isF32())
      return "the hardware does not fill elements of this type with NaN";
    recipe.fillsNaN = true;
  }
  chooseBox(shareOf(block, size, ctas), size, limits, recipe);
  return "";
}

std::string Decision::reason(const Access &access, TensorMapRecipe &recipe) {
  auto made = access.descriptor.getDefiningOp<tile::MakeDescriptorOp>();
  if (!made)
    return "its descriptor is not made in one place";
  if (std::string wrong = reasonOfBlock(access, recipe); !wrong.empty())
    return wrong;
  using tile::CacheModifier;
  if (!llvm::is_contained({CacheModifier::None, CacheModifier::CA, CacheModifier::CG}, access.cache))
    return "its cache modifier is not one of the hardware's copies";
  int64_t size = bytesOf(access.type().getElementType());
  std::optional<LaunchExpression> base = expressionOf(made.getBase());
  if (!base)
    return "its base is not computed from the arguments alone";
  recipe.base = std::move(*base);
  if (!isAligned(made.getBase(), 1))
    return "its base is not known to be aligned to 16 bytes";
  for (auto [axis, extent] : llvm::enumerate(made.getShape())) {
    std::optional<LaunchExpression> expression = expressionOf(extent);
    if (!expression)
      return "the extent of axis " + std::to_string(axis) + " is not computed from the arguments alone";
    if (analysis.range(extent).high > std::numeric_limits<int32_t>::max())
      return "the extent of axis " + std::to_string(axis) + " is not known to fit into 32 bits";
    recipe.shape.push_back(std::move(*expression));
  }
  for (auto [axis, stride] : llvm::enumerate(made.getStrides())) {
    std::optional<LaunchExpression> expression = expressionOf(stride);
    if (!expression)
      return "the stride of axis " + std::to_string(axis) + " is not computed from the arguments alone";
    if (!isAligned(stride, size))
      return "the stride of axis " + std::to_string(axis) + " is not known to be a multiple of 16 bytes";
    recipe.strides.push_back(std::move(*expression));
  }
  for (auto [axis, offset] : llvm::enumerate(access.offsets))
    if (!fits(offset))
      return "the offset along axis " + std::to_string(axis) + " is not known to fit into 32 bits";
  if (!isAligned(access.offsets.back(), size))
    return "the offset along the last axis is not known to be a multiple of 16 bytes";
  return "";
}

// ---- The pass

struct HoistDescriptors : PassWrapper<HoistDescriptors, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(HoistDescriptors)
  explicit HoistDescriptors(const BoxLimits &limits) : limits(limits) {}

  StringRef getArgument() const override { return "hoist-descriptors"; }
  StringRef getDescription() const override { return "Accesses through descriptors as copies of boxes"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, SimtDialect>();
  }

  void runOnOperation() override {
    if (failed(expandDescriptorArguments(getOperation())))
      return signalPassFailure();
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      if (kernel->hasAttr(tile::kernelAttribute))
        hoist(kernel);
  }

  void hoist(func::FuncOp kernel) {
    SmallVector<std::pair<Access, TensorMapRecipe>, 0> taken;
    SmallVector<std::string> recipes; // of the maps there are
    Builder b(&getContext());
    Decision decision(kernel, limits);
    kernel.walk([&](Operation *op) {
      std::string reason;
      TensorMapRecipe recipe;
      if (std::optional<Access> access = Access::of(op)) {
        reason = decision.reason(*access, recipe);
        std::string text = recipe.text();
        bool isNew = !llvm::is_contained(recipes, text);
        if (reason.empty() && isNew && recipes.size() == limits.mostMaps)
          reason = "the kernel has " + std::to_string(limits.mostMaps) + " tensor maps already";
        if (reason.empty()) {
          if (isNew)
            recipes.push_back(text);
          taken.emplace_back(*access, std::move(recipe));
        }
      } else if (isa<tile::DescriptorGatherOp, tile::DescriptorScatterOp>(op)) {
        reason = "the hardware copies boxes, not rows one by one";
      }
      if (!reason.empty())
        op->setAttr(pointersAttribute, b.getStringAttr(reason));
    });
    for (auto &[access, recipe] : taken)
      rewrite(kernel, access, recipe, decision);
  }

  // The argument with that recipe, a new one where there is none yet.
  Value mapOf(func::FuncOp kernel, const Access &access, const TensorMapRecipe &recipe) {
    Builder b(&getContext());
    Attribute text = b.getStringAttr(recipe.text());
    auto type = TensorMapType::get(&getContext(), access.type().getBlock());
    unsigned count = kernel.getNumArguments();
    for (unsigned i = 0; i < count; ++i)
      if (kernel.getArgAttr(i, recipeAttribute) == text && kernel.getArgument(i).getType() == type)
        return kernel.getArgument(i);
    (void)kernel.insertArgument(count, type, b.getDictionaryAttr(b.getNamedAttr(recipeAttribute, text)),
                                access.descriptor.getLoc());
    return kernel.getArgument(count);
  }

  void rewrite(func::FuncOp kernel, const Access &access, const TensorMapRecipe &recipe, Decision &decision) {
    Operation *op = access.op;
    OpBuilder b(op);
    Location location = op->getLoc();
    SmallVector<Value> coordinates;
    for (Value offset : access.offsets) {
      auto extended = offset.getDefiningOp<arith::ExtSIOp>();
      coordinates.push_back(extended && extended.getIn().getType().isInteger(32)
                                ? extended.getIn()
                                : arith::TruncIOp::create(b, location, b.getI32Type(), offset).getResult());
    }
    // An axis with nothing in it has one element in the map, and all of the box lies behind that: by a distance that is
    // a multiple of 16 bytes.
    auto made = access.descriptor.getDefiningOp<tile::MakeDescriptorOp>();
    for (auto [axis, extent] : llvm::enumerate(made.getShape())) {
      if (decision.isPositive(extent))
        continue;
      Value one = arith::ConstantOp::create(b, location, b.getI64IntegerAttr(1));
      Value isEmpty = arith::CmpIOp::create(b, location, arith::CmpIPredicate::slt, extent, one);
      Value behind = arith::ConstantOp::create(b, location, b.getI32IntegerAttr(16));
      coordinates[axis] = arith::SelectOp::create(b, location, isEmpty, behind, coordinates[axis]);
    }
    Value map = mapOf(kernel, access, recipe);
    if (auto load = dyn_cast<tile::DescriptorLoadOp>(op)) {
      load.replaceAllUsesWith(LoadBoxOp::create(b, location, load.getType(), map, coordinates).getResult());
    } else if (auto store = dyn_cast<tile::DescriptorStoreOp>(op)) {
      StoreBoxOp::create(b, location, map, coordinates, store.getValue(), tile::AtomicKindAttr());
    } else {
      auto reduce = cast<tile::DescriptorReduceOp>(op);
      StoreBoxOp::create(b, location, map, coordinates, reduce.getValue(), reduce.getKindAttr());
    }
    op->erase();
  }

  const BoxLimits limits;
};

} // namespace

std::unique_ptr<Pass> nacre::simt::createHoistDescriptors(const BoxLimits &limits) {
  return std::make_unique<HoistDescriptors>(limits);
}
