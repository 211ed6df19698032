// RUN: nacre-opt %s --split-input-file --lower-to-loops="vector-bytes=64 registers=32" | FileCheck %s

// Rows that are contiguous in memory are not copied: a table of eight addresses. Panels are packed into scratch memory. The
// product starts from zero, and what was packed is given back after it.
// CHECK-LABEL: func.func @in_place
// CHECK: %[[TABLE:.*]] = cpu.scratch 64
// CHECK: %[[PANELS:.*]] = cpu.scratch 256
// CHECK: %[[SUMS:.*]] = cpu.scratch 512
// CHECK: cpu.micro_kernel %[[SUMS]] rows(%[[TABLE]]) panels(%[[PANELS]]) {blocking = #blocking, from_zero, tables = array<i1: true>}
// CHECK: cpu.release %[[TABLE]]
// CHECK: cpu.release %[[PANELS]]
// CHECK: cpu.release %[[SUMS]]
#blocking = #cpu.blocking<batch = 1, m = 8, n = 16, k = 4, operand = f32, sum = f32, lanes = 16, panel = 16, rows = 4, engine = vectors>
func.func @in_place(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>, %r: !tile.ptr<f32>) attributes {tile.kernel} {
  %zero = arith.constant dense<0.0> : tensor<8x16xf32>
  %four = arith.constant dense<4> : tensor<8x1xi32>
  %i = tile.arange 0 : tensor<8xi32>
  %k = tile.arange 0 : tensor<4xi32>
  %column = tile.expand_dims %i 1 : tensor<8xi32> -> tensor<8x1xi32>
  %offset = arith.muli %column, %four : tensor<8x1xi32>
  %row = tile.expand_dims %k 0 : tensor<4xi32> -> tensor<1x4xi32>
  %offsets = tile.broadcast %offset : tensor<8x1xi32> -> tensor<8x4xi32>
  %rows = tile.broadcast %row : tensor<1x4xi32> -> tensor<8x4xi32>
  %index = arith.addi %offsets, %rows : tensor<8x4xi32>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<8x4x!tile.ptr<f32>>
  %pp = tile.addptr %ps, %index : tensor<8x4x!tile.ptr<f32>>, tensor<8x4xi32>
  %qs = tile.splat %q : !tile.ptr<f32> -> tensor<4x16x!tile.ptr<f32>>
  %rs = tile.splat %r : !tile.ptr<f32> -> tensor<8x16x!tile.ptr<f32>>
  %a = tile.load %pp : tensor<8x4x!tile.ptr<f32>> -> tensor<8x4xf32>
  %b = tile.load %qs : tensor<4x16x!tile.ptr<f32>> -> tensor<4x16xf32>
  %packed = cpu.rows %a {blocking = #blocking} : tensor<8x4xf32> -> tensor<8x4xf32>
  %panels = cpu.panels %b {blocking = #blocking} : tensor<4x16xf32> -> tensor<1x1x4x16xf32>
  %sum = cpu.multiply %zero rows(%packed : tensor<8x4xf32>) panels(%panels : tensor<1x1x4x16xf32>) {blocking = #blocking} : tensor<8x16xf32>
  tile.store %rs, %sum : tensor<8x16x!tile.ptr<f32>>, tensor<8x16xf32>
  return
}

// -----

// Rows of another type are converted where they are packed. What is kept has a slot that outlasts the program, with the key
// beside it, and is packed only where the slot holds another.
// CHECK-LABEL: func.func @kept
// CHECK: %[[SLOTS:.*]] = cpu.scratch {{.*}} kept
// CHECK: scf.forall
// CHECK: %[[ROWS:.*]] = cpu.scratch 128
// CHECK: arith.extf
// CHECK: %[[PANELS:.*]] = cpu.scratch 256
// CHECK: arith.cmpi eq
// CHECK: %[[PLACE:.*]] = llvm.select
// CHECK: scf.if
// CHECK: cpu.micro_kernel %{{.*}} rows(%[[ROWS]]) panels(%[[PLACE]]) {blocking = #blocking, tables = array<i1: false>}
#blocking = #cpu.blocking<batch = 1, m = 8, n = 16, k = 4, operand = f32, sum = f32, lanes = 16, panel = 16, rows = 4, engine = vectors>
func.func @kept(%p: !tile.ptr<f16>, %q: !tile.ptr<f32>, %r: !tile.ptr<f32>) attributes {tile.kernel} {
  %pid = tile.program_id 0
  %from = tile.addptr %q, %pid : !tile.ptr<f32>, i32
  %ps = tile.splat %p : !tile.ptr<f16> -> tensor<8x4x!tile.ptr<f16>>
  %qs = tile.splat %from : !tile.ptr<f32> -> tensor<4x16x!tile.ptr<f32>>
  %rs = tile.splat %r : !tile.ptr<f32> -> tensor<8x16x!tile.ptr<f32>>
  %a = tile.load %ps : tensor<8x4x!tile.ptr<f16>> -> tensor<8x4xf16>
  %b = tile.load %qs : tensor<4x16x!tile.ptr<f32>> -> tensor<4x16xf32>
  %c = tile.load %rs : tensor<8x16x!tile.ptr<f32>> -> tensor<8x16xf32>
  %packed = cpu.rows %a {blocking = #blocking} : tensor<8x4xf16> -> tensor<8x4xf32>
  %panels = cpu.panels %b kept by(%pid : i32) {blocking = #blocking} : tensor<4x16xf32> -> tensor<1x1x4x16xf32>
  %sum = cpu.multiply %c rows(%packed : tensor<8x4xf32>) panels(%panels : tensor<1x1x4x16xf32>) {blocking = #blocking} : tensor<8x16xf32>
  tile.store %rs, %sum : tensor<8x16x!tile.ptr<f32>>, tensor<8x16xf32>
  return
}

// -----

// A tile that is the accumulator and an operand at once is not overwritten while it is multiplied: the product has sums of its
// own, which are copied to where the loop carries them.
// CHECK-LABEL: func.func @squared
// CHECK: cpu.scratch 1024
// CHECK: %[[CARRIED:.*]] = cpu.scratch 1024
// CHECK: scf.for {{.*}} : i32
// CHECK: %[[PANELS:.*]] = cpu.scratch 1024
// CHECK: %[[SUMS:.*]] = cpu.scratch 1024
// CHECK: cpu.micro_kernel %[[SUMS]] rows(%[[CARRIED]]) panels(%[[PANELS]])
// CHECK: "llvm.intr.memcpy"(%[[CARRIED]], %[[SUMS]]
#square = #cpu.blocking<batch = 1, m = 16, n = 16, k = 16, operand = f32, sum = f32, lanes = 16, panel = 16, rows = 4, engine = vectors>
func.func @squared(%p: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  %a = tile.load %ps : tensor<16x16x!tile.ptr<f32>> -> tensor<16x16xf32>
  %last = scf.for %i = %zero to %n step %one iter_args(%x = %a) -> (tensor<16x16xf32>) : i32 {
    %rows = cpu.rows %x {blocking = #square} : tensor<16x16xf32> -> tensor<16x16xf32>
    %panels = cpu.panels %x {blocking = #square} : tensor<16x16xf32> -> tensor<1x1x16x16xf32>
    %sum = cpu.multiply %x rows(%rows : tensor<16x16xf32>) panels(%panels : tensor<1x1x16x16xf32>) {blocking = #square} : tensor<16x16xf32>
    scf.yield %sum : tensor<16x16xf32>
  }
  tile.store %ps, %last : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xf32>
  return
}
