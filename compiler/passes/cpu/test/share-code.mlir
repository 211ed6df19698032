// RUN: nacre-opt %s --split-input-file --share-code | FileCheck %s

// Thirteen of one function in one block are calls of one copy; another function, or another type, is not touched.
// CHECK-LABEL: func.func @unrolled(
// CHECK-COUNT-13: call @exp.shared(%{{.*}}) : (vector<16xf32>) -> vector<16xf32>
// CHECK-NOT: call
// CHECK: math.exp %{{.*}} : vector<8xf32>
// CHECK: math.sin
// CHECK: func.func private @exp.shared(%[[X:.*]]: vector<16xf32>) -> vector<16xf32> attributes {llvm.linkage = #llvm.linkage<internal>, passthrough = ["noinline"]}
// CHECK-NEXT: %[[Y:.*]] = math.exp %[[X]] : vector<16xf32>
// CHECK-NEXT: return %[[Y]]
func.func @unrolled(%e0: vector<16xf32>, %n: vector<8xf32>) -> (vector<16xf32>, vector<8xf32>) {
  %e1 = math.exp %e0 : vector<16xf32>
  %e2 = math.exp %e1 : vector<16xf32>
  %e3 = math.exp %e2 : vector<16xf32>
  %e4 = math.exp %e3 : vector<16xf32>
  %e5 = math.exp %e4 : vector<16xf32>
  %e6 = math.exp %e5 : vector<16xf32>
  %e7 = math.exp %e6 : vector<16xf32>
  %e8 = math.exp %e7 : vector<16xf32>
  %e9 = math.exp %e8 : vector<16xf32>
  %e10 = math.exp %e9 : vector<16xf32>
  %e11 = math.exp %e10 : vector<16xf32>
  %e12 = math.exp %e11 : vector<16xf32>
  %e13 = math.exp %e12 : vector<16xf32>
  %m = math.exp %n : vector<8xf32>
  %s = math.sin %e13 : vector<16xf32>
  return %s, %m : vector<16xf32>, vector<8xf32>
}

// -----

// As many as somebody writes by hand stay where they are.
// CHECK-LABEL: func.func @few(
// CHECK-NOT: call
// CHECK: return
func.func @few(%e0: vector<16xf32>) -> vector<16xf32> {
  %e1 = math.exp %e0 : vector<16xf32>
  %e2 = math.exp %e1 : vector<16xf32>
  %e3 = math.exp %e2 : vector<16xf32>
  %e4 = math.exp %e3 : vector<16xf32>
  %e5 = math.exp %e4 : vector<16xf32>
  %e6 = math.exp %e5 : vector<16xf32>
  %e7 = math.exp %e6 : vector<16xf32>
  %e8 = math.exp %e7 : vector<16xf32>
  %e9 = math.exp %e8 : vector<16xf32>
  %e10 = math.exp %e9 : vector<16xf32>
  %e11 = math.exp %e10 : vector<16xf32>
  %e12 = math.exp %e11 : vector<16xf32>
  return %e12 : vector<16xf32>
}

// -----

#vectors = #cpu.blocking<batch = 1, m = 4, n = 8, k = 4, operand = f32, sum = f32, lanes = 8, panel = 8, rows = 4, engine = vectors>
#tiles = #cpu.blocking<batch = 1, m = 16, n = 16, k = 32, operand = bf16, sum = f32, lanes = 16, panel = 16, rows = 4, engine = tiles>

// Micro-kernels of one kind on several operands. Those on tile registers need scratch memory of the kernel and stay.
// CHECK: #[[TILES:.*]] = #cpu.blocking<{{.*}} engine = tiles>
// CHECK-LABEL: func.func @products(
// CHECK-COUNT-5: call @micro_kernel.shared(
// CHECK-COUNT-5: cpu.micro_kernel {{.*}} {blocking = #[[TILES]], 
// CHECK: func.func private @micro_kernel.shared(%[[C:.*]]: !llvm.ptr, %[[A:.*]]: !llvm.ptr, %[[B:.*]]: !llvm.ptr)
// CHECK-NEXT: cpu.micro_kernel %[[C]] rows(%[[A]]) panels(%[[B]])
// CHECK-NEXT: return
func.func @products(%c: !llvm.ptr, %a: !llvm.ptr, %b0: !llvm.ptr, %b1: !llvm.ptr) {
  cpu.micro_kernel %c rows(%a) panels(%b0) {blocking = #vectors, tables = array<i1: false>}
  cpu.micro_kernel %c rows(%a) panels(%b1) {blocking = #vectors, tables = array<i1: false>}
  cpu.micro_kernel %c rows(%a) panels(%b0) {blocking = #vectors, tables = array<i1: false>}
  cpu.micro_kernel %c rows(%a) panels(%b1) {blocking = #vectors, tables = array<i1: false>}
  cpu.micro_kernel %c rows(%a) panels(%b0) {blocking = #vectors, tables = array<i1: false>}
  cpu.micro_kernel %c rows(%a) panels(%b0) {blocking = #tiles, tables = array<i1: false>}
  cpu.micro_kernel %c rows(%a) panels(%b0) {blocking = #tiles, tables = array<i1: false>}
  cpu.micro_kernel %c rows(%a) panels(%b0) {blocking = #tiles, tables = array<i1: false>}
  cpu.micro_kernel %c rows(%a) panels(%b0) {blocking = #tiles, tables = array<i1: false>}
  cpu.micro_kernel %c rows(%a) panels(%b0) {blocking = #tiles, tables = array<i1: false>}
  return
}
