// RUN: nacre-opt %s --watch-arithmetic | FileCheck %s

// A division tells its operands, unless it is by a constant that is fine; so does a shift.
// CHECK-LABEL: func.func @divides
// CHECK: tile.tell "arithmetic" "div int32" %[[A:.*]], %[[B:.*]] : i32, i32 {isSigned = array<i1: true, true>}
// CHECK-NEXT: arith.divsi %[[A]], %[[B]]
// CHECK-NOT: tile.tell
// CHECK: arith.divsi %[[A]], %c3
// CHECK: tile.tell "arithmetic" "shl uint32" %[[A]], %[[B]] : i32, i32 {isSigned = array<i1: false, false>}
// CHECK-NEXT: arith.shli %[[A]], %[[B]]
// CHECK-NOT: tile.tell
// CHECK: arith.shli %[[A]], %c3
func.func @divides(%a: i32, %b: i32, %out: !tile.ptr<i32>) attributes {tile.kernel} {
  %c3 = arith.constant 3 : i32
  %q = arith.divsi %a, %b : i32
  %r = arith.divsi %a, %c3 : i32
  %s = arith.shli %a, %b : i32
  %t = arith.shli %a, %c3 : i32
  %1 = arith.addi %q, %r : i32
  %2 = arith.addi %s, %t : i32
  %3 = arith.addi %1, %2 : i32
  tile.store %out, %3 : !tile.ptr<i32>, i32
  return
}
