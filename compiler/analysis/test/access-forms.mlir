// RUN: nacre-opt %s --print-access-forms | FileCheck %s

// CHECK-LABEL: func.func @matrix
func.func @matrix(%p: !tile.ptr<f32>, %stride: i32, %m: i32, %n: i32) attributes {tile.kernel} {
  %pid = tile.program_id 0
  %c64 = arith.constant 64 : i32
  %start = arith.muli %pid, %c64 : i32
  %starts = tile.splat %start : i32 -> tensor<64xi32>
  %lane = tile.arange 0 : tensor<64xi32>
  %rows = arith.addi %starts, %lane : tensor<64xi32>
  %columns = tile.arange 2 : tensor<32xi32>
  %row = tile.expand_dims %rows 1 : tensor<64xi32> -> tensor<64x1xi32>
  %column = tile.expand_dims %columns 0 : tensor<32xi32> -> tensor<1x32xi32>
  %strides = tile.splat %stride : i32 -> tensor<64x1xi32>
  %scaled = arith.muli %row, %strides : tensor<64x1xi32>
  %a = tile.broadcast %scaled : tensor<64x1xi32> -> tensor<64x32xi32>
  %b = tile.broadcast %column : tensor<1x32xi32> -> tensor<64x32xi32>
  %offset = arith.addi %a, %b : tensor<64x32xi32>
  %base = tile.splat %p : !tile.ptr<f32> -> tensor<64x32x!tile.ptr<f32>>
  %pointers = tile.addptr %base, %offset : tensor<64x32x!tile.ptr<f32>>, tensor<64x32xi32>
  %mlimit = tile.splat %m : i32 -> tensor<64x1xi32>
  %nlimit = tile.splat %n : i32 -> tensor<1x32xi32>
  %local = tile.arange 0 : tensor<64xi32>
  %locals = tile.expand_dims %local 1 : tensor<64xi32> -> tensor<64x1xi32>
  %mr = arith.cmpi slt, %locals, %mlimit : tensor<64x1xi32>
  %mc = arith.cmpi sge, %nlimit, %column : tensor<1x32xi32>
  %mrs = tile.broadcast %mr : tensor<64x1xi1> -> tensor<64x32xi1>
  %mcs = tile.broadcast %mc : tensor<1x32xi1> -> tensor<64x32xi1>
  %mask = arith.andi %mrs, %mcs : tensor<64x32xi1>
  // CHECK: tile.load {{.*}} {access = "%arg0 + %{{[0-9a-z_]+}} * %arg1 + %arg1 * i0 + 2 + i1 (where nothing wraps)",
  // CHECK-SAME: mask_form = "i0 < %arg2 and 2 + i1 <= %arg3"}
  %v = tile.load %pointers mask %mask : tensor<64x32xi1> : tensor<64x32x!tile.ptr<f32>> -> tensor<64x32xf32>
  return
}

// Indices from memory are a function of one axis; a product of two axes is none of one.
// CHECK-LABEL: func.func @indirect
func.func @indirect(%p: !tile.ptr<f32>, %q: !tile.ptr<i32>) attributes {tile.kernel} {
  %i = tile.arange 0 : tensor<8xi32>
  %j = tile.arange 0 : tensor<4xi32>
  %qs = tile.splat %q : !tile.ptr<i32> -> tensor<8x!tile.ptr<i32>>
  %qp = tile.addptr %qs, %i : tensor<8x!tile.ptr<i32>>, tensor<8xi32>
  // CHECK: %[[INDEX:.*]] = tile.load {{.*}} {access = "%arg1 + i0"}
  %index = tile.load %qp : tensor<8x!tile.ptr<i32>> -> tensor<8xi32>
  %rows = tile.expand_dims %index 1 : tensor<8xi32> -> tensor<8x1xi32>
  %wide = tile.broadcast %rows : tensor<8x1xi32> -> tensor<8x4xi32>
  %column = tile.expand_dims %j 0 : tensor<4xi32> -> tensor<1x4xi32>
  %columns = tile.broadcast %column : tensor<1x4xi32> -> tensor<8x4xi32>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<8x4x!tile.ptr<f32>>
  %a = tile.addptr %ps, %wide : tensor<8x4x!tile.ptr<f32>>, tensor<8x4xi32>
  %b = tile.addptr %a, %columns : tensor<8x4x!tile.ptr<f32>>, tensor<8x4xi32>
  // CHECK: tile.load {{.*}} {access = "%arg0 + %{{[0-9a-z_]+}}[i0] + i1"}
  %v = tile.load %b : tensor<8x4x!tile.ptr<f32>> -> tensor<8x4xf32>
  %both = arith.muli %wide, %columns : tensor<8x4xi32>
  %c = tile.addptr %ps, %both : tensor<8x4x!tile.ptr<f32>>, tensor<8x4xi32>
  // CHECK: tile.load {{.*}} {access = "not separable"}
  %w = tile.load %c : tensor<8x4x!tile.ptr<f32>> -> tensor<8x4xf32>
  return
}
