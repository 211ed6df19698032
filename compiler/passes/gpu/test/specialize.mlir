// Loads of loops by warps of their own.
// RUN: nacre-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(specialize{async-dots=wgmma.m64n64k16.f16.f16})' | FileCheck %s
// RUN: nacre-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(specialize{async-dots=wgmma.m64n64k16.f16.f16 overlap-dots=false})' | FileCheck %s --check-prefix=LATE
// RUN: nacre-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(specialize{has-producers=false})' | FileCheck %s --check-prefix=NONE
// NONE-NOT: simt.producer
// NONE: simt.together = "the machine has no producers"

#sum = #simt.layout<"[64, 64] register b1 a8 b8 b16 b32 lane b2 b4 a1 a2 a4 warp a16 a32">
#r = #simt.layout<"[64, 64] register b1 b2 b4 a16 a32 lane b8 b16 b32 a1 a2 warp a4 a8">
#s = #simt.layout<"[64, 64] offset b1 b2 b4 b8 b16 b32 a1+b8 a2+b16 a4+b32 a8 a16 a32">

module attributes {simt.num_warps = 4 : i32, simt.lanes = 32 : i32, tile.num_stages = 3 : i32} {

// Boxes that are needed together share barriers. The producer computes coordinates; the warps release the slot of the
// iteration before, whose products they have waited for, and the last one behind the loop. The second loop, in a
// branch, has the same loads: the rings are the same.
// CHECK-LABEL: func.func @products
// CHECK: %[[A:.*]] = simt.allocate : <64x64xf16, #{{.*}}, 3>
// CHECK: %[[FULL:.*]] = simt.allocate_barriers : !simt.barriers<3>
// CHECK: %[[B:.*]] = simt.allocate : <64x64xf16, #{{.*}}, 3>
// CHECK-NEXT: %[[EMPTY:.*]] = simt.allocate_barriers released : !simt.barriers<3>
// CHECK-NOT: simt.allocate
// CHECK: simt.producer {
// CHECK: scf.for %{{.*}} iter_args(%[[AHEAD:.*]] =
// CHECK-NEXT: %[[ROW:.*]] = arith.muli
// CHECK-NEXT: simt.await %[[EMPTY]][%[[AHEAD]]] : !simt.barriers<3>
// CHECK-NEXT: %[[TO:.*]] = simt.slot %[[A]][%[[AHEAD]]]
// CHECK-NEXT: simt.copy_box %{{.*}}[%{{.*}}, %[[ROW]]], %[[TO]], %[[FULL]][%[[AHEAD]]] {expected = 16384 : i64}
// CHECK: simt.copy_box {{.*}}, %[[FULL]][%[[AHEAD]]] {expected = 0 : i64}
// CHECK: scf.if %{{[^ ]*}} {
// CHECK-NEXT: arith.constant
// CHECK-NEXT: scf.for
// CHECK: simt.await %[[EMPTY]]
// CHECK: simt.copy_box
// CHECK-NOT: simt.dot
// CHECK: scf.for {{.*}} iter_args(%[[TOTAL:.*]] = %{{.*}}, %[[SLOT:.*]] =
// CHECK: simt.await %[[FULL]][%[[SLOT]]] : !simt.barriers<3>
// CHECK-NEXT: simt.slot %[[A]][%[[SLOT]]]
// CHECK: %[[NEXT:.*]] = simt.dot "wgmma.m64n64k16.f16.f16" async %{{.*}}, %{{.*}}, %[[TOTAL]]
// CHECK-NEXT: simt.wait_dots 1, %[[NEXT]]
// CHECK-NEXT: %[[LATER:.*]] = arith.cmpi ne
// CHECK: simt.release %[[EMPTY]][%{{.*}}] if %[[LATER]] : !simt.barriers<3>
// CHECK-NOT: simt.barrier{{$}}
// CHECK: simt.wait_dots 0
// CHECK: simt.release %[[EMPTY]][%{{.*}}] if
// CHECK: scf.if
// CHECK: simt.await %[[FULL]]
// CHECK: return
func.func @products(%zero: tensor<64x64xf32, #sum>, %n: i32, %again: i1,
                    %am: !simt.tensor_map<tensor<64x64xf16>> {simt.recipe = "type=f16 base=a0 shape=64,64 strides=64 box=64,64 swizzle=128"},
                    %bm: !simt.tensor_map<tensor<64x64xf16>> {simt.recipe = "type=f16 base=a0 shape=64,64 strides=64 box=64,64 swizzle=128"}) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%total = %zero) -> (tensor<64x64xf32, #sum>) : i32 {
    %k = arith.muli %i, %c64 : i32
    %x = simt.load_box %am[%c0, %k] : !simt.tensor_map<tensor<64x64xf16>> -> tensor<64x64xf16, #r>
    %xs = simt.allocate : !simt.shared<64x64xf16, #s>
    simt.write %x, %xs : tensor<64x64xf16, #r>, !simt.shared<64x64xf16, #s>
    %y = simt.load_box %bm[%k, %c0] : !simt.tensor_map<tensor<64x64xf16>> -> tensor<64x64xf16, #r>
    %ys = simt.allocate : !simt.shared<64x64xf16, #s>
    simt.write %y, %ys : tensor<64x64xf16, #r>, !simt.shared<64x64xf16, #s>
    %next = simt.dot "wgmma.m64n64k16.f16.f16" %xs, %ys, %total : !simt.shared<64x64xf16, #s>, !simt.shared<64x64xf16, #s> -> tensor<64x64xf32, #sum>
    scf.yield %next : tensor<64x64xf32, #sum>
  } {tile.warp_specialize}
  scf.if %again {
    %more = scf.for %i = %c0 to %n step %c64 iter_args(%total = %sum) -> (tensor<64x64xf32, #sum>) : i32 {
      %x = simt.load_box %am[%c0, %i] : !simt.tensor_map<tensor<64x64xf16>> -> tensor<64x64xf16, #r>
      %xs = simt.allocate : !simt.shared<64x64xf16, #s>
      simt.write %x, %xs : tensor<64x64xf16, #r>, !simt.shared<64x64xf16, #s>
      %y = simt.load_box %bm[%i, %c0] : !simt.tensor_map<tensor<64x64xf16>> -> tensor<64x64xf16, #r>
      %ys = simt.allocate : !simt.shared<64x64xf16, #s>
      simt.write %y, %ys : tensor<64x64xf16, #r>, !simt.shared<64x64xf16, #s>
      %next = simt.dot "wgmma.m64n64k16.f16.f16" %xs, %ys, %total : !simt.shared<64x64xf16, #s>, !simt.shared<64x64xf16, #s> -> tensor<64x64xf32, #sum>
      scf.yield %next : tensor<64x64xf32, #sum>
    }
    "test.keep"(%more) : (tensor<64x64xf32, #sum>) -> ()
  }
  "test.keep"(%sum) : (tensor<64x64xf32, #sum>) -> ()
  return
}

// The second product is started in the next iteration, behind that one's first, and the rings are released apart: that
// of the first one's operand at once, that of the second's when the sums are needed.
// CHECK-LABEL: func.func @attention
// CHECK: %[[KFULL:.*]] = simt.allocate_barriers :
// CHECK: %[[VFULL:.*]] = simt.allocate_barriers :
// CHECK: %[[KEMPTY:.*]] = simt.allocate_barriers released
// CHECK: %[[VEMPTY:.*]] = simt.allocate_barriers released
// CHECK: simt.producer
// CHECK: simt.await %[[KEMPTY]]
// CHECK: simt.copy_box {{.*}}, %[[KFULL]]
// CHECK: simt.await %[[VEMPTY]]
// CHECK: simt.copy_box {{.*}}, %[[VFULL]]
// CHECK: scf.if
// CHECK: simt.await %[[KFULL]]
// CHECK: simt.dot "wgmma.m64n64k16.f16.f16" %
// CHECK-NEXT: simt.release %[[KEMPTY]]
// CHECK: scf.for {{.*}} iter_args(%[[SCALED:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %[[P:.*]] = %{{.*}}, %[[BEFORE:.*]] =
// CHECK: simt.await %[[KFULL]]
// CHECK: %[[S:.*]] = simt.dot "wgmma.m64n64k16.f16.f16" async
// CHECK-NEXT: simt.await %[[VFULL]][%[[BEFORE]]]
// CHECK: %[[O:.*]] = simt.dot "wgmma.m64n64k16.f16.f16" async %[[P]], %{{.*}}, %[[SCALED]]
// CHECK-NEXT: %[[READY:.*]] = simt.wait_dots 1, %[[S]]
// CHECK-NEXT: simt.release %[[KEMPTY]]
// CHECK: math.exp2 %[[READY]]
// CHECK: simt.await %[[VFULL]][%[[BEFORE]]] {simt.again}
// CHECK-NEXT: %[[DONE:.*]] = simt.wait_dots 0, %[[O]]
// CHECK-NEXT: simt.release %[[VEMPTY]][%[[BEFORE]]]
// CHECK-NEXT: arith.truncf
// CHECK-NEXT: arith.mulf %[[DONE]]
// CHECK: scf.yield
// CHECK: simt.await %[[VFULL]]
// CHECK: simt.dot "wgmma.m64n64k16.f16.f16" async
// CHECK: simt.wait_dots 0
// CHECK-NEXT: simt.release %[[VEMPTY]]
// CHECK: } else {
// LATE-LABEL: func.func @attention
// LATE: %[[KEMPTY:.*]] = simt.allocate_barriers released
// LATE: %[[VEMPTY:.*]] = simt.allocate_barriers released
// LATE: simt.producer
// LATE: scf.for {{.*}} iter_args(%[[TOTAL:.*]] = %{{.*}}, %[[SLOT:.*]] =
// LATE: %[[S:.*]] = simt.dot "wgmma.m64n64k16.f16.f16" async
// LATE: simt.wait_dots 0, %[[S]], %[[TOTAL]]
// LATE-DAG: simt.release %[[KEMPTY]][%[[SLOT]]] : !simt.barriers
// LATE-DAG: simt.release %[[VEMPTY]][%{{.*}}] if
// LATE: simt.dot "wgmma.m64n64k16.f16.f16" async
// LATE: simt.wait_dots 0
// LATE: simt.release %[[VEMPTY]][%{{.*}}] if
func.func @attention(%q: !simt.shared<64x64xf16, #s>, %factor: tensor<64x64xf32, #sum>, %zero: tensor<64x64xf32, #sum>, %n: i32,
                     %km: !simt.tensor_map<tensor<64x64xf16>> {simt.recipe = "type=f16 base=a0 shape=64,64 strides=64 box=64,64 swizzle=128"},
                     %vm: !simt.tensor_map<tensor<64x64xf16>> {simt.recipe = "type=f16 base=a0 shape=64,64 strides=64 box=64,64 swizzle=128"}) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %sum = scf.for %i = %c0 to %n step %c64 iter_args(%total = %zero) -> (tensor<64x64xf32, #sum>) : i32 {
    %x = simt.load_box %km[%i, %c0] : !simt.tensor_map<tensor<64x64xf16>> -> tensor<64x64xf16, #r>
    %xs = simt.allocate : !simt.shared<64x64xf16, #s>
    simt.write %x, %xs : tensor<64x64xf16, #r>, !simt.shared<64x64xf16, #s>
    %s = simt.dot "wgmma.m64n64k16.f16.f16" %q, %xs, %zero : !simt.shared<64x64xf16, #s>, !simt.shared<64x64xf16, #s> -> tensor<64x64xf32, #sum>
    %e = math.exp2 %s : tensor<64x64xf32, #sum>
    %y = simt.load_box %vm[%i, %c0] : !simt.tensor_map<tensor<64x64xf16>> -> tensor<64x64xf16, #r>
    %ys = simt.allocate : !simt.shared<64x64xf16, #s>
    simt.write %y, %ys : tensor<64x64xf16, #r>, !simt.shared<64x64xf16, #s>
    %scaled = arith.mulf %total, %factor : tensor<64x64xf32, #sum>
    %p = arith.truncf %e : tensor<64x64xf32, #sum> to tensor<64x64xf16, #sum>
    %next = simt.dot "wgmma.m64n64k16.f16.f16" %p, %ys, %scaled : tensor<64x64xf16, #sum>, !simt.shared<64x64xf16, #s> -> tensor<64x64xf32, #sum>
    scf.yield %next : tensor<64x64xf32, #sum>
  } {tile.warp_specialize}
  "test.keep"(%sum) : (tensor<64x64xf32, #sum>) -> ()
  return
}

// Memory that may have been written before: the producer would not know when.
// CHECK-LABEL: func.func @behind_a_store
// CHECK-NOT: simt.producer
// CHECK: simt.together = "memory may be written before the loop"
func.func @behind_a_store(%to: !tile.ptr<f16>, %one: f16, %zero: tensor<64x64xf32, #sum>, %n: i32,
                          %am: !simt.tensor_map<tensor<64x64xf16>> {simt.recipe = "type=f16 base=a0 shape=64,64 strides=64 box=64,64 swizzle=128"}) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  tile.store %to, %one : !tile.ptr<f16>, f16
  %sum = scf.for %i = %c0 to %n step %c64 iter_args(%total = %zero) -> (tensor<64x64xf32, #sum>) : i32 {
    %x = simt.load_box %am[%c0, %i] : !simt.tensor_map<tensor<64x64xf16>> -> tensor<64x64xf16, #r>
    %xs = simt.allocate : !simt.shared<64x64xf16, #s>
    simt.write %x, %xs : tensor<64x64xf16, #r>, !simt.shared<64x64xf16, #s>
    %next = simt.dot "wgmma.m64n64k16.f16.f16" %xs, %xs, %total : !simt.shared<64x64xf16, #s>, !simt.shared<64x64xf16, #s> -> tensor<64x64xf32, #sum>
    scf.yield %next : tensor<64x64xf32, #sum>
  } {tile.warp_specialize}
  "test.keep"(%sum) : (tensor<64x64xf32, #sum>) -> ()
  return
}

// Where the loop begins is made of what the warps load.
// CHECK-LABEL: func.func @from_memory
// CHECK-NOT: simt.producer
// CHECK: simt.together = "bounds or coordinates are made of what the warps compute"
func.func @from_memory(%from: !tile.ptr<i32>, %zero: tensor<64x64xf32, #sum>, %n: i32,
                       %am: !simt.tensor_map<tensor<64x64xf16>> {simt.recipe = "type=f16 base=a0 shape=64,64 strides=64 box=64,64 swizzle=128"}) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %begin = tile.load %from : !tile.ptr<i32> -> i32
  %sum = scf.for %i = %begin to %n step %c64 iter_args(%total = %zero) -> (tensor<64x64xf32, #sum>) : i32 {
    %x = simt.load_box %am[%c0, %i] : !simt.tensor_map<tensor<64x64xf16>> -> tensor<64x64xf16, #r>
    %xs = simt.allocate : !simt.shared<64x64xf16, #s>
    simt.write %x, %xs : tensor<64x64xf16, #r>, !simt.shared<64x64xf16, #s>
    %next = simt.dot "wgmma.m64n64k16.f16.f16" %xs, %xs, %total : !simt.shared<64x64xf16, #s>, !simt.shared<64x64xf16, #s> -> tensor<64x64xf32, #sum>
    scf.yield %next : tensor<64x64xf32, #sum>
  } {tile.warp_specialize}
  "test.keep"(%sum) : (tensor<64x64xf32, #sum>) -> ()
  return
}

}
