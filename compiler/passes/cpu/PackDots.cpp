// See PackDots.h.
#include "compiler/passes/cpu/PackDots.h"
#include "compiler/ir/cpu/Cpu.h"
#include "compiler/passes/cpu/Emit.h"
#include "compiler/passes/cpu/OperandReuse.h"
#include "compiler/passes/cpu/Recompute.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

// Tile registers (AMX) take whole ones of 16 rows, 16 sums and 32 products along k.
static bool fitsTileRegisters(int64_t m, int64_t n, int64_t k) { return m % 16 == 0 && n % 16 == 0 && k % 32 == 0; }

// Floats under 32 bits are summed in f32.
static Type sumTypeOf(tile::DotOp op) {
  Type sum = op.getType().getElementType();
  return isa<FloatType>(sum) && sum.getIntOrFloatBitWidth() < 32 ? Float32Type::get(op.getContext()) : sum;
}

static BlockingAttr blockingOf(tile::DotOp op, const VectorTarget &target) {
  ArrayRef<int64_t> a = tile::shapeOf(op.getA().getType()), c = tile::shapeOf(op.getType());
  Type left = op.getA().getType().getElementType(), right = op.getB().getType().getElementType(), sum = sumTypeOf(op);
  int64_t batch = c.size() == 3 ? c[0] : 1, m = c[c.size() - 2], n = c.back(), k = a.back();
  int64_t lanes = std::max<int64_t>(1, target.vectorBytes / byteSize(sum));
  bool many = target.registers >= 32;
  int64_t panel = lanes * (many ? 4 : 2), rows = many ? 4 : 6;
  while (panel / 2 >= n && panel > 1)
    panel /= 2;
  // Pairs need whole ones along k, and columns that the instruction's vectors cover.
  bool pairs = target.bf16Dot && sum.isF32() && left.isBF16() && right.isBF16() && k % 2 == 0 && n % 4 == 0;
  bool quads =
      target.int8Dot && sum.isInteger(32) && left.isInteger(8) && right.isInteger(8) && k % 4 == 0 && n % 4 == 0;
  Engine engine = quads                                            ? Engine::Quads
                  : !pairs                                         ? Engine::Vectors
                  : target.bf16Tiles && fitsTileRegisters(m, n, k) ? Engine::Tiles
                                                                   : Engine::Pairs;
  Type operand = engine == Engine::Vectors ? sum : left;
  return BlockingAttr::get(op.getContext(), batch, m, n, k, operand, sum, lanes, panel, rows, engine);
}

// The dot that goes on with this one's sum as one walk along k, or null.
static tile::DotOp continuation(tile::DotOp dot) {
  if (!dot->hasOneUse() || sumTypeOf(dot) != dot.getType().getElementType())
    return {};
  auto next = dyn_cast<tile::DotOp>(*dot->user_begin());
  if (!next || next->getBlock() != dot->getBlock() || next.getAccumulator() != dot.getResult() ||
      next.getA().getType() != dot.getA().getType() || next.getB().getType() != dot.getB().getType() ||
      next.getPrecision() != dot.getPrecision())
    return {};
  return isUnchangedBetween(dot, next) ? next : tile::DotOp();
}

namespace {

struct PackDots : PassWrapper<PackDots, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PackDots)
  PackDots() = default;
  PackDots(const PackDots &other) : PassWrapper(other) {}
  explicit PackDots(const VectorTarget &target) {
    vectorBytes = target.vectorBytes;
    registers = target.registers;
    bf16Dot = target.bf16Dot;
    bf16Tiles = target.bf16Tiles;
    int8Dot = target.int8Dot;
  }

  StringRef getArgument() const override { return "pack-dots"; }
  StringRef getDescription() const override { return "Products of tiles to packed operands and their multiplication"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, tile::TileDialect, CpuDialect>();
  }

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      if (kernel->hasAttr(tile::kernelAttribute) && !kernel.isExternal())
        packKernel(kernel);
  }

private:
  void packKernel(func::FuncOp kernel) {
    SmallVector<tile::DotOp> dots;
    kernel.walk([&](tile::DotOp dot) { dots.push_back(dot); });
    if (dots.empty())
      return;
    // Those that are summed as one, by the last of them.
    llvm::MapVector<Operation *, SmallVector<tile::DotOp>> sums;
    DenseMap<Operation *, SmallVector<tile::DotOp>> earlier;
    for (tile::DotOp dot : dots) {
      SmallVector<tile::DotOp> chain = std::move(earlier[dot]);
      chain.push_back(dot);
      if (tile::DotOp next = continuation(dot))
        earlier[next] = std::move(chain);
      else
        sums[dot] = std::move(chain);
    }
    OperandReuse reuse(kernel);
    for (auto &[last, chain] : sums)
      packSum(chain, reuse);
  }

  void packSum(ArrayRef<tile::DotOp> chain, OperandReuse &reuse) {
    tile::DotOp first = chain.front(), last = chain.back();
    VectorTarget target;
    target.vectorBytes = vectorBytes;
    target.registers = registers;
    target.bf16Dot = bf16Dot;
    target.bf16Tiles = bf16Tiles;
    target.int8Dot = int8Dot;
    BlockingAttr blocking = blockingOf(last, target);
    OpBuilder builder(last);
    SmallVector<Value> rows, panels;
    for (tile::DotOp dot : chain) {
      auto key = [&](Value operand) { return reuse.key(last, operand); };
      std::optional<SmallVector<Value>> a = key(dot.getA()), b = key(dot.getB());
      Type rowsType = tile::withElement(dot.getA().getType(), blocking.getOperand());
      rows.push_back(RowsOp::create(builder, dot.getLoc(), rowsType, dot.getA(), a.value_or(SmallVector<Value>()),
                                    a.has_value(), blocking));
      panels.push_back(PanelsOp::create(builder, dot.getLoc(), blocking.panelsType(), dot.getB(),
                                        b.value_or(SmallVector<Value>()), b.has_value(), blocking));
    }
    Type sumType = tile::withElement(last.getType(), blocking.getSum());
    Value start = converted(builder, last.getLoc(), first.getAccumulator(), sumType);
    Value sum = MultiplyOp::create(builder, last.getLoc(), sumType, start, rows, panels, blocking);
    last.replaceAllUsesWith(converted(builder, last.getLoc(), sum, last.getType()));
    for (tile::DotOp dot : llvm::reverse(chain))
      dot.erase();
  }

  // A sum that starts from zero does so in every type.
  static Value converted(OpBuilder &builder, Location location, Value value, Type type) {
    if (value.getType() == type)
      return value;
    if (matchPattern(value, m_AnyZeroFloat()))
      return arith::ConstantOp::create(builder, location, cast<TypedAttr>(builder.getZeroAttr(type)));
    return tile::FpCastOp::create(builder, location, type, value, tile::Rounding::NearestEven);
  }

  Option<int64_t> vectorBytes{*this, "vector-bytes", llvm::cl::desc("bytes of a vector register"), llvm::cl::init(32)};
  Option<int64_t> registers{*this, "registers", llvm::cl::desc("number of vector registers"), llvm::cl::init(16)};
  Option<bool> bf16Dot{*this, "bf16-dot", llvm::cl::desc("the machine multiplies pairs of bf16"),
                       llvm::cl::init(false)};
  Option<bool> bf16Tiles{*this, "bf16-tiles", llvm::cl::desc("the machine has tile registers for bf16"),
                         llvm::cl::init(false)};
  Option<bool> int8Dot{*this, "int8-dot", llvm::cl::desc("the machine multiplies quads of bytes"),
                       llvm::cl::init(false)};
};

} // namespace

std::unique_ptr<Pass> nacre::cpu::createPackDots(const VectorTarget &target) {
  return std::make_unique<PackDots>(target);
}
void nacre::cpu::registerPackDots() { PassRegistration<PackDots>(); }
