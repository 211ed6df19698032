// RUN: nacre-opt %s --watch-values | FileCheck %s

// Loads, products and reductions tell what they gave, and the last arithmetic of a line does.
// CHECK-LABEL: func.func @tells
// CHECK: %[[X:.*]] = tile.load
// CHECK-NEXT: tile.tell "value" "load" %[[X]] : tensor<4x4xf32>
// CHECK: arith.mulf
// CHECK-NEXT: %[[Y:.*]] = arith.addf
// CHECK-NEXT: tile.tell "value" "value" %[[Y]] : tensor<4x4xf32>
// CHECK: %[[P:.*]] = tile.dot
// CHECK-NEXT: tile.tell "value" "dot" %[[X]], %[[Y]], %[[P]]
// CHECK: %[[S:.*]] = tile.reduce %[[P]] axis 1
// CHECK: tile.tell "value" "sum axis 1" %[[P]], %[[S]] : tensor<4x4xf32>, tensor<4xf32>
#line = loc("kernel.py":7:5)
func.func @tells(%p: tensor<4x4x!tile.ptr<f32>>, %q: tensor<4x!tile.ptr<f32>>) attributes {tile.kernel} {
  %x = tile.load %p : tensor<4x4x!tile.ptr<f32>> -> tensor<4x4xf32>
  %m = arith.mulf %x, %x : tensor<4x4xf32> loc(#line)
  %y = arith.addf %m, %x : tensor<4x4xf32> loc(#line)
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %d = tile.dot %x, %y, %zero : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %s = tile.reduce %d axis 1 {
  ^bb0(%a: f32, %b: f32):
    %sum = arith.addf %a, %b : f32
    tile.yield %sum : f32
  } : (tensor<4x4xf32>) -> tensor<4xf32>
  tile.store %q, %s : tensor<4x!tile.ptr<f32>>, tensor<4xf32>
  return
}
