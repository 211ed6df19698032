// RUN: nacre-opt %s --legalize-integers | FileCheck %s
// RUN: nacre-opt %s --run=answers --args='i32[8]=0,i32=0,i32=-1,i32=-2147483648,i32=33' | FileCheck %s --check-prefix=ANSWERS
// RUN: nacre-opt %s --legalize-integers --canonicalize --run=answers --args='i32[8]=0,i32=0,i32=-1,i32=-2147483648,i32=33' | FileCheck %s --check-prefix=ANSWERS

// CHECK-LABEL: func.func @guards
func.func @guards(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK: arith.cmpi eq, %arg1, %{{.*}} : tensor<4xi32>
  // CHECK: %[[SAFE:.*]] = arith.select
  // CHECK: arith.divsi %arg0, %[[SAFE]]
  // CHECK: arith.select
  // CHECK: arith.select
  %q = arith.divsi %x, %y : tensor<4xi32>
  // CHECK: arith.minui
  // CHECK: arith.shrsi
  %s = arith.shrsi %q, %y : tensor<4xi32>
  return %s : tensor<4xi32>
}

// What ranges prove needs no guard.
// CHECK-LABEL: func.func @proved
// CHECK-NOT: arith.select
// CHECK: return
func.func @proved(%x: i32) -> i32 {
  %seven = arith.constant 7 : i32
  %pid = tile.program_id 0
  %count = tile.num_programs 0
  %a = arith.divsi %x, %seven : i32
  %b = arith.remsi %a, %count : i32
  %c = arith.divui %b, %count : i32
  %d = arith.shli %c, %seven : i32
  %masked = arith.andi %pid, %seven : i32
  %e = arith.shrui %d, %masked : i32
  // The least number divided by minus one is the one case that a negative divisor has.
  %negative = arith.constant -1 : i32
  %f = arith.divsi %pid, %negative : i32
  %g = arith.addi %e, %f : i32
  return %g : i32
}

// ANSWERS: {{\[ *}}-1 -1 -2147483648 0 -1 -2147483648 0 -1]
func.func @answers(%out: !tile.ptr<i32>, %zero: i32, %one: i32, %least: i32, %wide: i32) attributes {tile.kernel} {
  %q = arith.divsi %wide, %zero : i32
  %u = arith.divui %wide, %zero : i32
  %m = arith.divsi %least, %one : i32
  %r = arith.remsi %least, %one : i32
  %s = arith.shrsi %one, %wide : i32
  %k = arith.remsi %least, %zero : i32
  %l = arith.shli %one, %wide : i32
  %t = arith.shrsi %least, %wide : i32
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 1 : i32
  %i2 = arith.constant 2 : i32
  %i3 = arith.constant 3 : i32
  %i4 = arith.constant 4 : i32
  %i5 = arith.constant 5 : i32
  %i6 = arith.constant 6 : i32
  %i7 = arith.constant 7 : i32
  %p0 = tile.addptr %out, %i0 : !tile.ptr<i32>, i32
  %p1 = tile.addptr %out, %i1 : !tile.ptr<i32>, i32
  %p2 = tile.addptr %out, %i2 : !tile.ptr<i32>, i32
  %p3 = tile.addptr %out, %i3 : !tile.ptr<i32>, i32
  %p4 = tile.addptr %out, %i4 : !tile.ptr<i32>, i32
  %p5 = tile.addptr %out, %i5 : !tile.ptr<i32>, i32
  %p6 = tile.addptr %out, %i6 : !tile.ptr<i32>, i32
  %p7 = tile.addptr %out, %i7 : !tile.ptr<i32>, i32
  tile.store %p0, %q : !tile.ptr<i32>, i32
  tile.store %p1, %u : !tile.ptr<i32>, i32
  tile.store %p2, %m : !tile.ptr<i32>, i32
  tile.store %p3, %r : !tile.ptr<i32>, i32
  tile.store %p4, %s : !tile.ptr<i32>, i32
  tile.store %p5, %k : !tile.ptr<i32>, i32
  tile.store %p6, %l : !tile.ptr<i32>, i32
  tile.store %p7, %t : !tile.ptr<i32>, i32
  return
}
