// RUN: nacre-opt %s --pack-dots="vector-bytes=64 registers=32" --lower-to-loops="vector-bytes=64 registers=32" --canonicalize --cse | FileCheck %s

// An operand whose neighbours lie along its rows, in images of 24: steps of 8 rows lie in one image, so squares of 8 are
// transposed on their way to the packed rows, though 16 lanes fit.
// CHECK-LABEL: func.func @images(
// CHECK-NOT: gather
// CHECK: vector.shuffle {{.*}} : vector<8xf32>, vector<8xf32>
// CHECK: llvm.store {{.*}} : vector<8xf32>, !llvm.ptr
// CHECK-NOT: gather
// CHECK: return
func.func @images(%a: !tile.ptr<f32>, %b: !tile.ptr<f32>, %c: !tile.ptr<f32>) attributes {tile.kernel} {
  %zero = arith.constant dense<0.0> : tensor<64x16xf32>
  %height = arith.constant dense<24> : tensor<64xi32>
  %pitch = arith.constant dense<48> : tensor<64xi32>
  %columns = arith.constant dense<128> : tensor<1x16xi32>
  %width = arith.constant dense<16> : tensor<64x1xi32>
  %widths = arith.constant dense<16> : tensor<16x1xi32>
  %i = tile.arange 0 : tensor<64xi32>
  %k = tile.arange 0 : tensor<16xi32>
  %image = arith.divsi %i, %height : tensor<64xi32>
  %start = arith.muli %image, %pitch : tensor<64xi32>
  %row = arith.remsi %i, %height : tensor<64xi32>
  %place = arith.addi %start, %row : tensor<64xi32>
  %places = tile.expand_dims %place 1 : tensor<64xi32> -> tensor<64x1xi32>
  %ks = tile.expand_dims %k 0 : tensor<16xi32> -> tensor<1x16xi32>
  %as = tile.splat %a : !tile.ptr<f32> -> tensor<64x1x!tile.ptr<f32>>
  %arow = tile.addptr %as, %places : tensor<64x1x!tile.ptr<f32>>, tensor<64x1xi32>
  %acolumn = arith.muli %ks, %columns : tensor<1x16xi32>
  %arows = tile.broadcast %arow : tensor<64x1x!tile.ptr<f32>> -> tensor<64x16x!tile.ptr<f32>>
  %acolumns = tile.broadcast %acolumn : tensor<1x16xi32> -> tensor<64x16xi32>
  %ap = tile.addptr %arows, %acolumns : tensor<64x16x!tile.ptr<f32>>, tensor<64x16xi32>
  %x = tile.load %ap : tensor<64x16x!tile.ptr<f32>> -> tensor<64x16xf32>
  %kc = tile.expand_dims %k 1 : tensor<16xi32> -> tensor<16x1xi32>
  %brow = arith.muli %kc, %widths : tensor<16x1xi32>
  %bs = tile.splat %b : !tile.ptr<f32> -> tensor<16x1x!tile.ptr<f32>>
  %bp = tile.addptr %bs, %brow : tensor<16x1x!tile.ptr<f32>>, tensor<16x1xi32>
  %bps = tile.broadcast %bp : tensor<16x1x!tile.ptr<f32>> -> tensor<16x16x!tile.ptr<f32>>
  %bks = tile.broadcast %ks : tensor<1x16xi32> -> tensor<16x16xi32>
  %bpp = tile.addptr %bps, %bks : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
  %y = tile.load %bpp : tensor<16x16x!tile.ptr<f32>> -> tensor<16x16xf32>
  %ic = tile.expand_dims %i 1 : tensor<64xi32> -> tensor<64x1xi32>
  %crow = arith.muli %ic, %width : tensor<64x1xi32>
  %cs = tile.splat %c : !tile.ptr<f32> -> tensor<64x1x!tile.ptr<f32>>
  %cp = tile.addptr %cs, %crow : tensor<64x1x!tile.ptr<f32>>, tensor<64x1xi32>
  %cps = tile.broadcast %cp : tensor<64x1x!tile.ptr<f32>> -> tensor<64x16x!tile.ptr<f32>>
  %cks = tile.broadcast %ks : tensor<1x16xi32> -> tensor<64x16xi32>
  %cpp = tile.addptr %cps, %cks : tensor<64x16x!tile.ptr<f32>>, tensor<64x16xi32>
  %z = tile.dot %x, %y, %zero : tensor<64x16xf32>, tensor<16x16xf32> -> tensor<64x16xf32>
  tile.store %cpp, %z : tensor<64x16x!tile.ptr<f32>>, tensor<64x16xf32>
  return
}
