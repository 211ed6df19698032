// RUN: nacre-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(func.func(software-pipeline))' | FileCheck %s

#r = #simt.layout<"[32, 32] register b1 b2 b4 lane b8 b16 a1 a2 a4 warp a8 a16">
#c = #simt.layout<"[32, 32] register b1 a8 a16 lane b2 b4 a1 a2 a4 warp b8 b16">

module attributes {simt.num_warps = 4 : i32, simt.lanes = 32 : i32, tile.num_stages = 3 : i32} {

// Two iterations ahead, as far as there are any, then one more in each iteration. One wait, one barrier.
// CHECK-LABEL: func.func @words
// CHECK: %[[RING:.*]] = simt.allocate : <32x32xf16, #{{.*}}, 3>
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[FIRST:.*]] = %{{.*}}, %[[PLACE:.*]] = %{{.*}}, %[[POINTER:.*]] = %arg0)
// CHECK: tile.addptr %[[POINTER]]
// CHECK: %[[SLOT:.*]] = simt.slot %[[RING]][%[[PLACE]]]
// CHECK: simt.copy %[[POINTER]], %[[SLOT]] if %[[FIRST]] {simt.vector = array<i32: 1, 8>}
// CHECK: simt.commit_copies
// CHECK: scf.for
// CHECK-NEXT: simt.wait_copies 1
// CHECK-NEXT: simt.barrier
// CHECK: simt.copy {{.*}} if
// CHECK: simt.commit_copies
// CHECK-NOT: tile.load
// CHECK: %[[NOW:.*]] = simt.slot %[[RING]]
// CHECK-NEXT: %[[A:.*]] = simt.read %[[NOW]] : {{.*}} -> tensor<32x32xf16, #[[C:.*]]>
// CHECK-NOT: simt.convert
// CHECK: tile.dot %[[A]]
func.func @words(%p: tensor<32x32x!tile.ptr<f16>, #r>, %b: tensor<32x32xf16, #c>, %zero: tensor<32x32xf32, #c>, %distance: tensor<32x32xi32, #r>, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %sum:2 = scf.for %i = %c0 to %n step %c1 iter_args(%total = %zero, %at = %p) -> (tensor<32x32xf32, #c>, tensor<32x32x!tile.ptr<f16>, #r>) : i32 {
    %x = tile.load %at {simt.vector = array<i32: 1, 8>} : tensor<32x32x!tile.ptr<f16>, #r> -> tensor<32x32xf16, #r>
    %a = simt.convert %x : tensor<32x32xf16, #r> -> tensor<32x32xf16, #c>
    %next = tile.dot %a, %b, %total : tensor<32x32xf16, #c>, tensor<32x32xf16, #c> -> tensor<32x32xf32, #c>
    %then = tile.addptr %at, %distance : tensor<32x32x!tile.ptr<f16>, #r>, tensor<32x32xi32, #r>
    scf.yield %next, %then : tensor<32x32xf32, #c>, tensor<32x32x!tile.ptr<f16>, #r>
  }
  "test.keep"(%sum#0) : (tensor<32x32xf32, #c>) -> ()
  return
}

// Boxes complete on barriers, whose phase the loop carries. The async proxy writes them, when the threads' loads are over
// behind a fence.
// CHECK-LABEL: func.func @boxes
// CHECK: %[[RING:.*]] = simt.allocate : <32x32xf16, #{{.*}}, 3>
// CHECK: %[[FULL:.*]] = simt.allocate_barriers : !simt.barriers<3>
// CHECK: scf.for
// CHECK: simt.copy_box %{{.*}}, %{{.*}}, %[[FULL]][%{{.*}}] if
// CHECK-NOT: simt.commit_copies
// CHECK: scf.for
// CHECK-NEXT: simt.fence
// CHECK-NEXT: simt.barrier
// CHECK: simt.copy_box
// CHECK: simt.await %[[FULL]][%[[SLOT:.*]]] phase %{{.*}} : !simt.barriers<3>
// CHECK-NEXT: simt.slot %[[RING]][%[[SLOT]]]
// CHECK-NEXT: simt.read
func.func @boxes(%b: tensor<32x32xf16, #c>, %zero: tensor<32x32xf32, #c>, %n: i32,
                 %map: !simt.tensor_map<tensor<32x32xf16>> {simt.recipe = "type=f16 base=a0 shape=64,64 strides=64 box=32,32 swizzle=64"}) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %sum = scf.for %k = %c0 to %n step %c32 iter_args(%total = %zero) -> (tensor<32x32xf32, #c>) : i32 {
    %a = simt.load_box %map[%c0, %k] : !simt.tensor_map<tensor<32x32xf16>> -> tensor<32x32xf16, #c>
    %next = tile.dot %a, %b, %total : tensor<32x32xf16, #c>, tensor<32x32xf16, #c> -> tensor<32x32xf32, #c>
    scf.yield %next : tensor<32x32xf32, #c>
  }
  "test.keep"(%sum) : (tensor<32x32xf32, #c>) -> ()
  return
}

// Not ahead: what the loop may have written; what depends on what it loads; single bytes; loads that no dot needs.
// CHECK-LABEL: func.func @not_ahead
// CHECK-NOT: simt.copy
// CHECK-COUNT-4: tile.load
// CHECK-NOT: simt.copy
// CHECK: return
func.func @not_ahead(%p: tensor<32x32x!tile.ptr<f16>, #r>, %q: tensor<32x32x!tile.ptr<i8>, #r>, %places: !tile.ptr<i32>, %b: tensor<32x32xf16, #c>, %zero: tensor<32x32xf32, #c>, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = scf.for %i = %c0 to %n step %c1 iter_args(%total = %zero) -> (tensor<32x32xf32, #c>) : i32 {
    %x = tile.load %p {simt.vector = array<i32: 1, 8>} : tensor<32x32x!tile.ptr<f16>, #r> -> tensor<32x32xf16, #r>
    tile.store %p, %x : tensor<32x32x!tile.ptr<f16>, #r>, tensor<32x32xf16, #r>
    %a = simt.convert %x : tensor<32x32xf16, #r> -> tensor<32x32xf16, #c>
    %next = tile.dot %a, %b, %total : tensor<32x32xf16, #c>, tensor<32x32xf16, #c> -> tensor<32x32xf32, #c>
    scf.yield %next : tensor<32x32xf32, #c>
  }
  %two = scf.for %i = %c0 to %n step %c1 iter_args(%total = %one) -> (tensor<32x32xf32, #c>) : i32 {
    %place = tile.load %places : !tile.ptr<i32> -> i32
    %far = tile.splat %place : i32 -> tensor<32x32xi32, #r>
    %at = tile.addptr %p, %far : tensor<32x32x!tile.ptr<f16>, #r>, tensor<32x32xi32, #r>
    %x = tile.load %at {simt.vector = array<i32: 1, 8>} : tensor<32x32x!tile.ptr<f16>, #r> -> tensor<32x32xf16, #r>
    %a = simt.convert %x : tensor<32x32xf16, #r> -> tensor<32x32xf16, #c>
    %next = tile.dot %a, %b, %total : tensor<32x32xf16, #c>, tensor<32x32xf16, #c> -> tensor<32x32xf32, #c>
    scf.yield %next : tensor<32x32xf32, #c>
  }
  scf.for %i = %c0 to %n step %c1 : i32 {
    %x = tile.load %q : tensor<32x32x!tile.ptr<i8>, #r> -> tensor<32x32xi8, #r>
    "test.keep"(%x) : (tensor<32x32xi8, #r>) -> ()
  }
  "test.keep"(%two) : (tensor<32x32xf32, #c>) -> ()
  return
}

}
