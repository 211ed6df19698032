// RUN: nacre-opt %s --watch-arithmetic | FileCheck %s

// A division tells its operands where it goes wrong, unless it is by a constant that is fine; so does a shift.
// CHECK-LABEL: func.func @divides
// CHECK-SAME: %[[A:.*]]: i32, %[[B:.*]]: i32,
// CHECK: %[[ZERO:.*]] = arith.cmpi eq, %[[B]], %c0
// CHECK: %[[LEAST:.*]] = arith.cmpi eq, %[[A]], %c-2147483648
// CHECK: %[[MINUS:.*]] = arith.cmpi eq, %[[B]], %c-1
// CHECK: %[[BOTH:.*]] = arith.andi %[[LEAST]], %[[MINUS]]
// CHECK: %[[WRONG:.*]] = arith.ori %[[ZERO]], %[[BOTH]]
// CHECK: tile.tell "arithmetic" "div int32" %[[A]], %[[B]], %[[WRONG]] : i32, i32, i1 {isSigned = array<i1: true, true, true>, when}
// CHECK-NEXT: arith.divsi %[[A]], %[[B]]
// CHECK-NOT: tile.tell
// CHECK: arith.divsi %[[A]], %c3
// CHECK: %[[WIDE:.*]] = arith.cmpi uge, %[[B]], %c32
// CHECK: tile.tell "arithmetic" "shl uint32" %[[A]], %[[B]], %[[WIDE]] : i32, i32, i1 {isSigned = array<i1: false, false, false>, when}
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

// The offsets of a program lie between two numbers: one comparison says whether any element is too large.
// CHECK-LABEL: func.func @offsets
// CHECK-SAME: %[[N:.*]]: i32,
// CHECK: %[[WIDE:.*]] = arith.extsi %[[N]] : i32 to i64
// CHECK: %[[HIGH:.*]] = arith.addi %[[WIDE]], %c1023_i64
// CHECK: arith.cmpi sgt, %[[HIGH]], %c2147483647_i64
// CHECK: tile.tell "arithmetic" "add int32" {{.*}}, i1 {{.*}}when}
// What constants prove to be fine is not told.
// CHECK-NOT: tile.tell
func.func @offsets(%n: i32, %out: !tile.ptr<i32>) attributes {tile.kernel} {
  %i = tile.arange 0 : tensor<1024xi32>
  %first = tile.splat %n : i32 -> tensor<1024xi32>
  tile.tell "arithmetic" "add int32" %first, %i : tensor<1024xi32>, tensor<1024xi32> {isSigned = array<i1: true, true>}
  tile.tell "arithmetic" "mul int32" %i, %i : tensor<1024xi32>, tensor<1024xi32> {isSigned = array<i1: true, true>}
  return
}

// Of what is not known before the tile is, each element says it.
// CHECK-LABEL: func.func @loaded
// CHECK: %[[SUM:.*]] = arith.addi %[[A:.*]], %[[A]] : tensor<8xi16>
// CHECK: arith.xori %[[A]], %[[SUM]]
// CHECK: tile.tell "arithmetic" "add int16" %[[A]], %[[A]], %{{.*}} : tensor<8xi16>, tensor<8xi16>, tensor<8xi1> {{.*}}when}
// CHECK: arith.muli %{{.*}}, %{{.*}} : tensor<8xi32>
// CHECK: tile.tell "arithmetic" "mul int16" {{.*}}, tensor<8xi1> {{.*}}when}
func.func @loaded(%p: !tile.ptr<i16>) attributes {tile.kernel} {
  %i = tile.arange 0 : tensor<8xi32>
  %ps = tile.splat %p : !tile.ptr<i16> -> tensor<8x!tile.ptr<i16>>
  %at = tile.addptr %ps, %i : tensor<8x!tile.ptr<i16>>, tensor<8xi32>
  %a = tile.load %at : tensor<8x!tile.ptr<i16>> -> tensor<8xi16>
  tile.tell "arithmetic" "add int16" %a, %a : tensor<8xi16>, tensor<8xi16> {isSigned = array<i1: true, true>}
  tile.tell "arithmetic" "mul int16" %a, %a : tensor<8xi16>, tensor<8xi16> {isSigned = array<i1: true, true>}
  return
}

// Sums along an axis are made in 64 bits too, and told where the two differ; what is no sum is not.
// CHECK-LABEL: func.func @sums
// CHECK: %[[SUM:.*]] = tile.reduce %[[X:.*]] axis 0
// CHECK: %[[WIDE:.*]] = arith.extsi %[[X]] : tensor<8xi32> to tensor<8xi64>
// CHECK: %[[RIGHT:.*]] = tile.reduce %[[WIDE]] axis 0 {
// CHECK: arith.addi {{.*}} : i64
// CHECK: %[[SAME:.*]] = arith.extsi %[[SUM]] : i32 to i64
// CHECK: %[[WRONG:.*]] = arith.cmpi ne, %[[SAME]], %[[RIGHT]] : i64
// CHECK: tile.tell "arithmetic" "sum int32" %[[SUM]], %[[RIGHT]], %[[WRONG]] : i32, i64, i1
// CHECK: tile.scan {{.*}} axis 0
// CHECK: tile.scan {{.*}} axis 0
// CHECK: {reverse = true} : (tensor<8xi64>) -> tensor<8xi64>
// CHECK: tile.tell "arithmetic" "sum int32" {{.*}} : tensor<8xi32>, tensor<8xi64>, tensor<8xi1>
// CHECK: tile.reduce
// CHECK-NOT: tile.tell
// CHECK: return
func.func @sums(%x: tensor<8xi32>, %out: !tile.ptr<i32>) attributes {tile.kernel} {
  %sum = tile.reduce %x axis 0 {
  ^bb0(%left: i32, %right: i32):
    %0 = arith.addi %left, %right : i32
    tile.yield %0 : i32
  } : (tensor<8xi32>) -> i32
  tile.tell "arithmetic" "sum int32" %x, %sum : tensor<8xi32>, i32 {isSigned = array<i1: true, true>}
  %running = tile.scan %x axis 0 {
  ^bb0(%left: i32, %right: i32):
    %0 = arith.addi %left, %right : i32
    tile.yield %0 : i32
  } {reverse = true} : (tensor<8xi32>) -> tensor<8xi32>
  tile.tell "arithmetic" "sum int32" %x, %running : tensor<8xi32>, tensor<8xi32> {isSigned = array<i1: true, true>}
  %most = tile.reduce %running axis 0 {
  ^bb0(%left: i32, %right: i32):
    %0 = arith.maxsi %left, %right : i32
    tile.yield %0 : i32
  } : (tensor<8xi32>) -> i32
  tile.tell "arithmetic" "sum int32" %running, %most : tensor<8xi32>, i32 {isSigned = array<i1: true, true>}
  %both = arith.addi %sum, %most : i32
  tile.store %out, %both : !tile.ptr<i32>, i32
  return
}
