// The operations of the gpu dialect.
#include "compiler/ir/gpu/Gpu.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::gpu;

#define GET_OP_CLASSES
#include "compiler/ir/gpu/Gpu.cpp.inc"

OpFoldResult ConvertOp::fold(FoldAdaptor) {
  if (getSource().getType() == getType())
    return getSource();
  // There and back again, or on from somewhere between.
  if (auto before = getSource().getDefiningOp<ConvertOp>()) {
    if (before.getSource().getType() == getType())
      return before.getSource();
    getSourceMutable().assign(before.getSource());
    return getResult();
  }
  return {};
}
