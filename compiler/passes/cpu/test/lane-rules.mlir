// RUN: nacre-opt %s --split-input-file --lower-to-loops="vector-bytes=32 registers=16" --canonicalize --cse | FileCheck %s

// A factor that is promised to be 1: the masks are bounds and the accesses contiguous, though nothing folds.
// CHECK-LABEL: func.func @promised_factor(
// CHECK-NOT: gather
// CHECK: llvm.load {{.*}} -> vector<16xf32>
// CHECK: llvm.intr.masked.load {{.*}} -> vector<16xf32>
// CHECK-NOT: scatter
// CHECK: return
func.func @promised_factor(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %step: i32, %n: i32) attributes {tile.kernel} {
  %one = arith.constant 1 : i32
  %is_one = arith.cmpi eq, %step, %one : i32
  tile.assume %is_one
  %i = tile.arange 0 : tensor<64xi32>
  %steps = tile.splat %step : i32 -> tensor<64xi32>
  %o = arith.muli %i, %steps : tensor<64xi32>
  %ns = tile.splat %n : i32 -> tensor<64xi32>
  %mask = arith.cmpi slt, %o, %ns : tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %o : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %o : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %v = tile.load %xp mask %mask : tensor<64xi1> : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>
  tile.store %yp, %v mask %mask : tensor<64xi1> : tensor<64x!tile.ptr<f32>>, tensor<64xf32>
  return
}

// -----

// Remainders by 16 in steps of 16 are a line within each step, although they wrap often: no gather, and steps as wide.
// CHECK-LABEL: func.func @summed_rows(
// CHECK-NOT: gather
// CHECK: llvm.load {{.*}} -> vector<16xf32>
// CHECK-NOT: gather
// CHECK: return
func.func @summed_rows(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %i = tile.arange 0 : tensor<1024xi32>
  %sixteen = arith.constant dense<16> : tensor<1024xi32>
  %pitch = arith.constant dense<64> : tensor<1024xi32>
  %row = arith.divsi %i, %sixteen : tensor<1024xi32>
  %column = arith.remsi %i, %sixteen : tensor<1024xi32>
  %start = arith.muli %row, %pitch : tensor<1024xi32>
  %o = arith.addi %start, %column : tensor<1024xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %o : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %v = tile.load %xp : tensor<1024x!tile.ptr<f32>> -> tensor<1024xf32>
  %sum = tile.reduce %v axis 0 {
  ^bb0(%left: f32, %right: f32):
    %both = arith.addf %left, %right : f32
    tile.yield %both : f32
  } : (tensor<1024xf32>) -> f32
  tile.store %y, %sum : !tile.ptr<f32>, f32
  return
}
