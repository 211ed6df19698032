// RUN: nacre-opt %s --split-input-file --lower-to-loops="vector-bytes=64 registers=32" --lower-micro-kernels --place-scratch --kernel-entry --canonicalize --cse | FileCheck %s

// One loop: two loads, an addition and a store share it. The part where the bound holds has no masks; what is beyond it does nothing.
// CHECK-LABEL: func.func @add(
// CHECK-SAME: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: !llvm.ptr) -> i32
// CHECK: scf.for
// CHECK:   scf.for
// CHECK:     llvm.load {{.*}} -> vector<64xf32>
// CHECK:     llvm.load {{.*}} -> vector<64xf32>
// CHECK:     arith.addf {{.*}} : vector<64xf32>
// CHECK:     llvm.store {{.*}} vector<64xf32>
// CHECK:   scf.for
// CHECK:     llvm.intr.masked.load
// CHECK:     llvm.intr.masked.load
// CHECK:     arith.addf
// CHECK:     llvm.intr.masked.store
func.func @add(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} {
  %pid = tile.program_id 0
  %block = arith.constant 1024 : i32
  %base = arith.muli %pid, %block : i32
  %lane = tile.arange 0 : tensor<1024xi32>
  %bases = tile.splat %base : i32 -> tensor<1024xi32>
  %offsets = arith.addi %bases, %lane : tensor<1024xi32>
  %ns = tile.splat %n : i32 -> tensor<1024xi32>
  %mask = arith.cmpi slt, %offsets, %ns : tensor<1024xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %offsets : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %offsets : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %a = tile.load %xp mask %mask : tensor<1024xi1> : tensor<1024x!tile.ptr<f32>> -> tensor<1024xf32>
  %b = tile.load %yp mask %mask : tensor<1024xi1> : tensor<1024x!tile.ptr<f32>> -> tensor<1024xf32>
  %sum = arith.addf %a, %b : tensor<1024xf32>
  tile.store %yp, %sum mask %mask : tensor<1024xi1> : tensor<1024x!tile.ptr<f32>>, tensor<1024xf32>
  return
}

// -----

// A load whose pointers come from memory is a gather.
// CHECK-LABEL: func.func @indirect(
// CHECK: llvm.intr.masked.gather
func.func @indirect(%x: !tile.ptr<f32>, %index: !tile.ptr<i32>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %lane = tile.arange 0 : tensor<64xi32>
  %is = tile.splat %index : !tile.ptr<i32> -> tensor<64x!tile.ptr<i32>>
  %ip = tile.addptr %is, %lane : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
  %i = tile.load %ip : tensor<64x!tile.ptr<i32>> -> tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %v = tile.load %xp : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %lane : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  tile.store %yp, %v : tensor<64x!tile.ptr<f32>>, tensor<64xf32>
  return
}

// -----

// A sum of what is gathered, cut short by a bound that only the data know: four steps with masks, each where the one before
// it had lanes, and nothing beyond, where it would add zeros. The sum is a variable.
// CHECK-LABEL: func.func @cut_short(
// CHECK: %[[SUM:.*]] = llvm.alloca
// CHECK: llvm.store %{{.*}}, %[[SUM]] {{.*}} : vector<64xf32>
// CHECK: scf.for
// CHECK-COUNT-4: llvm.intr.masked.gather
// CHECK-NOT: gather
// CHECK-NOT: else
// CHECK: llvm.load %[[SUM]] {{.*}} -> vector<64xf32>
// CHECK: return
func.func @cut_short(%x: !tile.ptr<f32>, %index: !tile.ptr<i32>, %y: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %lane = tile.arange 0 : tensor<64xi32>
  %nowhere = arith.constant dense<0> : tensor<64xi32>
  %none = arith.constant dense<0.0> : tensor<64xf32>
  %total = scf.for %start = %c0 to %n step %c64 iter_args(%sum = %none) -> (tensor<64xf32>) : i32 {
    %left = arith.subi %n, %start : i32
    %bound = tile.splat %left : i32 -> tensor<64xi32>
    %mask = arith.cmpi slt, %lane, %bound : tensor<64xi32>
    %from = tile.addptr %index, %start : !tile.ptr<i32>, i32
    %is = tile.splat %from : !tile.ptr<i32> -> tensor<64x!tile.ptr<i32>>
    %ip = tile.addptr %is, %lane : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
    %i = tile.load %ip mask %mask : tensor<64xi1> other %nowhere : tensor<64xi32> : tensor<64x!tile.ptr<i32>> -> tensor<64xi32>
    %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
    %xp = tile.addptr %xs, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %v = tile.load %xp mask %mask : tensor<64xi1> other %none : tensor<64xf32> : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>
    %next = arith.addf %sum, %v : tensor<64xf32>
    scf.yield %next : tensor<64xf32>
  }
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %lane : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  tile.store %yp, %total : tensor<64x!tile.ptr<f32>>, tensor<64xf32>
  return
}

// -----

// Interleaved channels are read by whole vectors and picked apart.
// CHECK-LABEL: func.func @third(
// CHECK-NOT: gather
// CHECK: vector.shuffle
// CHECK: return
func.func @third(%x: !tile.ptr<i8>, %y: !tile.ptr<i8>) attributes {tile.kernel} {
  %lane = tile.arange 0 : tensor<256xi32>
  %three = arith.constant dense<3> : tensor<256xi32>
  %offsets = arith.muli %lane, %three : tensor<256xi32>
  %xs = tile.splat %x : !tile.ptr<i8> -> tensor<256x!tile.ptr<i8>>
  %xp = tile.addptr %xs, %offsets : tensor<256x!tile.ptr<i8>>, tensor<256xi32>
  %v = tile.load %xp : tensor<256x!tile.ptr<i8>> -> tensor<256xi8>
  %ys = tile.splat %y : !tile.ptr<i8> -> tensor<256x!tile.ptr<i8>>
  %yp = tile.addptr %ys, %lane : tensor<256x!tile.ptr<i8>>, tensor<256xi32>
  tile.store %yp, %v : tensor<256x!tile.ptr<i8>>, tensor<256xi8>
  return
}

// -----

// A reduction's result ends the loop it is computed in: the tile is read again from memory, not from a copy.
// CHECK: cpu.scratch_bytes
// CHECK-LABEL: func.func @centre(
// CHECK: scf.for
// CHECK:   scf.for {{.*}} iter_args
// CHECK:     llvm.load {{.*}} -> vector<64xf32>
// CHECK-NOT: llvm.store {{.*}} vector
// CHECK:   scf.for
// CHECK:     llvm.intr.prefetch
// CHECK:     llvm.load {{.*}} -> vector<64xf32>
// CHECK:     arith.subf
// CHECK:     llvm.store
func.func @centre(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %lane = tile.arange 0 : tensor<512xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %lane : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
  %v = tile.load %xp : tensor<512x!tile.ptr<f32>> -> tensor<512xf32>
  %most = tile.reduce %v axis 0 {
  ^bb0(%a: f32, %b: f32):
    %m = arith.maxnumf %a, %b : f32
    tile.yield %m : f32
  } : (tensor<512xf32>) -> f32
  %spread = tile.splat %most : f32 -> tensor<512xf32>
  %w = arith.subf %v, %spread : tensor<512xf32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %lane : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
  tile.store %yp, %w : tensor<512x!tile.ptr<f32>>, tensor<512xf32>
  return
}
