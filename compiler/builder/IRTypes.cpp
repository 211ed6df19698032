// The language's types for the IR's.
#include "compiler/builder/IRBuilder.h"
#include "compiler/ir/tile/Tile.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace nacre;

Type nacre::typeOfIR(mlir::Type type) {
  if (auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type)) {
    Type element = typeOfIR(tensor.getElementType());
    return element && tensor.hasStaticShape() && tensor.getRank() > 0 ? Type::block(element, tensor.getShape())
                                                                      : Type();
  }
  if (type.isIndex())
    return int64();
  if (auto integer = mlir::dyn_cast<mlir::IntegerType>(type)) {
    switch (integer.getWidth()) {
    case 1:
      return int1();
    case 8:
      return int8();
    case 16:
      return int16();
    case 32:
      return int32();
    case 64:
      return int64();
    default:
      return Type();
    }
  }
  if (auto descriptor = mlir::dyn_cast<tile::DescriptorType>(type))
    return Type::descriptor(typeOfIR(descriptor.getBlock()));
  if (auto pointer = mlir::dyn_cast<tile::PointerType>(type))
    return Type::pointer(typeOfIR(pointer.getPointee()), pointer.getIsConst(), pointer.getAddressSpace());
  return llvm::TypeSwitch<mlir::Type, Type>(type)
      .Case([](mlir::Float64Type) { return float64(); })
      .Case([](mlir::Float32Type) { return float32(); })
      .Case([](mlir::Float16Type) { return float16(); })
      .Case([](mlir::BFloat16Type) { return bfloat16(); })
      .Case([](mlir::Float8E4M3FNType) { return Type::scalar(ScalarKind::Float8E4NV); })
      .Case([](mlir::Float8E5M2Type) { return Type::scalar(ScalarKind::Float8E5); })
      .Case([](mlir::Float8E4M3FNUZType) { return Type::scalar(ScalarKind::Float8E4B8); })
      .Case([](mlir::Float8E5M2FNUZType) { return Type::scalar(ScalarKind::Float8E5B16); })
      .Case([](tile::Float8E4B15Type) { return Type::scalar(ScalarKind::Float8E4B15); })
      .Default([](mlir::Type) { return Type(); });
}
