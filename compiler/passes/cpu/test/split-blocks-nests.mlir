// RUN: nacre-opt %s --split-blocks=levels=2 | FileCheck %s

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
