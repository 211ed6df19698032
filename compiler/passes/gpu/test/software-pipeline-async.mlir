// Dots that the machine does while the threads go on.
// RUN: nacre-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(func.func(software-pipeline{async-dots=wgmma.m64n64k16.f16.f16,wgmma.m64n64k8.tf32.tf32}))' | FileCheck %s
// RUN: nacre-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(func.func(software-pipeline))' | FileCheck %s --check-prefix=NONE
// NONE-NOT: simt.wait_dots
// NONE-NOT: async

#sum = #simt.layout<"[128, 64] register b1 a8 b8 b16 b32 a64 lane b2 b4 a1 a2 a4 warp a16 a32">
#a = #simt.layout<"[128, 64] register b1 b2 b4 a16 a32 a64 lane b8 b16 b32 a1 a2 warp a4 a8">
#as = #simt.layout<"[128, 64] offset b1 b2 b4 b8 b16 b32 a1+b8 a2+b16 a4+b32 a8 a16 a32 a64">
#b = #simt.layout<"[64, 64] register b1 b2 b4 a16 a32 lane b8 b16 b32 a1 a2 warp a4 a8">
#bs = #simt.layout<"[64, 64] offset b1 b2 b4 b8 b16 b32 a1+b8 a2+b16 a4+b32 a8 a16 a32">

module attributes {simt.num_warps = 4 : i32, simt.lanes = 32 : i32, tile.num_stages = 3 : i32} {

// A sum that nothing in the loop looks at is waited for an iteration later, and its operands' slot is filled then.
// CHECK-LABEL: func.func @sum
// CHECK: scf.for
// CHECK: scf.for {{.*}} iter_args(%[[TOTAL:[^ ]*]] =
// CHECK-NEXT: simt.wait_copies 1
// CHECK: simt.barrier
// CHECK: %[[NEXT:.*]] = simt.dot "wgmma.m64n64k16.f16.f16" async %{{.*}}, %{{.*}}, %[[TOTAL]]
// CHECK-NEXT: %[[DONE:.*]] = simt.wait_dots 1, %[[NEXT]]
// CHECK-NEXT: simt.barrier
// CHECK: simt.copy
// CHECK: simt.copy
// CHECK-NEXT: simt.commit_copies
// CHECK: scf.yield %[[DONE]]
// CHECK: simt.wait_dots 0
// CHECK-NEXT: "test.keep"
func.func @sum(%p: tensor<128x64x!tile.ptr<f16>, #a>, %q: tensor<64x64x!tile.ptr<f16>, #b>, %zero: tensor<128x64xf32, #sum>, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %sum = scf.for %i = %c0 to %n step %c64 iter_args(%total = %zero) -> (tensor<128x64xf32, #sum>) : i32 {
    %along = tile.splat %i : i32 -> tensor<128x64xi32, #a>
    %down = tile.splat %i : i32 -> tensor<64x64xi32, #b>
    %pi = tile.addptr %p, %along : tensor<128x64x!tile.ptr<f16>, #a>, tensor<128x64xi32, #a>
    %qi = tile.addptr %q, %down : tensor<64x64x!tile.ptr<f16>, #b>, tensor<64x64xi32, #b>
    %x = tile.load %pi {simt.vector = array<i32: 1, 8>} : tensor<128x64x!tile.ptr<f16>, #a> -> tensor<128x64xf16, #a>
    %y = tile.load %qi {simt.vector = array<i32: 1, 8>} : tensor<64x64x!tile.ptr<f16>, #b> -> tensor<64x64xf16, #b>
    %xs = simt.allocate : !simt.shared<128x64xf16, #as>
    %ys = simt.allocate : !simt.shared<64x64xf16, #bs>
    simt.write %x, %xs : tensor<128x64xf16, #a>, !simt.shared<128x64xf16, #as>
    simt.write %y, %ys : tensor<64x64xf16, #b>, !simt.shared<64x64xf16, #bs>
    %next = simt.dot "wgmma.m64n64k16.f16.f16" %xs, %ys, %total : !simt.shared<128x64xf16, #as>, !simt.shared<64x64xf16, #bs> -> tensor<128x64xf32, #sum>
    scf.yield %next : tensor<128x64xf32, #sum>
  }
  "test.keep"(%sum) : (tensor<128x64xf32, #sum>) -> ()
  return
}

// The loop looks at the sum: it is waited for at once, by the dot itself.
// CHECK-LABEL: func.func @looked_at
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: async
// CHECK: simt.dot "wgmma.m64n64k16.f16.f16" %
// CHECK-NOT: simt.wait_dots
// CHECK: return
func.func @looked_at(%xs: !simt.shared<128x64xf16, #as>, %q: tensor<64x64x!tile.ptr<f16>, #b>, %zero: tensor<128x64xf32, #sum>, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %sum = scf.for %i = %c0 to %n step %c64 iter_args(%total = %zero) -> (tensor<128x64xf32, #sum>) : i32 {
    %down = tile.splat %i : i32 -> tensor<64x64xi32, #b>
    %qi = tile.addptr %q, %down : tensor<64x64x!tile.ptr<f16>, #b>, tensor<64x64xi32, #b>
    %y = tile.load %qi {simt.vector = array<i32: 1, 8>} : tensor<64x64x!tile.ptr<f16>, #b> -> tensor<64x64xf16, #b>
    %ys = simt.allocate : !simt.shared<64x64xf16, #bs>
    simt.write %y, %ys : tensor<64x64xf16, #b>, !simt.shared<64x64xf16, #bs>
    %product = simt.dot "wgmma.m64n64k16.f16.f16" %xs, %ys, %total : !simt.shared<128x64xf16, #as>, !simt.shared<64x64xf16, #bs> -> tensor<128x64xf32, #sum>
    %next = math.exp2 %product : tensor<128x64xf32, #sum>
    scf.yield %next : tensor<128x64xf32, #sum>
  }
  "test.keep"(%sum) : (tensor<128x64xf32, #sum>) -> ()
  return
}

// An operand in registers that lies in a slot is read in two parts, each with a group of instructions of its own: two groups are
// in flight when the iteration ends.
// CHECK-LABEL: func.func @in_parts
// CHECK: scf.for
// CHECK: scf.for
// CHECK: %[[A:.*]] = simt.read
// CHECK-NEXT: %[[NEXT:.*]] = simt.dot {{.*}} async %[[A]]
// CHECK-NEXT: simt.wait_dots 2, %[[NEXT]]
// CHECK: scf.yield
func.func @in_parts(%p: tensor<128x64x!tile.ptr<f16>, #a>, %q: tensor<64x64x!tile.ptr<f16>, #b>, %zero: tensor<128x64xf32, #sum>, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %sum = scf.for %i = %c0 to %n step %c64 iter_args(%total = %zero) -> (tensor<128x64xf32, #sum>) : i32 {
    %along = tile.splat %i : i32 -> tensor<128x64xi32, #a>
    %down = tile.splat %i : i32 -> tensor<64x64xi32, #b>
    %pi = tile.addptr %p, %along : tensor<128x64x!tile.ptr<f16>, #a>, tensor<128x64xi32, #a>
    %qi = tile.addptr %q, %down : tensor<64x64x!tile.ptr<f16>, #b>, tensor<64x64xi32, #b>
    %x = tile.load %pi {simt.vector = array<i32: 1, 8>} : tensor<128x64x!tile.ptr<f16>, #a> -> tensor<128x64xf16, #a>
    %y = tile.load %qi {simt.vector = array<i32: 1, 8>} : tensor<64x64x!tile.ptr<f16>, #b> -> tensor<64x64xf16, #b>
    %xr = simt.convert %x : tensor<128x64xf16, #a> -> tensor<128x64xf16, #sum>
    %ys = simt.allocate : !simt.shared<64x64xf16, #bs>
    simt.write %y, %ys : tensor<64x64xf16, #b>, !simt.shared<64x64xf16, #bs>
    %next = simt.dot "wgmma.m64n64k16.f16.f16" %xr, %ys, %total : tensor<128x64xf16, #sum>, !simt.shared<64x64xf16, #bs> -> tensor<128x64xf32, #sum>
    scf.yield %next : tensor<128x64xf32, #sum>
  }
  "test.keep"(%sum) : (tensor<128x64xf32, #sum>) -> ()
  return
}

// One of whole words that is made from what lies in a slot is made an iteration before, while the dot before is in flight.
// CHECK-LABEL: func.func @ahead
// CHECK: scf.for
// CHECK: math.exp2
// CHECK: scf.for {{.*}} iter_args(
// CHECK: simt.dot {{.*}} async
// CHECK: simt.read
// CHECK: math.exp2
// CHECK: simt.wait_dots 0
// CHECK: scf.yield
func.func @ahead(%p: tensor<128x64x!tile.ptr<f32>, #a>, %q: tensor<64x64x!tile.ptr<f32>, #b>, %zero: tensor<128x64xf32, #sum>, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %sum = scf.for %i = %c0 to %n step %c64 iter_args(%total = %zero) -> (tensor<128x64xf32, #sum>) : i32 {
    %along = tile.splat %i : i32 -> tensor<128x64xi32, #a>
    %down = tile.splat %i : i32 -> tensor<64x64xi32, #b>
    %pi = tile.addptr %p, %along : tensor<128x64x!tile.ptr<f32>, #a>, tensor<128x64xi32, #a>
    %qi = tile.addptr %q, %down : tensor<64x64x!tile.ptr<f32>, #b>, tensor<64x64xi32, #b>
    %x = tile.load %pi {simt.vector = array<i32: 1, 4>} : tensor<128x64x!tile.ptr<f32>, #a> -> tensor<128x64xf32, #a>
    %y = tile.load %qi {simt.vector = array<i32: 1, 4>} : tensor<64x64x!tile.ptr<f32>, #b> -> tensor<64x64xf32, #b>
    %xr = simt.convert %x : tensor<128x64xf32, #a> -> tensor<128x64xf32, #sum>
    %xe = math.exp2 %xr : tensor<128x64xf32, #sum>
    %ys = simt.allocate : !simt.shared<64x64xf32, #bs>
    simt.write %y, %ys : tensor<64x64xf32, #b>, !simt.shared<64x64xf32, #bs>
    %next = simt.dot "wgmma.m64n64k8.tf32.tf32" %xe, %ys, %total : tensor<128x64xf32, #sum>, !simt.shared<64x64xf32, #bs> -> tensor<128x64xf32, #sum>
    scf.yield %next : tensor<128x64xf32, #sum>
  }
  "test.keep"(%sum) : (tensor<128x64xf32, #sum>) -> ()
  return
}

// A product that ends an iteration and takes what is made of another runs on into the next one, beside that one's first.
// CHECK-LABEL: func.func @late
// CHECK: scf.for
// CHECK: scf.for {{.*}} iter_args(%[[TOTAL:[^ ]*]] =
// CHECK: %[[S:.*]] = simt.dot "wgmma.m64n64k16.f16.f16" async
// CHECK-NEXT: %[[BOTH:.*]]:2 = simt.wait_dots 0, %[[S]], %[[TOTAL]]
// CHECK: math.exp2 %[[BOTH]]#0
// CHECK: arith.mulf %[[BOTH]]#1
// CHECK: simt.barrier
// CHECK: %[[O:.*]] = simt.dot "wgmma.m64n64k16.f16.f16" async
// CHECK: scf.yield %[[O]]
// CHECK: simt.wait_dots 0
func.func @late(%q: !simt.shared<128x64xf16, #as>, %k: tensor<64x64x!tile.ptr<f16>, #b>, %v: tensor<64x64x!tile.ptr<f16>, #b>, %factor: tensor<128x64xf32, #sum>, %zero: tensor<128x64xf32, #sum>, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %sum = scf.for %i = %c0 to %n step %c64 iter_args(%total = %zero) -> (tensor<128x64xf32, #sum>) : i32 {
    %down = tile.splat %i : i32 -> tensor<64x64xi32, #b>
    %ki = tile.addptr %k, %down : tensor<64x64x!tile.ptr<f16>, #b>, tensor<64x64xi32, #b>
    %vi = tile.addptr %v, %down : tensor<64x64x!tile.ptr<f16>, #b>, tensor<64x64xi32, #b>
    %x = tile.load %ki {simt.vector = array<i32: 1, 8>} : tensor<64x64x!tile.ptr<f16>, #b> -> tensor<64x64xf16, #b>
    %xs = simt.allocate : !simt.shared<64x64xf16, #bs>
    simt.write %x, %xs : tensor<64x64xf16, #b>, !simt.shared<64x64xf16, #bs>
    %s = simt.dot "wgmma.m64n64k16.f16.f16" %q, %xs, %zero : !simt.shared<128x64xf16, #as>, !simt.shared<64x64xf16, #bs> -> tensor<128x64xf32, #sum>
    %e = math.exp2 %s : tensor<128x64xf32, #sum>
    %y = tile.load %vi {simt.vector = array<i32: 1, 8>} : tensor<64x64x!tile.ptr<f16>, #b> -> tensor<64x64xf16, #b>
    %ys = simt.allocate : !simt.shared<64x64xf16, #bs>
    simt.write %y, %ys : tensor<64x64xf16, #b>, !simt.shared<64x64xf16, #bs>
    %scaled = arith.mulf %total, %factor : tensor<128x64xf32, #sum>
    %p = arith.truncf %e : tensor<128x64xf32, #sum> to tensor<128x64xf16, #sum>
    %next = simt.dot "wgmma.m64n64k16.f16.f16" %p, %ys, %scaled : tensor<128x64xf16, #sum>, !simt.shared<64x64xf16, #bs> -> tensor<128x64xf32, #sum>
    scf.yield %next : tensor<128x64xf32, #sum>
  }
  "test.keep"(%sum) : (tensor<128x64xf32, #sum>) -> ()
  return
}

}
