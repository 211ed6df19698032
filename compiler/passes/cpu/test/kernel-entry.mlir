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

// -----

// Neighbours take turns: runs of at most eight programs of one row of the grid, in them the programs' own loop, innermost the
// programs of the run.
// CHECK-LABEL: func.func @turns(
// CHECK-SAME: %{{.*}}: !llvm.ptr, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64, %{{.*}}: !llvm.ptr) -> i32
// CHECK: scf.while (%{{.*}} = %[[BEGIN]]
// CHECK: arith.cmpi slt, %{{.*}}, %[[END]]
// CHECK: } do {
// CHECK: %[[COUNT:.*]] = arith.minsi %{{.*}}, %c8_i64
// CHECK: scf.for %[[ROW:.*]] = %c0_i64{{.*}} to %c32_i64
// CHECK:   scf.for %[[TURN:.*]] = %c0_i64{{.*}} to %[[COUNT]]
// CHECK:     %[[NARROW:.*]] = arith.trunci %[[TURN]]
// CHECK:     %[[X:.*]] = arith.addi %{{.*}}, %[[NARROW]]
// CHECK:     arith.muli %[[X]],
// CHECK:     arith.addi %{{.*}}, %[[ROW]]
// CHECK:     llvm.store
// CHECK: scf.yield
// CHECK-NOT: scf.for
func.func @turns(%p: !llvm.ptr, %n: i32, %context: !llvm.ptr) attributes {cpu.kernel} {
  %width = llvm.load %context : !llvm.ptr -> i32
  %w = arith.index_castui %width : i32 to index
  scf.forall (%i, %j, %k) in (%w, %w, %w) {
    %x = arith.index_cast %i : index to i32
    %start = arith.muli %x, %n : i32
    %wide = arith.extsi %start : i32 to i64
    %c0 = arith.constant 0 : i64
    %c32 = arith.constant 32 : i64
    %c1 = arith.constant 1 : i64
    scf.for %row = %c0 to %c32 step %c1 : i64 {
      %place = arith.addi %wide, %row : i64
      %address = llvm.getelementptr %p[%place] : (!llvm.ptr, i64) -> !llvm.ptr, i64
      llvm.store %place, %address : i64, !llvm.ptr
    }
  } {cpu.turns = 8 : i64}
  return
}

// -----

// A program that does more than one loop runs at once.
// CHECK-LABEL: func.func @no_turns(
// CHECK-NOT: scf.while
func.func @no_turns(%p: !llvm.ptr, %n: i32, %context: !llvm.ptr) attributes {cpu.kernel} {
  %width = llvm.load %context : !llvm.ptr -> i32
  %w = arith.index_castui %width : i32 to index
  scf.forall (%i, %j, %k) in (%w, %w, %w) {
    %seen = llvm.load %p : !llvm.ptr -> i64
    %c0 = arith.constant 0 : i64
    %c32 = arith.constant 32 : i64
    %c1 = arith.constant 1 : i64
    scf.for %row = %c0 to %c32 step %c1 : i64 {
      %address = llvm.getelementptr %p[%row] : (!llvm.ptr, i64) -> !llvm.ptr, i64
      llvm.store %seen, %address : i64, !llvm.ptr
    }
  } {cpu.turns = 8 : i64}
  return
}
