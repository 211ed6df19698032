// RUN: nacre-opt %s --split-input-file --lower-to-loops="vector-bytes=64 registers=32" | FileCheck %s

// A row that is stored before it is added to a running sum: the store moves behind the sum, so that the row is read again
// where it lies. The only scratch memory is the sum's. A number that is read between the row and its sum parts no loops.
// CHECK-LABEL: func.func @running_sum(
// CHECK: scf.forall
// CHECK: cpu.scratch 1024
// CHECK-NOT: cpu.scratch
// CHECK: scf.for
// CHECK:   llvm.load %{{.*}} -> f32
// CHECK:   vector<{{[0-9]+}}xf32>
// CHECK: return
func.func @running_sum(%x: !tile.ptr<f32>, %out: !tile.ptr<f32>, %scales: !tile.ptr<f32>, %rows: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c256 = arith.constant 256 : i32
  %zero = arith.constant dense<0.0> : tensor<256xf32>
  %i = tile.arange 0 : tensor<256xi32>
  %sum = scf.for %row = %c0 to %rows step %c1 iter_args(%carried = %zero) -> (tensor<256xf32>) : i32 {
    %start = arith.muli %row, %c256 : i32
    %starts = tile.splat %start : i32 -> tensor<256xi32>
    %place = arith.addi %starts, %i : tensor<256xi32>
    %from = tile.splat %x : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
    %pointers = tile.addptr %from, %place : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
    %value = tile.load %pointers : tensor<256x!tile.ptr<f32>> -> tensor<256xf32>
    %at = tile.addptr %scales, %row : !tile.ptr<f32>, i32
    %scale = tile.load %at : !tile.ptr<f32> -> f32
    %total = tile.reduce %value axis 0 {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tile.yield %s : f32
    } : (tensor<256xf32>) -> f32
    %both = arith.mulf %total, %scale : f32
    %factor = tile.splat %both : f32 -> tensor<256xf32>
    %scaled = arith.mulf %value, %factor : tensor<256xf32>
    %to = tile.splat %out : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
    %targets = tile.addptr %to, %place : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
    tile.store %targets, %scaled : tensor<256x!tile.ptr<f32>>, tensor<256xf32>
    %next = arith.addf %carried, %value : tensor<256xf32>
    scf.yield %next : tensor<256xf32>
  }
  %to = tile.splat %scales : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
  %targets = tile.addptr %to, %i : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
  tile.store %targets, %sum : tensor<256x!tile.ptr<f32>>, tensor<256xf32>
  return
}

// -----

// A number that is read after a store is read after it.
// CHECK-LABEL: func.func @reads_after(
// CHECK: llvm.store %{{.*}} : vector<
// CHECK: llvm.load %{{.*}} -> i32
// CHECK: llvm.store
func.func @reads_after(%x: !tile.ptr<i32>) attributes {tile.kernel} {
  %i = tile.arange 0 : tensor<16xi32>
  %to = tile.splat %x : !tile.ptr<i32> -> tensor<16x!tile.ptr<i32>>
  %targets = tile.addptr %to, %i : tensor<16x!tile.ptr<i32>>, tensor<16xi32>
  tile.store %targets, %i : tensor<16x!tile.ptr<i32>>, tensor<16xi32>
  %seen = tile.load %x : !tile.ptr<i32> -> i32
  %all = tile.splat %seen : i32 -> tensor<16xi32>
  tile.store %targets, %all : tensor<16x!tile.ptr<i32>>, tensor<16xi32>
  return
}
