// See ShareCode.h.
#include "compiler/passes/cpu/ShareCode.h"
#include "compiler/ir/cpu/Cpu.h"
#include "compiler/passes/cpu/OutlinedFunction.h"
#include "compiler/passes/tile/ExpandMath.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

static constexpr size_t mostFunctionsInBlock = 12, mostMicroKernels = 4;

// Operations with the same key compute the same of their operands.
using Key = std::tuple<OperationName, DictionaryAttr, Type>;

static Key keyOf(Operation *op) {
  auto type = FunctionType::get(op->getContext(), op->getOperandTypes(), op->getResultTypes());
  return {op->getName(), op->getAttrDictionary(), type};
}

// The operations become calls of a function that holds a copy of the first.
static void share(ArrayRef<Operation *> copies, SymbolTable &symbols) {
  Operation *first = copies.front();
  auto type = cast<FunctionType>(std::get<Type>(keyOf(first)));
  OpBuilder builder(first->getContext());
  std::string name = (first->getName().stripDialect() + ".shared").str();
  func::FuncOp function = outlinedFunction(placeOfCall(first), name, type, symbols);
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  Operation *only = builder.clone(*first);
  only->setOperands(body->getArguments());
  func::ReturnOp::create(builder, first->getLoc(), only->getResults());
  for (Operation *op : copies) {
    builder.setInsertionPoint(op);
    auto call = func::CallOp::create(builder, placeOfCall(op), function, op->getOperands());
    op->replaceAllUsesWith(call);
    op->erase();
  }
}

namespace {

struct ShareCode : PassWrapper<ShareCode, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ShareCode)
  StringRef getArgument() const override { return "share-code"; }
  StringRef getDescription() const override { return "One function for code that a kernel repeats many times"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<func::FuncDialect, LLVM::LLVMDialect>();
  }
  void runOnOperation() override {
    llvm::MapVector<Key, SmallVector<Operation *>> functions, microKernels;
    DenseMap<std::pair<Block *, Key>, size_t> inBlock;
    DenseSet<Key> isRepeated;
    getOperation().walk([&](Operation *op) {
      if (auto kernel = dyn_cast<MicroKernelOp>(op)) {
        if (kernel.getBlocking().getEngine() != Engine::Tiles)
          microKernels[keyOf(op)].push_back(op);
      } else if (isExpandedMath(op)) {
        functions[keyOf(op)].push_back(op);
        if (++inBlock[{op->getBlock(), keyOf(op)}] > mostFunctionsInBlock)
          isRepeated.insert(keyOf(op));
      }
    });
    SymbolTable symbols(getOperation());
    for (auto &[key, copies] : functions)
      if (isRepeated.contains(key))
        share(copies, symbols);
    for (auto &[key, copies] : microKernels)
      if (copies.size() > mostMicroKernels)
        share(copies, symbols);
  }
};

} // namespace

std::unique_ptr<Pass> nacre::cpu::createShareCode() { return std::make_unique<ShareCode>(); }
void nacre::cpu::registerShareCode() { PassRegistration<ShareCode>(); }
