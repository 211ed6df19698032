// RUN: nacre-opt %s --split-input-file --kernel-entry | FileCheck %s
// RUN: nacre-opt %s --split-input-file --lower-to-loops="vector-bytes=64 registers=32" --verify-diagnostics | FileCheck %s --check-prefix=LOOPS

// Arguments are read from their slots, once; the first number of the range of programs becomes its place in the grid, from
// which the others are counted.
// CHECK-LABEL: func.func @entry(
// CHECK-SAME: %[[ARGS:.*]]: !llvm.ptr, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64, %[[CONTEXT:.*]]: !llvm.ptr) -> i32
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> !llvm.ptr
// CHECK: %[[N:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i32
// CHECK: %[[HALF:.*]] = llvm.load %{{.*}} : !llvm.ptr -> f32
// CHECK: %[[WIDTH:.*]] = llvm.load %[[CONTEXT]]
// CHECK-NOT: scf.forall
// CHECK: arith.divui %[[BEGIN]]
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[END]] step %{{.*}} iter_args(%[[X:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}})
// CHECK:   %[[NEXT:.*]] = arith.addi %[[X]],
// CHECK:   %[[OVER:.*]] = arith.cmpi eq, %[[NEXT]], %[[WIDTH]]
// CHECK:   arith.select %[[OVER]],
// CHECK:   arith.addi %[[X]], %[[N]]
// CHECK-NOT: arith.divui
// CHECK: return %{{.*}} : i32
func.func @entry(%p: !llvm.ptr, %n: i32, %h: i16 {cpu.type = bf16}, %context: !llvm.ptr) attributes {cpu.kernel} {
  %width = llvm.load %context : !llvm.ptr -> i32
  %w = arith.index_castui %width : i32 to index
  scf.forall (%i, %j, %k) in (%w, %w, %w) {
    %x = arith.index_cast %i : index to i32
    %y = arith.index_cast %j : index to i32
    %sum = arith.addi %x, %n : i32
    %all = arith.addi %sum, %y : i32
    llvm.store %all, %p : i32, !llvm.ptr
    llvm.store %h, %p : i16, !llvm.ptr
  }
  return
}

// -----

// What lower-to-loops hands over: arguments in registers, the context last, one loop over the grid.
// LOOPS-LABEL: func.func @loops(
// LOOPS-SAME: %[[P:.*]]: !llvm.ptr, %{{.*}}: i16 {cpu.type = bf16}, %{{.*}}: !llvm.ptr) attributes {cpu.kernel}
// LOOPS: scf.forall (%[[X:.*]], %{{.*}}, %{{.*}}) in (
// LOOPS:   arith.index_cast %[[X]] : index to i32
// LOOPS:   llvm.store
func.func @loops(%p: !tile.ptr<i32>, %h: bf16) attributes {tile.kernel} {
  %pid = tile.program_id 0
  tile.store %p, %pid : !tile.ptr<i32>, i32
  return
}
