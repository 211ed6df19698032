// A libFuzzer target: whatever the text is, reading it as tile IR ends with a module that verifies or a CompileError.
#include "compiler/ir/simt/Simt.h"
#include "compiler/language/meaning/Diagnostic.h"
#include "compiler/targets/StageText.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Verifier.h"

using namespace nacre;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const mlir::DialectRegistry *registry = [] {
    auto *made = new mlir::DialectRegistry;
    made->insert<tile::TileDialect, simt::SimtDialect, mlir::arith::ArithDialect, mlir::math::MathDialect,
                 mlir::scf::SCFDialect, mlir::func::FuncDialect, mlir::ub::UBDialect, mlir::cf::ControlFlowDialect>();
    return made;
  }();
  mlir::MLIRContext context(*registry, mlir::MLIRContext::Threading::DISABLED);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  try {
    replaceModule(*module, "tile", {std::string(reinterpret_cast<const char *>(data), size), "fuzz.mlir"});
  } catch (const CompileError &) {
    return 0;
  }
  if (failed(mlir::verify(*module)))
    abort();
  return 0;
}
