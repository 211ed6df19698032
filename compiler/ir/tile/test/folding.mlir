// Folders and canonicalizations.
// RUN: nacre-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: func.func @splat_of_constant
func.func @splat_of_constant() -> tensor<4x8xf32> {
  // CHECK-NEXT: arith.constant dense<2.000000e+00> : tensor<4x8xf32>
  // CHECK-NEXT: return
  %two = arith.constant 2.0 : f32
  %row = tile.splat %two : f32 -> tensor<8xf32>
  %expanded = tile.expand_dims %row 0 : tensor<8xf32> -> tensor<1x8xf32>
  %all = tile.broadcast %expanded : tensor<1x8xf32> -> tensor<4x8xf32>
  return %all : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @shapes_of_splat
// CHECK-SAME: (%[[X:.*]]: f32)
func.func @shapes_of_splat(%x: f32) -> tensor<32xf32> {
  // CHECK-NEXT: %[[S:.*]] = tile.splat %[[X]] : f32 -> tensor<32xf32>
  // CHECK-NEXT: return %[[S]]
  %column = tile.splat %x : f32 -> tensor<8x1xf32>
  %grown = tile.broadcast %column : tensor<8x1xf32> -> tensor<8x4xf32>
  %turned = tile.permute %grown [1, 0] : tensor<8x4xf32> -> tensor<4x8xf32>
  %flat = tile.reshape %turned : tensor<4x8xf32> -> tensor<32xf32>
  return %flat : tensor<32xf32>
}

// CHECK-LABEL: func.func @nothing_to_do
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[P:.*]]: !tile.ptr<f32>)
func.func @nothing_to_do(%x: tensor<4x8xf32>, %p: !tile.ptr<f32>) -> (tensor<4x8xf32>, !tile.ptr<f32>) {
  // CHECK-NEXT: return %[[X]], %[[P]]
  %0 = tile.broadcast %x : tensor<4x8xf32> -> tensor<4x8xf32>
  %1 = tile.reshape %0 : tensor<4x8xf32> -> tensor<4x8xf32>
  %2 = tile.permute %1 [0, 1] : tensor<4x8xf32> -> tensor<4x8xf32>
  %3 = tile.bitcast %2 : tensor<4x8xf32> -> tensor<4x8xf32>
  %zero = arith.constant 0 : i32
  %4 = tile.addptr %p, %zero : !tile.ptr<f32>, i32
  return %3, %4 : tensor<4x8xf32>, !tile.ptr<f32>
}

// CHECK-LABEL: func.func @two_become_one
// CHECK-SAME: (%[[X:.*]]: tensor<1x1x8xf32>, %[[Y:.*]]: tensor<32xf32>)
func.func @two_become_one(%x: tensor<1x1x8xf32>, %y: tensor<32xf32>) -> (tensor<4x2x8xf32>, tensor<2x16xf32>) {
  // CHECK-DAG: tile.broadcast %[[X]] : tensor<1x1x8xf32> -> tensor<4x2x8xf32>
  // CHECK-DAG: tile.reshape %[[Y]] : tensor<32xf32> -> tensor<2x16xf32>
  %0 = tile.broadcast %x : tensor<1x1x8xf32> -> tensor<1x2x8xf32>
  %1 = tile.broadcast %0 : tensor<1x2x8xf32> -> tensor<4x2x8xf32>
  %2 = tile.reshape %y : tensor<32xf32> -> tensor<4x8xf32>
  %3 = tile.reshape %2 : tensor<4x8xf32> -> tensor<2x16xf32>
  return %1, %3 : tensor<4x2x8xf32>, tensor<2x16xf32>
}

// CHECK-LABEL: func.func @extract_of_splat
// CHECK-SAME: (%[[X:.*]]: f32)
func.func @extract_of_splat(%x: f32) -> f32 {
  // CHECK-NEXT: return %[[X]]
  %0 = tile.splat %x : f32 -> tensor<8xf32>
  %1 = tile.extract %0 [5] : tensor<8xf32> -> f32
  return %1 : f32
}

// CHECK-LABEL: func.func @constant_masks
func.func @constant_masks(%p: tensor<8x!tile.ptr<f32>>, %x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: %[[V:.*]] = tile.load %{{.*}} : tensor<8x!tile.ptr<f32>> -> tensor<8xf32>
  // CHECK-NEXT: tile.store %{{.*}}, %[[V]] : tensor<8x!tile.ptr<f32>>, tensor<8xf32>
  // CHECK-NEXT: return %[[V]]
  %all = arith.constant dense<true> : tensor<8xi1>
  %none = arith.constant dense<false> : tensor<8xi1>
  %v = tile.load %p mask %all : tensor<8xi1> other %x : tensor<8xf32> : tensor<8x!tile.ptr<f32>> -> tensor<8xf32>
  tile.store %p, %v mask %all : tensor<8xi1> : tensor<8x!tile.ptr<f32>>, tensor<8xf32>
  tile.store %p, %x mask %none : tensor<8xi1> : tensor<8x!tile.ptr<f32>>, tensor<8xf32>
  return %v : tensor<8xf32>
}

// CHECK-LABEL: func.func @dot_into_sum
// CHECK-SAME: (%[[A:.*]]: tensor<4x4xf32>, %[[C:.*]]: tensor<4x4xf32>)
func.func @dot_into_sum(%a: tensor<4x4xf32>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK-NEXT: %[[D:.*]] = tile.dot %[[A]], %[[A]], %[[C]] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  // CHECK-NEXT: return %[[D]]
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %d = tile.dot %a, %a, %zero : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %sum = arith.addf %c, %d : tensor<4x4xf32>
  return %sum : tensor<4x4xf32>
}

// How a tile is laid out is part of its type: no fold changes it.
// CHECK-LABEL: func.func @encodings
// CHECK-SAME: (%[[X:.*]]: f32, %[[Y:.*]]: tensor<4x4xf32, "rows">, %[[P:.*]]: tensor<8x!tile.ptr<f32>, "rows">)
func.func @encodings(%x: f32, %y: tensor<4x4xf32, "rows">, %p: tensor<8x!tile.ptr<f32>, "rows">)
    -> (tensor<4x8xf32, "rows">, tensor<4x8xf32, "rows">, tensor<4x4xf32, "columns">, tensor<8xf32, "rows">) {
  // CHECK-DAG: %[[SPLAT:.*]] = tile.splat %[[X]] : f32 -> tensor<4x8xf32, "rows">
  // CHECK-DAG: %[[ONES:.*]] = arith.constant dense<1.000000e+00> : tensor<4x8xf32, "rows">
  // CHECK-DAG: %[[MOVED:.*]] = tile.permute %[[Y]] [0, 1] : tensor<4x4xf32, "rows"> -> tensor<4x4xf32, "columns">
  // CHECK-DAG: %[[LOADED:.*]] = tile.load %[[P]] : tensor<8x!tile.ptr<f32>, "rows"> -> tensor<8xf32, "rows">
  // CHECK: return %[[SPLAT]], %[[ONES]], %[[MOVED]], %[[LOADED]]
  %0 = tile.splat %x : f32 -> tensor<1x8xf32, "other">
  %1 = tile.broadcast %0 : tensor<1x8xf32, "other"> -> tensor<4x8xf32, "rows">
  %one = arith.constant 1.0 : f32
  %2 = tile.splat %one : f32 -> tensor<32xf32, "line">
  %3 = tile.reshape %2 : tensor<32xf32, "line"> -> tensor<4x8xf32, "rows">
  %4 = tile.permute %y [0, 1] : tensor<4x4xf32, "rows"> -> tensor<4x4xf32, "columns">
  %all = arith.constant dense<true> : tensor<8xi1, "rows">
  %5 = tile.load %p mask %all : tensor<8xi1, "rows"> : tensor<8x!tile.ptr<f32>, "rows"> -> tensor<8xf32, "rows">
  return %1, %3, %4, %5 : tensor<4x8xf32, "rows">, tensor<4x8xf32, "rows">, tensor<4x4xf32, "columns">, tensor<8xf32, "rows">
}
