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

// -----

// Weights of 3x3 convolutions, turned to channels last: the load runs in the loops of the turned store alone, which fetch ahead for it, by
// four programs since these are small, and rows beyond the bound (9 of 16) take no steps.
// CHECK-LABEL: func.func @weights(
// CHECK: scf.for {{.*}} iter_args
// CHECK-NOT: scf.for
// CHECK: scf.for %{{.*}} = %c0_i64 to %c64_i64 step %c16_i64
// CHECK: %[[STEP:.*]] = arith.subi %{{.*}}, %{{.*}} : i64
// CHECK: %[[AHEAD:.*]] = arith.muli %[[STEP]], %c4_i64 : i64
// CHECK: %[[NEXT:.*]] = llvm.getelementptr %{{.*}}[%[[AHEAD]]]
// CHECK: llvm.intr.prefetch"(%[[NEXT]])
// CHECK: llvm.intr.masked.load {{.*}} vector<16xf32>
// CHECK: vector.shuffle
// CHECK: llvm.store {{.*}} vector<16xf32>
// CHECK-NOT: to %c64_i64 step %c1_i64
// CHECK: llvm.store {{.*}} vector<32xf32>
// CHECK-NOT: to %c64_i64 step %c1_i64
// CHECK: return
module {
  func.func @weights(%weights: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %out: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %n: i32) attributes {tile.kernel} {
    %nine = arith.constant dense<9> : tensor<1x16xi32>
    %nine_rows = arith.constant dense<9> : tensor<64x1xi32>
    %c2304 = arith.constant dense<2304> : tensor<64x1xi32>
    %c256 = arith.constant dense<256> : tensor<64x1xi32>
    %c256_columns = arith.constant dense<256> : tensor<1x16xi32>
    %c64 = arith.constant 64 : i32
    %program = tile.program_id 0
    %start = arith.muli %program, %c64 : i32
    %rows = tile.arange 0 : tensor<64xi32>
    %rows1 = tile.expand_dims %rows 1 : tensor<64xi32> -> tensor<64x1xi32>
    %starts = tile.splat %start : i32 -> tensor<64x1xi32>
    %y = arith.addi %starts, %rows1 : tensor<64x1xi32>
    %columns = tile.arange 0 : tensor<16xi32>
    %x = tile.expand_dims %columns 0 : tensor<16xi32> -> tensor<1x16xi32>
    %channel = arith.remsi %y, %c256 : tensor<64x1xi32>
    %filter = arith.divsi %y, %c256 : tensor<64x1xi32>
    %from_x = arith.muli %x, %c256_columns : tensor<1x16xi32>
    %from_filter = arith.muli %filter, %c2304 : tensor<64x1xi32>
    %a = tile.broadcast %channel : tensor<64x1xi32> -> tensor<64x16xi32>
    %b = tile.broadcast %from_x : tensor<1x16xi32> -> tensor<64x16xi32>
    %c = tile.broadcast %from_filter : tensor<64x1xi32> -> tensor<64x16xi32>
    %ab = arith.addi %a, %b : tensor<64x16xi32>
    %to = arith.addi %ab, %c : tensor<64x16xi32>
    %outs = tile.splat %out : !tile.ptr<f32> -> tensor<64x16x!tile.ptr<f32>>
    %places = tile.addptr %outs, %to : tensor<64x16x!tile.ptr<f32>>, tensor<64x16xi32>
    %from_y = arith.muli %y, %nine_rows : tensor<64x1xi32>
    %d = tile.broadcast %x : tensor<1x16xi32> -> tensor<64x16xi32>
    %e = tile.broadcast %from_y : tensor<64x1xi32> -> tensor<64x16xi32>
    %from = arith.addi %d, %e : tensor<64x16xi32>
    %ins = tile.splat %weights : !tile.ptr<f32> -> tensor<64x16x!tile.ptr<f32>>
    %pointers = tile.addptr %ins, %from : tensor<64x16x!tile.ptr<f32>>, tensor<64x16xi32>
    %in_x = arith.cmpi slt, %x, %nine : tensor<1x16xi32>
    %bound = tile.splat %n : i32 -> tensor<64x1xi32>
    %in_y = arith.cmpi slt, %y, %bound : tensor<64x1xi32>
    %f = tile.broadcast %in_x : tensor<1x16xi1> -> tensor<64x16xi1>
    %g = tile.broadcast %in_y : tensor<64x1xi1> -> tensor<64x16xi1>
    %mask = arith.andi %f, %g : tensor<64x16xi1>
    %values = tile.load %pointers mask %mask : tensor<64x16xi1> : tensor<64x16x!tile.ptr<f32>> -> tensor<64x16xf32>
    tile.store %places, %values mask %mask : tensor<64x16xi1> : tensor<64x16x!tile.ptr<f32>>, tensor<64x16xf32>
    return
  }
}
