// A libFuzzer target: whatever the text is, reading it as tile IR ends with a module that verifies or a CompileError.
#include "compiler/language/meaning/Diagnostic.h"
#include "compiler/targets/StageText.h"
#include "compiler/targets/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const mlir::DialectRegistry *registry = [] {
    auto *made = new mlir::DialectRegistry;
    for (const nacre::Target *target : nacre::targets())
      target->registerDialects(*made);
    return made;
  }();
  mlir::MLIRContext context(*registry, mlir::MLIRContext::Threading::DISABLED);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  try {
    nacre::replaceModule(*module, "tile", {std::string(reinterpret_cast<const char *>(data), size), "fuzz.mlir"});
  } catch (const nacre::CompileError &) {
    return 0;
  }
  if (failed(mlir::verify(*module)))
    abort();
  return 0;
}
