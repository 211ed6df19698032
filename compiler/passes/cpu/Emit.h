// Building blocks of the loops we emit: scalar index arithmetic that folds, addresses, vector and masked memory
// accesses, and the in-register form of each element type.
#pragma once

#include "compiler/ir/tile/Tile.h"
#include "compiler/passes/tile/ConvertFloat.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace nacre::cpu {

// The type an element has in registers: bf16 and fp8 are carried as integers of their width (only conversions look
// inside), pointers as !llvm.ptr, the rest as itself.
mlir::Type registerType(mlir::Type element);
// The type it has in memory: as in registers, but i1 takes a byte.
mlir::Type memoryType(mlir::Type element);
int64_t byteSize(mlir::Type element);

class Emit : public mlir::ImplicitLocOpBuilder {
public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;
  bool convertsHalf = true; // the machine converts fp16 to and from fp32 itself

  mlir::Value constant(mlir::Type type, int64_t value); // an integer scalar, or a splat when `type` is a vector
  mlir::Value constantFloat(mlir::Type type, double value);
  mlir::Value index(int64_t value) { return constant(getI64Type(), value); }
  mlir::Value zero(mlir::Type type); // of any register type, scalar or vector

  // Scalar integer arithmetic that folds constants away.
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value minSigned(mlir::Value a, mlir::Value b);
  mlir::Value maxSigned(mlir::Value a, mlir::Value b);
  mlir::Value toI64(mlir::Value value, bool isSigned = true);
  mlir::Value resize(mlir::Value value, mlir::Type type); // a signed integer scalar to another width
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);

  mlir::Type pointerType() { return mlir::LLVM::LLVMPointerType::get(getContext()); }
  mlir::Value offsetBytes(mlir::Value pointer, mlir::Value bytes); // also of vectors of pointers or offsets
  // The address of element `index` of so many bytes each.
  mlir::Value advance(mlir::Value pointer, mlir::Value index, int64_t bytes) {
    return offsetBytes(pointer, mul(index, this->index(bytes)));
  }
  mlir::Value load(mlir::Type type, mlir::Value pointer, int64_t alignment, bool isVolatile = false);
  void store(mlir::Value value, mlir::Value pointer, int64_t alignment, bool isVolatile = false);

  mlir::VectorType vectorType(mlir::Type element, int64_t width) { return mlir::VectorType::get({width}, element); }
  mlir::Value splat(mlir::Value scalar, int64_t width);
  mlir::Value iota(mlir::Type element, int64_t width); // 0, 1, 2, ...
  mlir::Value lane(mlir::Value vector, int64_t index);
  mlir::Value slice(mlir::Value vector, int64_t offset, int64_t width);

  // Runs `body` for 0 .. count - 1: a loop, unless there is one of them or none.
  void loop(int64_t count, llvm::function_ref<void(mlir::Value)> body);

  // i1 <-> the byte it takes in memory; other types pass through. Scalars and vectors.
  mlir::Value fromMemory(mlir::Value value, mlir::Type element);
  mlir::Value toMemory(mlir::Value value, mlir::Type element);

  // The constant a compile-time integer has, if it is one.
  static std::optional<int64_t> known(mlir::Value value);
  static bool isKnown(mlir::Value value, int64_t expected) { return known(value) == expected; }
};

// Conversions between element types as register values (scalars or vectors).
inline mlir::Value convertFloat(Emit &b, mlir::Value value, mlir::Type from, mlir::Type to, tile::Rounding rounding) {
  return nacre::convertFloat(b, value, from, to, rounding, b.convertsHalf);
}

} // namespace nacre::cpu
