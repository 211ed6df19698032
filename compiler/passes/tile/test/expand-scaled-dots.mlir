// Products of block-scaled operands become products of their values; the results stay.
// RUN: nacre-opt %s --expand-scaled-dots | FileCheck %s
// RUN: nacre-opt %s --run=bytes --args='i8[2x2]={33,67,25,127},i8[2x2]={-128,127,-127,126},f32[2x2]=1' | FileCheck %s --check-prefix=BYTES
// RUN: nacre-opt %s --expand-scaled-dots --run=bytes --args='i8[2x2]={33,67,25,127},i8[2x2]={-128,127,-127,126},f32[2x2]=1' | FileCheck %s --check-prefix=BYTES
// RUN: nacre-opt %s --engine=cpu --run=bytes --args='i8[2x2]={33,67,25,127},i8[2x2]={-128,127,-127,126},f32[2x2]=1' | FileCheck %s --check-prefix=BYTES

// The rows hold 0.5 1 1.5 2 and -0.5 0.5 -6 6, two values a byte; their scales are 2 and 4 for the first two values of a
// row, 1 and 1/2 for the others.
// BYTES: argument 2: f32[2x2]
// BYTES-NEXT: {{\[\[}}7.5 7.5]
// BYTES-NEXT: [1. 1. ]]
// CHECK-LABEL: func.func @bytes
// CHECK-NOT: tile.dot_scaled
// CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<2x4xbf16>, tensor<4x2xbf16> -> tensor<2x2xf32>
func.func @bytes(%p: !tile.ptr<i8>, %s: !tile.ptr<i8>, %out: !tile.ptr<f32>) attributes {tile.kernel} {
  %lane = tile.arange 0 : tensor<4xi32>
  %square = tile.reshape %lane : tensor<4xi32> -> tensor<2x2xi32>
  %base = tile.splat %p : !tile.ptr<i8> -> tensor<2x2x!tile.ptr<i8>>
  %places = tile.addptr %base, %square : tensor<2x2x!tile.ptr<i8>>, tensor<2x2xi32>
  %a = tile.load %places : tensor<2x2x!tile.ptr<i8>> -> tensor<2x2xi8>
  %first = tile.splat %s : !tile.ptr<i8> -> tensor<2x2x!tile.ptr<i8>>
  %scales = tile.addptr %first, %square : tensor<2x2x!tile.ptr<i8>>, tensor<2x2xi32>
  %scale = tile.load %scales : tensor<2x2x!tile.ptr<i8>> -> tensor<2x2xi8>
  %b = arith.constant dense<1.0> : tensor<4x2xbf16>
  %start = tile.splat %out : !tile.ptr<f32> -> tensor<2x2x!tile.ptr<f32>>
  %targets = tile.addptr %start, %square : tensor<2x2x!tile.ptr<f32>>, tensor<2x2xi32>
  %c = tile.load %targets : tensor<2x2x!tile.ptr<f32>> -> tensor<2x2xf32>
  %d = tile.dot_scaled e2m1 %a scale %scale : tensor<2x2xi8>, bf16 %b, %c : tensor<2x2xi8>, tensor<4x2xbf16> -> tensor<2x2xf32>
  tile.store %targets, %d : tensor<2x2x!tile.ptr<f32>>, tensor<2x2xf32>
  return
}

// Scales that are floats need f32.
// CHECK-LABEL: func.func @floats
// CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} precision ieee : tensor<4x8xf32>, tensor<8x4xf32> -> tensor<4x4xf32>
func.func @floats(%a: tensor<4x8xf8E4M3FN>, %s: tensor<4x2xf32>, %b: tensor<8x4xi8>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %d = tile.dot_scaled e4m3 %a scale %s : tensor<4x2xf32>, e5m2 %b, %c : tensor<4x8xf8E4M3FN>, tensor<8x4xi8> -> tensor<4x4xf32>
  return %d : tensor<4x4xf32>
}
