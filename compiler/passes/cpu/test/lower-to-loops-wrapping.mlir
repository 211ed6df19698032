// RUN: nacre-opt %s --split-input-file --lower-to-loops="vector-bytes=64 registers=32" --lower-micro-kernels --place-scratch --kernel-entry --canonicalize --cse | FileCheck %s

// Offsets that start at a multiple of the block cannot wrap inside it: widened, they are still a line, and nothing is checked.
// CHECK-LABEL: func.func @proved(
// CHECK-NOT: scf.if
// CHECK: llvm.load {{.*}} -> vector<64xf32>
// CHECK-NOT: gather
// CHECK: return
func.func @proved(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %pid = tile.program_id 0
  %block = arith.constant 1024 : i32
  %base = arith.muli %pid, %block : i32
  %lane = tile.arange 0 : tensor<1024xi32>
  %bases = tile.splat %base : i32 -> tensor<1024xi32>
  %narrow = arith.addi %bases, %lane : tensor<1024xi32>
  %offsets = arith.extsi %narrow : tensor<1024xi32> to tensor<1024xi64>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %offsets : tensor<1024x!tile.ptr<f32>>, tensor<1024xi64>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %lane : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %a = tile.load %xp : tensor<1024x!tile.ptr<f32>> -> tensor<1024xf32>
  tile.store %yp, %a : tensor<1024x!tile.ptr<f32>>, tensor<1024xf32>
  return
}

// -----

// Offsets that start anywhere may wrap: a check before the loop decides between whole vectors and one lane at a time.
// CHECK-LABEL: func.func @checked(
// CHECK: scf.if
// CHECK:   llvm.load {{.*}} -> vector<64xf32>
// CHECK: } else {
// CHECK:   scf.for
// CHECK:     llvm.load {{.*}} -> f32
// CHECK-NOT: gather
// CHECK: return
func.func @checked(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %start: i32) attributes {tile.kernel} {
  %lane = tile.arange 0 : tensor<1024xi32>
  %bases = tile.splat %start : i32 -> tensor<1024xi32>
  %narrow = arith.addi %bases, %lane : tensor<1024xi32>
  %offsets = arith.extsi %narrow : tensor<1024xi32> to tensor<1024xi64>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %offsets : tensor<1024x!tile.ptr<f32>>, tensor<1024xi64>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %lane : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %a = tile.load %xp : tensor<1024x!tile.ptr<f32>> -> tensor<1024xf32>
  tile.store %yp, %a : tensor<1024x!tile.ptr<f32>>, tensor<1024xf32>
  return
}

// -----

// Eight bits wrap inside the tile for certain: the lanes are widened as a vector.
// CHECK-LABEL: func.func @narrow(
// CHECK: arith.extsi {{.*}} : vector<{{[0-9]+}}xi8> to vector<{{[0-9]+}}xi32>
// CHECK: return
func.func @narrow(%y: !tile.ptr<i32>) attributes {tile.kernel} {
  %lane = tile.arange 0 : tensor<256xi32>
  %narrow = arith.trunci %lane : tensor<256xi32> to tensor<256xi8>
  %wide = arith.extsi %narrow : tensor<256xi8> to tensor<256xi32>
  %ys = tile.splat %y : !tile.ptr<i32> -> tensor<256x!tile.ptr<i32>>
  %yp = tile.addptr %ys, %lane : tensor<256x!tile.ptr<i32>>, tensor<256xi32>
  tile.store %yp, %wide : tensor<256x!tile.ptr<i32>>, tensor<256xi32>
  return
}
