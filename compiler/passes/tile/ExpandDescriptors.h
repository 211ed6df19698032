// expand-descriptors: accesses through tensor descriptors become accesses through pointers under a mask, for a target
// that has no others. A descriptor becomes its fields: the base, the extents, and the strides but the last.
//
//   %d = tile.make_descriptor %base shape[%m, %n] strides[%n] : !tile.ptr<f32> -> !tile.descriptor<tensor<4x8xf32>>
//   %x = tile.descriptor_load %d[%i, %j] : !tile.descriptor<tensor<4x8xf32>> -> tensor<4x8xf32>
//     ==>  %x = tile.load %pointers mask %inside : tensor<4x8xi1> : tensor<4x8x!tile.ptr<f32>> -> tensor<4x8xf32>
//
// with %pointers the block's addresses, base + (i + row) * n + j + column, and %inside where 0 <= i + row < m and
// 0 <= j + column < n. A descriptor that the host made is an argument for each of its fields that arrives, in order:
//
//   func.func @kernel(%d: !tile.descriptor<tensor<4x8xf32>> {tile.fields = [!tile.ptr<f32>, i32, i32, i64]})
//     ==>  func.func @kernel(%base: !tile.ptr<f32>, %m: i32, %n: i32, %stride: i64)
//
// Loops and branches may carry descriptors. What an access means is the language's (language/DescriptorAccess.cpp), so
// that both this pass and the evaluator say the same.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include <memory>

namespace nacre {

std::unique_ptr<mlir::Pass> createExpandDescriptors();
// The first part of it alone: descriptors that the host made become arguments for their fields, of which the kernel
// makes them. Failure has been reported.
mlir::LogicalResult expandDescriptorArguments(mlir::ModuleOp module);
void registerExpandDescriptors();

} // namespace nacre
