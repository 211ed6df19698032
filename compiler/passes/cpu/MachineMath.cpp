// See MachineMath.h.
#include "compiler/passes/cpu/MachineMath.h"
#include "compiler/passes/cpu/Emit.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

// AVX-512 scales by a power of two in one instruction, a whole register at a time.
static Value scaleByPowerOfTwo(OpBuilder &builder, Location location, Value a, Value n) {
  auto type = dyn_cast<VectorType>(a.getType());
  if (!type)
    return {};
  bool isDouble = type.getElementType().isF64();
  int64_t lanes = isDouble ? 8 : 16, width = type.getDimSize(0);
  if (width % lanes != 0)
    return {};
  Emit b(location, builder);
  auto name = b.getStringAttr(isDouble ? "llvm.x86.avx512.mask.scalef.pd.512" : "llvm.x86.avx512.mask.scalef.ps.512");
  VectorType part = b.vectorType(type.getElementType(), lanes);
  Value result = width == lanes ? Value() : b.zero(type);
  Value everyLane = b.constant(b.getIntegerType(lanes), -1), currentRounding = b.constant(b.getI32Type(), 4);
  for (int64_t offset = 0; offset < width; offset += lanes) {
    Value slice = b.slice(a, offset, lanes);
    Value scaled = LLVM::CallIntrinsicOp::create(
                       b, part, name, ValueRange{slice, b.slice(n, offset, lanes), slice, everyLane, currentRounding})
                       .getResult(0);
    result = width == lanes ? scaled
                            : Value(vector::InsertStridedSliceOp::create(b, scaled, result, ArrayRef<int64_t>{offset},
                                                                         ArrayRef<int64_t>{1}));
  }
  return result;
}

MathTarget nacre::cpu::machineMath(const VectorTarget &target) {
  MathTarget machine;
  if (target.vectorBytes == 64)
    machine.scaleByPowerOfTwo = scaleByPowerOfTwo;
  return machine;
}
