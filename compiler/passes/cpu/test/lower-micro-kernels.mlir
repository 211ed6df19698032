// RUN: nacre-opt %s --split-input-file --lower-micro-kernels | FileCheck %s

// Two rows by one panel of two vectors; six rows are three blocks. The sums are read, each step along k is a load for each vector of
// B and a broadcast for each row of A, and the sums are written.
// CHECK-LABEL: func.func @vectors(
// CHECK-SAME: %[[C:.*]]: !llvm.ptr, %[[A:.*]]: !llvm.ptr, %[[B:.*]]: !llvm.ptr)
// CHECK: scf.for
// CHECK-COUNT-4: llvm.load {{.*}} -> vector<8xf32>
// CHECK: scf.for {{.*}} iter_args
// CHECK-COUNT-2: llvm.load {{.*}} -> vector<8xf32>
// CHECK: llvm.load {{.*}} -> f32
// CHECK: vector.broadcast
// CHECK: math.fma {{.*}} : vector<8xf32>
// CHECK: scf.yield
// CHECK-COUNT-4: llvm.store {{.*}} : vector<8xf32>, !llvm.ptr
// CHECK-NOT: cpu.micro_kernel
func.func @vectors(%c: !llvm.ptr, %a: !llvm.ptr, %b: !llvm.ptr) {
  cpu.micro_kernel %c rows(%a) panels(%b) {blocking = #cpu.blocking<batch = 1, m = 6, n = 16, k = 3, operand = f32, sum = f32, lanes = 8, panel = 16, rows = 2, engine = vectors>, tables = array<i1: false>}
  return
}

// -----

// Two products are one walk after the other with the sums in registers, from zero; the rows of the second stand in a table and are
// prefetched.
// CHECK-LABEL: func.func @two_products(
// CHECK-NOT: llvm.load {{.*}} -> vector<8xi32>
// CHECK: %[[FIRST:.*]]:2 = scf.for
// CHECK: arith.muli {{.*}} : vector<8xi32>
// CHECK: llvm.load {{.*}} -> !llvm.ptr
// CHECK: llvm.intr.prefetch
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[FIRST]]#0, %{{.*}} = %[[FIRST]]#1)
// CHECK-COUNT-2: llvm.store {{.*}} : vector<8xi32>, !llvm.ptr
func.func @two_products(%c: !llvm.ptr, %a: !llvm.ptr, %b: !llvm.ptr, %table: !llvm.ptr, %d: !llvm.ptr, %ahead: i64) {
  cpu.micro_kernel %c rows(%a, %table) panels(%b, %d) ahead(%ahead) {blocking = #cpu.blocking<batch = 1, m = 2, n = 8, k = 4, operand = i32, sum = i32, lanes = 8, panel = 8, rows = 2, engine = vectors>, from_zero, tables = array<i1: false, true>}
  return
}

// -----

// Tile registers want rows of one stride: a table is checked, and copied where they have none. The memory of the copy and of the
// configuration is given back.
// CHECK-LABEL: func.func @tiles(
// CHECK: %[[COPY:.*]] = cpu.scratch 1024
// CHECK: scf.if
// CHECK: llvm.intr.memcpy
// CHECK: %[[CONFIGURATION:.*]] = cpu.scratch 64
// CHECK: "llvm.x86.ldtilecfg"
// CHECK: "llvm.x86.tilezero"
// CHECK: "llvm.x86.tdpbf16ps"
// CHECK: "llvm.x86.tilestored64"
// CHECK: "llvm.x86.tilerelease"
// CHECK: cpu.release %[[COPY]]
// CHECK: cpu.release %[[CONFIGURATION]]
func.func @tiles(%c: !llvm.ptr, %table: !llvm.ptr, %b: !llvm.ptr) {
  cpu.micro_kernel %c rows(%table) panels(%b) {blocking = #cpu.blocking<batch = 1, m = 16, n = 16, k = 32, operand = bf16, sum = f32, lanes = 16, panel = 16, rows = 4, engine = tiles>, from_zero, tables = array<i1: true>}
  return
}
