// RUN: nacre-opt %s --split-input-file --split-blocks=levels=2 | FileCheck %s

// Branches three levels deep are cut where two are: the inner ones become a function.
// CHECK-LABEL: func.func @nest(
// CHECK-SAME: %[[C:.*]]: i1, %[[P:.*]]: !llvm.ptr, %[[X:.*]]: f32)
// CHECK: scf.if %[[C]] {
// CHECK-NEXT: func.call @nest.part(%[[X]], %[[P]], %[[C]]) : (f32, !llvm.ptr, i1) -> ()
// CHECK-NEXT: }
// CHECK: func.func private @nest.part(%{{.*}}: f32, %{{.*}}: !llvm.ptr, %[[D:.*]]: i1)
// CHECK-NEXT: scf.if %[[D]] {
// CHECK-NEXT: scf.if %[[D]] {
// CHECK-NEXT: llvm.store
func.func @nest(%c: i1, %p: !llvm.ptr, %x: f32) {
  scf.if %c {
    scf.if %c {
      scf.if %c {
        llvm.store %x, %p : f32, !llvm.ptr
      }
    }
  }
  return
}

// -----

// A part computes addresses at constant distances itself: however many there are, it has one argument for all.
// CHECK-LABEL: func.func @addresses(
// CHECK-SAME: %[[C:.*]]: i1, %[[S:.*]]: !llvm.ptr, %[[X:.*]]: f32)
// CHECK: scf.if %[[C]] {
// CHECK-NEXT: func.call @addresses.part(%[[X]], %[[S]], %[[C]]) : (f32, !llvm.ptr, i1) -> ()
// CHECK-NEXT: llvm.store
// CHECK: func.func private @addresses.part(%[[Y:.*]]: f32, %[[T:.*]]: !llvm.ptr, %{{.*}}: i1)
// CHECK-DAG: %[[A:.*]] = llvm.getelementptr %[[T]][256]
// CHECK-DAG: %[[B:.*]] = llvm.getelementptr %[[A]][256]
// CHECK: llvm.store %[[Y]], %[[A]]
// CHECK: llvm.store %[[Y]], %[[B]]
func.func @addresses(%c: i1, %s: !llvm.ptr, %x: f32) {
  %a = llvm.getelementptr %s[256] : (!llvm.ptr) -> !llvm.ptr, i8
  %b = llvm.getelementptr %a[256] : (!llvm.ptr) -> !llvm.ptr, i8
  scf.if %c {
    scf.if %c {
      scf.if %c {
        llvm.store %x, %a : f32, !llvm.ptr
        llvm.store %x, %b : f32, !llvm.ptr
      }
    }
    llvm.store %x, %b : f32, !llvm.ptr
  }
  return
}
