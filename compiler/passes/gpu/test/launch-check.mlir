// RUN: nacre-opt --assign-layouts --split-input-file %s | FileCheck %s --check-prefixes=CHECK,PROVED
// RUN: nacre-opt --assign-layouts=checks-launches=true --split-input-file %s | FileCheck %s --check-prefixes=CHECK,CHECKED

// Neighbours wrap to neighbours where no number is negative: a launch can prove that of the grid's and an argument's.
// PROVED: module attributes {simt.lanes = 32 : i32, simt.num_warps = 4 : i32}
// CHECKED: module attributes {simt.lanes = 32 : i32, simt.launch_check = "{{.+}}", simt.num_warps = 4 : i32}
// CHECK-LABEL: func.func @wrapped
// PROVED: tile.load %{{[0-9]+}} : tensor
// CHECKED: tile.load %{{[0-9]+}} {simt.vector = array<i32: 0, 4>} : tensor
func.func @wrapped(%x: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %n: i32 {tile.divisibility = 16 : i64}) attributes {tile.kernel} {
  %size = arith.constant 512 : i32
  %id = tile.program_id 0
  %start = arith.muli %id, %size : i32
  %range = tile.arange 0 : tensor<512xi32>
  %starts = tile.splat %start : i32 -> tensor<512xi32>
  %i = arith.addi %starts, %range : tensor<512xi32>
  %ns = tile.splat %n : i32 -> tensor<512xi32>
  %wrapped = arith.remsi %i, %ns : tensor<512xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
  %p = tile.addptr %xs, %wrapped : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
  %value = tile.load %p : tensor<512x!tile.ptr<f32>> -> tensor<512xf32>
  %q = tile.addptr %xs, %i : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
  tile.store %q, %value : tensor<512x!tile.ptr<f32>>, tensor<512xf32>
  return
}

// -----

// Nothing is gained by rows that wrap: nothing is checked.
// CHECK: module attributes {simt.lanes = 32 : i32, simt.num_warps = 4 : i32}
// CHECK-LABEL: func.func @rows
func.func @rows(%x: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %n: i32 {tile.divisibility = 16 : i64}) attributes {tile.kernel} {
  %size = arith.constant 32 : i32
  %id = tile.program_id 0
  %start = arith.muli %id, %size : i32
  %range = tile.arange 0 : tensor<32xi32>
  %starts = tile.splat %start : i32 -> tensor<32xi32>
  %i = arith.addi %starts, %range : tensor<32xi32>
  %ns = tile.splat %n : i32 -> tensor<32xi32>
  %wrapped = arith.remsi %i, %ns : tensor<32xi32>
  %row = tile.expand_dims %wrapped 1 : tensor<32xi32> -> tensor<32x1xi32>
  %stride = tile.splat %n : i32 -> tensor<32x1xi32>
  %scaled = arith.muli %row, %stride : tensor<32x1xi32>
  %rows = tile.broadcast %scaled : tensor<32x1xi32> -> tensor<32x32xi32>
  %column = tile.expand_dims %range 0 : tensor<32xi32> -> tensor<1x32xi32>
  %columns = tile.broadcast %column : tensor<1x32xi32> -> tensor<32x32xi32>
  %offset = arith.addi %rows, %columns : tensor<32x32xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<32x32x!tile.ptr<f32>>
  %p = tile.addptr %xs, %offset : tensor<32x32x!tile.ptr<f32>>, tensor<32x32xi32>
  %value = tile.load %p : tensor<32x32x!tile.ptr<f32>> -> tensor<32x32xf32>
  tile.store %p, %value : tensor<32x32x!tile.ptr<f32>>, tensor<32x32xf32>
  return
}
