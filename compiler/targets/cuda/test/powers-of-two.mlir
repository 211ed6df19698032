// Powers of two are the hardware's: all of them by the plain form, one instruction where results that would be subnormal
// may be 0.
// RUN: nacre-opt %s --run powers --engine simulate --args 'f32[4]={-3,-127,130,nan},f32[4]=0,f32[4]=0' | FileCheck %s
// RUN: nacre-opt %s --run powers --engine simulate --show-stage ptx --args 'f32[4]=0,f32[4]=0,f32[4]=0' | FileCheck %s --check-prefix=PTX

// PTX: ex2.approx.f32
// PTX: ex2.approx.ftz.f32
// PTX-NOT: fma
// CHECK: argument 1
// CHECK-NEXT: [1.250000e-01 5.877472e-39 {{ *}}inf {{ *}}nan]
// CHECK: argument 2
// CHECK-NEXT: [0.125 0. {{ *}}inf {{ *}}nan]
func.func @powers(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %z: !tile.ptr<f32>) attributes {tile.kernel} {
  %lane = tile.arange 0 : tensor<4xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %lane : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %lane : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %zs = tile.splat %z : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %zp = tile.addptr %zs, %lane : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %a = tile.load %xp : tensor<4x!tile.ptr<f32>> -> tensor<4xf32>
  %b = math.exp2 %a : tensor<4xf32>
  tile.store %yp, %b : tensor<4x!tile.ptr<f32>>, tensor<4xf32>
  %c = math.exp2 %a fastmath<afn> : tensor<4xf32>
  tile.store %zp, %c : tensor<4x!tile.ptr<f32>>, tensor<4xf32>
  return
}
