// The pass around Lowering. See LowerToLoops.h.
#include "compiler/passes/cpu/LowerToLoops.h"
#include "compiler/ir/cpu/Cpu.h"
#include "compiler/passes/cpu/DeepenDots.h"
#include "compiler/passes/cpu/DivideVectors.h"
#include "compiler/passes/cpu/KernelEntry.h"
#include "compiler/passes/cpu/LowerMicroKernels.h"
#include "compiler/passes/cpu/PackDots.h"
#include "compiler/passes/cpu/PlaceScratch.h"
#include "compiler/passes/cpu/PrintPlan.h"
#include "compiler/passes/cpu/ShareCode.h"
#include "compiler/passes/cpu/SplitBlocks.h"
#include "compiler/passes/cpu/StoreOrder.h"
#include "compiler/passes/tile/WidenSmallFloats.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

// The lowering knows the language's types alone; reports the first operation that has another one.
static LogicalResult checkTypes(func::FuncOp kernel) {
  auto isKnown = [](Type type) { return tile::isScalarType(type) || tile::isTileType(type); };
  for (Type type : kernel.getArgumentTypes())
    if (!tile::isScalarType(type))
      return kernel.emitError("a launch hands over scalars and pointers; this kernel has an argument of type ") << type;
  WalkResult result = kernel.walk([&](Operation *op) {
    SmallVector<Type> types(op->getResultTypes());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::append_range(types, block.getArgumentTypes());
    auto unknown = llvm::find_if_not(types, isKnown);
    if (unknown == types.end())
      return WalkResult::advance();
    op->emitError("the CPU target has no values of type ") << *unknown;
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

// What earlier passes take away: arithmetic on floats under 32 bits, which widen-small-floats does in f32, and products
// of plain tiles.
static LogicalResult checkPrepared(func::FuncOp kernel) {
  WalkResult result = kernel.walk([&](Operation *op) {
    if (isSmallFloatArithmetic(op))
      op->emitError("arithmetic on small floats; run widen-small-floats before");
    else if (isa<tile::DotOp>(op))
      op->emitError("a product whose operands are not packed; run pack-dots before");
    else
      return WalkResult::advance();
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult nacre::cpu::checkIsLowerable(func::FuncOp kernel) {
  if (!kernel.isExternal() && kernel.getBody().hasOneBlock() && succeeded(checkTypes(kernel)) &&
      succeeded(checkPrepared(kernel)))
    return success();
  return kernel.emitError("this kernel cannot be lowered to loops");
}

namespace {

struct LowerToLoops : PassWrapper<LowerToLoops, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerToLoops)
  LowerToLoops() = default;
  LowerToLoops(const LowerToLoops &other) : PassWrapper(other) {}
  explicit LowerToLoops(const VectorTarget &target) {
    vectorBytes = target.vectorBytes;
    registers = target.registers;
    convertsHalf = target.convertsHalf;
  }

  StringRef getArgument() const override { return "lower-to-loops"; }
  StringRef getDescription() const override {
    return "Tile operations to loops over vectors, and the kernel to a loop over its grid";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, math::MathDialect, scf::SCFDialect, vector::VectorDialect, LLVM::LLVMDialect,
                    func::FuncDialect, CpuDialect>();
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    VectorTarget target;
    target.vectorBytes = vectorBytes;
    target.registers = registers;
    target.convertsHalf = convertsHalf;
    bool waits = false;
    for (auto kernel : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
      if (!kernel->hasAttr(tile::kernelAttribute))
        continue;
      if (failed(checkIsLowerable(kernel)))
        return signalPassFailure();
      sinkStores(kernel);
      Lowering lowering(kernel, target);
      if (failed(lowering.run()))
        return signalPassFailure();
      waits |= lowering.waits();
    }
    if (waits)
      module->setAttr(waitsAttribute, UnitAttr::get(&getContext()));
  }

  Option<int64_t> vectorBytes{*this, "vector-bytes", llvm::cl::desc("bytes of a vector register"), llvm::cl::init(32)};
  Option<int64_t> registers{*this, "registers", llvm::cl::desc("number of vector registers"), llvm::cl::init(16)};
  Option<bool> convertsHalf{*this, "converts-half", llvm::cl::desc("the machine converts fp16"), llvm::cl::init(true)};
};

} // namespace

std::unique_ptr<Pass> nacre::cpu::createLowerToLoops(const VectorTarget &target) {
  return std::make_unique<LowerToLoops>(target);
}

void nacre::cpu::registerCpuPasses() {
  registerDeepenDots();
  registerDivideVectors();
  registerPackDots();
  registerPrintPlan();
  PassRegistration<LowerToLoops>();
  registerShareCode();
  registerLowerMicroKernels();
  registerPlaceScratch();
  registerKernelEntry();
  registerSplitBlocks();
}
