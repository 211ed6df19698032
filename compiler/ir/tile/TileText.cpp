// See TileText.h.
#include "compiler/ir/tile/TileText.h"
#include "compiler/ir/tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Parser/Parser.h"
#include <stdexcept>

using namespace mlir;
using namespace nacre::tile;

static const DialectRegistry &dialects() {
  static const DialectRegistry *registry = [] {
    auto *made = new DialectRegistry;
    made->insert<TileDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect, func::FuncDialect,
                 ub::UBDialect>();
    return made;
  }();
  return *registry;
}

TileText::TileText(llvm::StringRef text)
    : context(dialects(), MLIRContext::Threading::DISABLED), parsed(parseSourceString<ModuleOp>(text, &context)) {
  if (!parsed)
    throw std::runtime_error("the kernel's tile IR cannot be read");
}
