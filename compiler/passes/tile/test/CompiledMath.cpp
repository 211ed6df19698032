// Builds the loop in MLIR, runs expand-math and the usual conversions to LLVM, and compiles with ORC at -O3 for the
// host.
#include "compiler/passes/tile/test/CompiledMath.h"
#include "compiler/passes/tile/ExpandMath.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include <stdexcept>

namespace nacre {

using namespace mlir;

struct CompiledMath::Code {
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

namespace {

mlir::Type elementType(OpBuilder &builder, MathElement element) {
  switch (element) {
  case MathElement::Half:
    return builder.getF16Type();
  case MathElement::BFloat:
    return builder.getBF16Type();
  case MathElement::Single:
    return builder.getF32Type();
  case MathElement::Double:
    return builder.getF64Type();
  }
  llvm_unreachable("no such element");
}

// func @loop(x, y, out, count): for (i = 0; i < count; i += lanes) out[i..] = op(x[i..], y[i..])
OwningOpRef<ModuleOp> buildLoop(MLIRContext &context, const std::string &opName, unsigned operandCount,
                                MathElement element) {
  OpBuilder builder(&context);
  Location location = builder.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder, location);
  builder.setInsertionPointToEnd(module->getBody());
  auto pointer = LLVM::LLVMPointerType::get(&context);
  mlir::Type arguments[] = {pointer, pointer, pointer, builder.getI64Type()};
  auto function = func::FuncOp::create(builder, location, "loop", builder.getFunctionType(arguments, {}));
  Block *entry = function.addEntryBlock();
  builder.setInsertionPointToStart(entry);

  mlir::Type scalar = elementType(builder, element);
  auto vector = VectorType::get({CompiledMath::lanes}, scalar);
  Value zero = arith::ConstantIntOp::create(builder, location, 0, 64);
  Value step = arith::ConstantIntOp::create(builder, location, CompiledMath::lanes, 64);
  auto loop = scf::ForOp::create(builder, location, zero, entry->getArgument(3), step);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    auto address = [&](unsigned argument) {
      return LLVM::GEPOp::create(builder, location, pointer, scalar, entry->getArgument(argument),
                                 ArrayRef<LLVM::GEPArg>{loop.getInductionVar()});
    };
    unsigned alignment = scalar.getIntOrFloatBitWidth() / 8;
    OperationState state(location, opName);
    for (unsigned operand = 0; operand < operandCount; ++operand)
      state.addOperands(LLVM::LoadOp::create(builder, location, vector, address(operand), alignment).getResult());
    state.addTypes(vector);
    Operation *op = builder.create(state);
    LLVM::StoreOp::create(builder, location, op->getResult(0), address(2), alignment);
  }
  func::ReturnOp::create(builder, location);
  return module;
}

[[noreturn]] void fail(const std::string &opName, const std::string &why) {
  throw std::runtime_error(opName + ": " + why);
}

template <typename T> T valueOf(llvm::Expected<T> expected, const std::string &opName) {
  if (!expected)
    fail(opName, llvm::toString(expected.takeError()));
  return std::move(*expected);
}

void optimise(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder passes(&machine);
  passes.registerModuleAnalyses(modules);
  passes.registerCGSCCAnalyses(components);
  passes.registerFunctionAnalyses(functions);
  passes.registerLoopAnalyses(loops);
  passes.crossRegisterProxies(loops, functions, components, modules);
  passes.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

} // namespace

CompiledMath::CompiledMath(const std::string &opName, unsigned operandCount, MathElement element,
                           const std::string &cpu)
    : code(std::make_unique<Code>()) {
  static const bool targetReady = !llvm::InitializeNativeTarget() && !llvm::InitializeNativeTargetAsmPrinter();
  if (!targetReady)
    fail(opName, "LLVM has no native target");

  DialectRegistry registry;
  registry.insert<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect,
                  vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  OwningOpRef<ModuleOp> module = buildLoop(context, opName, operandCount, element);

  PassManager expansion(&context);
  expansion.addPass(createExpandMath());
  if (failed(expansion.run(*module)))
    fail(opName, "expand-math failed");
  module->walk([&](Operation *op) {
    if (op->getName().getStringRef() == opName)
      fail(opName, "left unexpanded");
  });

  PassManager lowering(&context);
  // x86's own conversion to bf16 flushes subnormals; which one a kernel gets is its target's choice, here it is the
  // exact one.
  arith::ArithExpandOpsPassOptions exactNarrowing;
  exactNarrowing.includeBf16 = true;
  lowering.addPass(arith::createArithExpandOpsPass(exactNarrowing));
  lowering.addPass(createSCFToControlFlowPass());
  lowering.addPass(createConvertVectorToLLVMPass());
  lowering.addPass(createConvertMathToLLVMPass());
  lowering.addPass(createArithToLLVMConversionPass());
  lowering.addPass(createConvertControlFlowToLLVMPass());
  lowering.addPass(createConvertFuncToLLVMPass());
  lowering.addPass(createReconcileUnrealizedCastsPass());
  if (failed(lowering.run(*module)))
    fail(opName, "lowering to LLVM failed");

  auto llvmContext = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> llvmModule = translateModuleToLLVMIR(*module, *llvmContext);
  if (!llvmModule)
    fail(opName, "translation to LLVM IR failed");

  auto target = valueOf(llvm::orc::JITTargetMachineBuilder::detectHost(), opName);
  if (!cpu.empty()) {
    target.setCPU(cpu);
    target.getFeatures() = llvm::SubtargetFeatures();
  }
  target.setCodeGenOptLevel(llvm::CodeGenOptLevel::Aggressive);
  auto machine = valueOf(target.createTargetMachine(), opName);
  llvmModule->setDataLayout(machine->createDataLayout());
  llvmModule->setTargetTriple(machine->getTargetTriple());
  for (llvm::Function &function : *llvmModule)
    if (!function.isDeclaration())
      function.addFnAttr("prefer-vector-width", "512");
  optimise(*llvmModule, *machine);

  code->jit = valueOf(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(target).create(), opName);
  if (llvm::Error error =
          code->jit->addIRModule(llvm::orc::ThreadSafeModule(std::move(llvmModule), std::move(llvmContext))))
    fail(opName, llvm::toString(std::move(error)));
  function = valueOf(code->jit->lookup("loop"), opName).toPtr<void(const void *, const void *, void *, int64_t)>();
}

CompiledMath::~CompiledMath() = default;

} // namespace nacre
