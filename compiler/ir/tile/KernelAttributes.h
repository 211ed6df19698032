// The dialect's attributes on operations that are not its own, with their accessors. The dialect's verifier refuses any
// other attribute that begins with `tile.`, and these where they do not belong.
//
//   module attributes {tile.num_warps = 8 : i32, tile.num_stages = 3 : i32} {
//     func.func @kernel(%x: !tile.ptr<f32> {tile.divisibility = 16 : i64}) attributes {tile.kernel} {
//       scf.for ... {
//       } {tile.num_stages = 4 : i32, tile.warp_specialize}
#pragma once

#include "compiler/ir/tile/LaunchOptions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include <optional>

namespace nacre::tile {

// The unit attribute that marks a func.func as a kernel, and the i64 argument attribute for a known divisor.
inline constexpr llvm::StringLiteral kernelAttribute = "tile.kernel";
inline constexpr llvm::StringLiteral divisibilityAttribute = "tile.divisibility";

// How a descriptor that the host made arrives: its fields, which are the base, the extents and the strides but the
// last. One that is known while compiling is a number and takes no place among the arguments.
//
//   %a: !tile.descriptor<tensor<64x32xf16>> {tile.fields = [!tile.ptr<f16>, i32, 1 : i64, i64],
//                                            tile.field_divisibility = array<i64: 16, 1, 1, 16>}
inline constexpr llvm::StringLiteral fieldsAttribute = "tile.fields";
inline constexpr llvm::StringLiteral fieldDivisibilityAttribute = "tile.field_divisibility";
inline constexpr llvm::StringLiteral paddingAttribute = "tile.padding"; // where it is not zero

struct DescriptorField {
  mlir::Type type;          // of a field that arrives; null: it is known
  int64_t number = 0;       // when it is known
  int64_t divisibility = 1; // of one that arrives
};

// The fields of argument `index`; empty where it is no descriptor.
llvm::SmallVector<DescriptorField> descriptorFields(mlir::func::FuncOp function, unsigned index);
void setDescriptorFields(mlir::func::FuncOp function, unsigned index, llvm::ArrayRef<DescriptorField> fields);
// How many arguments the calling convention has for argument `index`: one, or those fields of a descriptor that arrive.
unsigned argumentSlots(mlir::func::FuncOp function, unsigned index);

// What the kernel's author says about an scf.for or scf.while. None changes a result.
struct LoopHints {
  std::optional<int32_t> numStages;    // how many iterations a pipeline may overlap
  std::optional<int32_t> unrollFactor; // how often the body is repeated within one iteration
  bool disallowAccMultiBuffer = false; // keep one copy of a dot's accumulator
  bool flatten = false;                // make one loop of this one and those inside it
  bool warpSpecialize = false;         // give the steps of the loop to warps of their own
  bool disableLicm = false;            // keep in the loop what does not change in it

  static LoopHints of(mlir::Operation *loop);
  void attachTo(mlir::Operation *loop) const;
};

} // namespace nacre::tile
