#include "runtime/compile/IRKernel.h"
#include "compiler/ir/tile/Tile.h"
#include "compiler/language/meaning/Diagnostic.h"
#include "compiler/reference/IRWalker.h"
#include "compiler/targets/StageText.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace nacre {

[[noreturn]] static void fail(const std::string &fileName, const std::string &message) {
  Diagnostic diagnostic;
  diagnostic.kind = Diagnostic::Kind::Value;
  diagnostic.message = fileName + ": " + message;
  throw CompileError(diagnostic);
}

IRKernel readIRKernel(const std::string &text, const std::string &fileName) {
  mlir::DialectRegistry registry;
  targets().front()->registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  replaceModule(*module, "tile", {text, fileName});
  IRKernel kernel;
  for (auto function : module->getOps<mlir::func::FuncOp>()) {
    if (!function->hasAttr(tile::kernelAttribute))
      continue;
    kernel.name = function.getName().str();
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      if (mlir::isa<tile::DescriptorType>(function.getArgument(i).getType())) { // an argument for each of its fields
        for (const tile::DescriptorField &field : tile::descriptorFields(function, i))
          if (field.type) {
            kernel.arguments.push_back(typeOfIR(field.type));
            kernel.divisibilities.push_back(static_cast<int>(field.divisibility));
          }
        continue;
      }
      Type type = typeOfIR(function.getArgument(i).getType());
      if (!type)
        fail(fileName, "argument " + std::to_string(i) + " of @" + kernel.name + " is neither a number nor a pointer");
      auto divisor = function.getArgAttrOfType<mlir::IntegerAttr>(i, tile::divisibilityAttribute);
      kernel.arguments.push_back(type);
      kernel.divisibilities.push_back(divisor ? static_cast<int>(divisor.getInt()) : 1);
    }
  }
  if (kernel.name.empty())
    fail(fileName, "it has no func.func with the attribute tile.kernel");
  return kernel;
}

} // namespace nacre
