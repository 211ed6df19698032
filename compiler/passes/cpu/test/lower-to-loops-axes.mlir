// RUN: nacre-opt %s --split-input-file --lower-to-loops="vector-bytes=64 registers=32" --lower-micro-kernels --place-scratch --kernel-entry --canonicalize --cse | FileCheck %s

// Columns side by side: the lanes run along the first axis, and each step of the second adds whole vectors.
// CHECK-LABEL: func.func @columns(
// CHECK-NOT: gather
// CHECK: llvm.load {{.*}} -> vector<32xf32>
// CHECK: arith.addf {{.*}} : vector<32xf32>
// CHECK-NOT: vector.shuffle
// CHECK: llvm.store {{.*}} vector<32xf32>
func.func @columns(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %width = arith.constant dense<1000> : tensor<1x8xi32>
  %i = tile.arange 0 : tensor<32xi32>
  %j = tile.arange 0 : tensor<8xi32>
  %i1 = tile.expand_dims %i 1 : tensor<32xi32> -> tensor<32x1xi32>
  %j1 = tile.expand_dims %j 0 : tensor<8xi32> -> tensor<1x8xi32>
  %jw = arith.muli %j1, %width : tensor<1x8xi32>
  %ib = tile.broadcast %i1 : tensor<32x1xi32> -> tensor<32x8xi32>
  %jb = tile.broadcast %jw : tensor<1x8xi32> -> tensor<32x8xi32>
  %offsets = arith.addi %ib, %jb : tensor<32x8xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<32x8x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %offsets : tensor<32x8x!tile.ptr<f32>>, tensor<32x8xi32>
  %v = tile.load %xp : tensor<32x8x!tile.ptr<f32>> -> tensor<32x8xf32>
  %sum = tile.reduce %v axis 1 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  } : (tensor<32x8xf32>) -> tensor<32xf32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %i : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
  tile.store %yp, %sum : tensor<32x!tile.ptr<f32>>, tensor<32xf32>
  return
}

// -----

// A quotient and a remainder by 28: from one multiple to the next the elements are neighbours, and the last vector of a run is masked.
// CHECK-LABEL: func.func @rows(
// CHECK-NOT: gather
// CHECK: scf.while
// CHECK: arith.divui {{.*}} : i32
// CHECK: llvm.load {{.*}} -> vector<16xf32>
// CHECK: llvm.store {{.*}} vector<16xf32>
// CHECK: llvm.intr.masked.load {{.*}} vector<16xf32>
// CHECK: llvm.intr.masked.store {{.*}} vector<16xf32>
// CHECK: scf.yield
func.func @rows(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %width = arith.constant dense<28> : tensor<256xi32>
  %pitch = arith.constant dense<100> : tensor<256xi32>
  %i = tile.arange 0 : tensor<256xi32>
  %row = arith.divsi %i, %width : tensor<256xi32>
  %column = arith.remsi %i, %width : tensor<256xi32>
  %start = arith.muli %row, %pitch : tensor<256xi32>
  %offsets = arith.addi %start, %column : tensor<256xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %offsets : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
  %v = tile.load %xp : tensor<256x!tile.ptr<f32>> -> tensor<256xf32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %i : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
  tile.store %yp, %v : tensor<256x!tile.ptr<f32>>, tensor<256xf32>
  return
}
