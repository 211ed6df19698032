#include "runtime/launch/HostCode.h"
#include "compiler/builder/IRBuilder.h"
#include "compiler/ir/tile/Tile.h"
#include "compiler/support/ForkSafety.h"
#include "compiler/targets/Target.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "runtime/launch/Kernel.h"
#include "runtime/launch/Launch.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

namespace nacre {

namespace {

// Nothing is asked of anyone: the kernel is IR.
class NoEmbedder : public Embedder {
  Answer global(const FunctionSource &, llvm::StringRef) override { return {}; }
  Answer attribute(const Object &, llvm::StringRef) override { return {}; }
  Answer call(const Object &, llvm::ArrayRef<Object>, llvm::ArrayRef<std::pair<std::string, Object>>) override {
    return {};
  }
};

// Pointers lie in memory as integers: they point anywhere.
Type typeInMemory(Type type) { return type.isPointerLike() ? type.withScalar(int64()) : type; }

// A kernel that loads the operands, does the operation, and stores the results; a pointer argument for each.
std::string kernelText(llvm::ArrayRef<Type> operandTypes, llvm::ArrayRef<Type> resultTypes,
                       const NativeCode::Emit &emit) {
  mlir::DialectRegistry registry;
  targets().front()->registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  IRBuilder ir(context);
  mlir::OpBuilder &ops = ir.ops();
  mlir::Location location = ops.getUnknownLoc();
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(location);
  llvm::SmallVector<Type> pointers;
  llvm::SmallVector<mlir::Type> types;
  for (llvm::ArrayRef<Type> list : {operandTypes, resultTypes})
    for (Type type : list) {
      pointers.push_back(Type::pointer(typeInMemory(type).scalarType()));
      types.push_back(ir.irType(pointers.back()));
    }
  ops.setInsertionPointToEnd(module->getBody());
  auto function = mlir::func::FuncOp::create(ops, location, "elementwise", ops.getFunctionType(types, {}));
  function->setAttr(tile::kernelAttribute, ops.getUnitAttr());
  ops.setInsertionPointToEnd(function.addEntryBlock());
  // Where the elements of argument `index` are.
  auto place = [&](size_t index, Type type) {
    Value base = IRBuilder::wrap(pointers[index], function.getArgument(static_cast<unsigned>(index)));
    if (!type.isBlock())
      return base;
    return ir.addPointer(ir.splat(base, type.shape()), ir.arange(0, type.elementCount()));
  };
  Values operands;
  for (auto [i, type] : llvm::enumerate(operandTypes)) {
    Value value = ir.load(place(i, type), Value(), Value(), LoadOptions());
    operands.push_back(type.isPointerLike() ? ir.cast(CastOp::IntToPointer, value, type, Rounding::NearestEven)
                                            : value);
  }
  Values results = emit(ir, operands);
  for (auto [i, type] : llvm::enumerate(resultTypes)) {
    Value value = results[i];
    if (type.isPointerLike())
      value = ir.cast(CastOp::PointerToInt, value, typeInMemory(type), Rounding::NearestEven);
    ir.store(place(operandTypes.size() + i, type), value, Value(), StoreOptions());
  }
  mlir::func::ReturnOp::create(ops, location);
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  return text;
}

class HostCode : public NativeCode {
public:
  void run(const std::string &key, llvm::ArrayRef<Type> operandTypes, llvm::ArrayRef<Type> resultTypes,
           const Emit &emit, llvm::ArrayRef<const std::byte *> operands, llvm::ArrayRef<std::byte *> results) override {
    std::string whole = key;
    for (llvm::ArrayRef<Type> list : {operandTypes, resultTypes}) {
      whole += "\n";
      for (Type type : list)
        whole += type.str() + ",";
    }
    std::shared_ptr<Kernel> kernel = find(whole, operandTypes, resultTypes, emit);
    llvm::SmallVector<uint64_t> arguments;
    for (const std::byte *operand : operands)
      arguments.push_back(reinterpret_cast<uint64_t>(operand));
    for (std::byte *result : results)
      arguments.push_back(reinterpret_cast<uint64_t>(result));
    uint32_t grid[3] = {1, 1, 1};
    launch(*kernel, hostDevice(), grid, arguments);
  }

private:
  std::shared_ptr<Kernel> find(const std::string &key, llvm::ArrayRef<Type> operandTypes,
                               llvm::ArrayRef<Type> resultTypes, const Emit &emit) {
    std::lock_guard<RenewedLock> guard(lock);
    std::shared_ptr<Kernel> &kernel = kernels[key];
    if (!kernel) {
      CompileRequest request;
      auto text = std::make_shared<SourceText>();
      text->fileName = "<elementwise>";
      text->text = kernelText(operandTypes, resultTypes, emit);
      request.kernel.key = request.kernel.name = "elementwise";
      request.kernel.text = text;
      request.isTileIR = true;
      NoEmbedder embedder;
      kernel = std::make_shared<Kernel>(key, compileKernel(request, embedder));
    }
    return kernel;
  }

  RenewedLock lock;
  std::map<std::string, std::shared_ptr<Kernel>> kernels;
};

} // namespace

NativeCode &hostCode() {
  static auto *code = new HostCode; // kernels may run until the process ends
  return *code;
}

} // namespace nacre
