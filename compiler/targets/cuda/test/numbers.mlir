// Functions that the hardware approximates: exp keeps its accuracy for large arguments (a plain power of two of x * log2(e)
// gives 7.13835e-35), and infinities on the way do no harm.
// RUN: nacre-opt %s --run exp --engine simulate --args 'f32[8]={-78.625,-inf,inf,100,-200,nan,0,1},f32[8]=0' | FileCheck %s
// RUN: nacre-opt %s --run exp --engine simulate --show-stage ptx --args 'f32[8]=0,f32[8]=0' | FileCheck %s --check-prefix=PTX

// PTX: ex2.approx.f32
// CHECK: argument 1
// CHECK-NEXT: [7.13832{{[0-9]*}}e-35 0.0000000e+00 {{ *}}inf {{ *}}inf 0.0000000e+00 {{ *}}nan 1.0000000e+00
// CHECK-NEXT: 2.71828{{[0-9]*}}e+00]
func.func @exp(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %lane = tile.arange 0 : tensor<8xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<8x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %lane : tensor<8x!tile.ptr<f32>>, tensor<8xi32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<8x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %lane : tensor<8x!tile.ptr<f32>>, tensor<8xi32>
  %a = tile.load %xp : tensor<8x!tile.ptr<f32>> -> tensor<8xf32>
  %b = math.exp %a : tensor<8xf32>
  tile.store %yp, %b : tensor<8x!tile.ptr<f32>>, tensor<8xf32>
  return
}
