// RUN: nacre-opt %s --split-input-file --pass-pipeline='builtin.module(place-shared,func.func(place-barriers))' | FileCheck %s

#rows = #simt.layout<"[64, 64] register b1 b2 b4 a16 a32 lane b8 b16 b32 a1 a2 warp a4 a8">
#s = #simt.layout<"[64, 64] offset b1 b2 b4 b8 b16 b32 a1+b8 a2+b16 a4+b32 a8 a16 a32">
#c = #simt.layout<"[64, 64] register b1 a8 b8 b16 b32 lane b2 b4 a1 a2 a4 warp a16 a32">

module attributes {simt.num_warps = 4 : i32, simt.lanes = 32 : i32} {

// Tiles in use at one time lie beside each other, later ones where the first lay. What is written is fenced for the dot, which
// reads past the threads; the next iteration's write waits until all have read.
// CHECK: module attributes {{.*}}simt.shared = 16384
// CHECK-LABEL: func.func @loop
// CHECK: scf.for
// CHECK: %[[A:.*]] = simt.allocate {simt.offset = [[FIRST:.*]] : i64}
// CHECK: simt.barrier
// CHECK-NEXT: simt.write %{{.*}}, %[[A]]
// CHECK: %[[B:.*]] = simt.allocate {simt.offset = [[SECOND:.*]] : i64}
// CHECK-NEXT: simt.write %{{.*}}, %[[B]]
// CHECK-NEXT: simt.fence
// CHECK-NEXT: simt.barrier
// CHECK-NEXT: simt.dot
// CHECK: }
// CHECK: %[[C:.*]] = simt.allocate
// CHECK-NEXT: simt.barrier
// CHECK-NEXT: simt.write %{{.*}}, %[[C]]
// CHECK-NEXT: simt.barrier
// CHECK-NEXT: simt.read %[[C]]
// CHECK-NEXT: simt.read %[[C]]
func.func @loop(%x: tensor<64x64xf16, #rows>, %n: i32, %zero: tensor<64x64xf32, #c>) attributes {tile.kernel} {
  %first = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %sum = scf.for %i = %first to %n step %one iter_args(%acc = %zero) -> (tensor<64x64xf32, #c>) : i32 {
    %a = simt.allocate : !simt.shared<64x64xf16, #s>
    simt.write %x, %a : tensor<64x64xf16, #rows>, !simt.shared<64x64xf16, #s>
    %b = simt.allocate : !simt.shared<64x64xf16, #s>
    simt.write %x, %b : tensor<64x64xf16, #rows>, !simt.shared<64x64xf16, #s>
    %d = simt.dot "any" %a, %b, %acc : !simt.shared<64x64xf16, #s>, !simt.shared<64x64xf16, #s> -> tensor<64x64xf32, #c>
    scf.yield %d : tensor<64x64xf32, #c>
  }
  %c = simt.allocate : !simt.shared<64x64xf16, #s>
  simt.write %x, %c : tensor<64x64xf16, #rows>, !simt.shared<64x64xf16, #s>
  %y = simt.read %c : !simt.shared<64x64xf16, #s> -> tensor<64x64xf16, #rows>
  %z = simt.read %c : !simt.shared<64x64xf16, #s> -> tensor<64x64xf16, #rows>
  return
}

}

// -----

#rows = #simt.layout<"[64, 64] register b1 b2 b4 a16 a32 lane b8 b16 b32 a1 a2 warp a4 a8">
#columns = #simt.layout<"[64, 64] register a1 a2 a4 b16 b32 lane a8 a16 a32 b1 b2 warp b4 b8">
#s = #simt.layout<"[64, 64] offset b1 b2 b4 b8 b16 b32 a1+b8 a2+b16 a4+b32 a8 a16 a32">
#c = #simt.layout<"[64, 64] register b1 a8 b8 b16 b32 lane b2 b4 a1 a2 a4 warp a16 a32">

module attributes {simt.num_warps = 4 : i32, simt.lanes = 32 : i32} {

// A dot under way keeps its operands until it is waited for: the scratch of a conversion lies behind them, after the wait it
// may lie on them, once the threads have met. A meeting between the write and the dot, without a fence, is not enough for the dot.
// CHECK: module attributes {{.*}}simt.shared = 16384
// CHECK-LABEL: func.func @under_way
// CHECK: simt.allocate {simt.offset = 0 : i64}
// CHECK-NEXT: simt.write
// CHECK-NEXT: simt.barrier
// CHECK-NEXT: simt.read
// CHECK: simt.fence
// CHECK-NEXT: simt.barrier
// CHECK-NEXT: simt.dot {{.*}} async
// CHECK: simt.convert {{.*}}simt.offset = 8192
// CHECK: simt.wait_dots
// CHECK: simt.convert {{.*}}{simt.offset = 0 : i64, simt.scratch
func.func @under_way(%x: tensor<64x64xf16, #rows>, %zero: tensor<64x64xf32, #c>) attributes {tile.kernel} {
  %a = simt.allocate : !simt.shared<64x64xf16, #s>
  simt.write %x, %a : tensor<64x64xf16, #rows>, !simt.shared<64x64xf16, #s>
  %r = simt.read %a : !simt.shared<64x64xf16, #s> -> tensor<64x64xf16, #rows>
  %d = simt.dot "any" async %a, %a, %zero : !simt.shared<64x64xf16, #s>, !simt.shared<64x64xf16, #s> -> tensor<64x64xf32, #c>
  %y = simt.convert %x : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
  %e = simt.wait_dots 0, %d : tensor<64x64xf32, #c>
  %z = simt.convert %x : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
  return
}

}
