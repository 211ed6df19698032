// RUN: nacre-opt %s --split-input-file --pass-pipeline='builtin.module(place-shared,func.func(place-barriers))' | FileCheck %s

#rows = #gpu.layout<"[64, 64] register b1 b2 b4 a16 a32 lane b8 b16 b32 a1 a2 warp a4 a8">
#s = #gpu.layout<"[64, 64] offset b1 b2 b4 b8 b16 b32 a1+b8 a2+b16 a4+b32 a8 a16 a32">
#c = #gpu.layout<"[64, 64] register b1 a8 b8 b16 b32 lane b2 b4 a1 a2 a4 warp a16 a32">

module attributes {gpu.num_warps = 4 : i32, gpu.lanes = 32 : i32} {

// Tiles in use at one time lie beside each other, later ones where the first lay. What is written is fenced for the dot, which
// reads past the threads; the next iteration's write waits until all have read.
// CHECK: module attributes {{.*}}gpu.shared = 16384
// CHECK-LABEL: func.func @loop
// CHECK: scf.for
// CHECK: %[[A:.*]] = gpu.allocate {gpu.offset = [[FIRST:.*]] : i64}
// CHECK: gpu.barrier
// CHECK-NEXT: gpu.write %{{.*}}, %[[A]]
// CHECK: %[[B:.*]] = gpu.allocate {gpu.offset = [[SECOND:.*]] : i64}
// CHECK-NEXT: gpu.write %{{.*}}, %[[B]]
// CHECK-NEXT: gpu.fence
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: gpu.dot
// CHECK: }
// CHECK: %[[C:.*]] = gpu.allocate
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: gpu.write %{{.*}}, %[[C]]
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: gpu.read %[[C]]
// CHECK-NEXT: gpu.read %[[C]]
func.func @loop(%x: tensor<64x64xf16, #rows>, %n: i32, %zero: tensor<64x64xf32, #c>) attributes {tile.kernel} {
  %first = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %sum = scf.for %i = %first to %n step %one iter_args(%acc = %zero) -> (tensor<64x64xf32, #c>) : i32 {
    %a = gpu.allocate : !gpu.shared<64x64xf16, #s>
    gpu.write %x, %a : tensor<64x64xf16, #rows>, !gpu.shared<64x64xf16, #s>
    %b = gpu.allocate : !gpu.shared<64x64xf16, #s>
    gpu.write %x, %b : tensor<64x64xf16, #rows>, !gpu.shared<64x64xf16, #s>
    %d = gpu.dot "any" %a, %b, %acc : !gpu.shared<64x64xf16, #s>, !gpu.shared<64x64xf16, #s> -> tensor<64x64xf32, #c>
    scf.yield %d : tensor<64x64xf32, #c>
  }
  %c = gpu.allocate : !gpu.shared<64x64xf16, #s>
  gpu.write %x, %c : tensor<64x64xf16, #rows>, !gpu.shared<64x64xf16, #s>
  %y = gpu.read %c : !gpu.shared<64x64xf16, #s> -> tensor<64x64xf16, #rows>
  %z = gpu.read %c : !gpu.shared<64x64xf16, #s> -> tensor<64x64xf16, #rows>
  return
}

}

// -----

#rows = #gpu.layout<"[64, 64] register b1 b2 b4 a16 a32 lane b8 b16 b32 a1 a2 warp a4 a8">
#columns = #gpu.layout<"[64, 64] register a1 a2 a4 b16 b32 lane a8 a16 a32 b1 b2 warp b4 b8">
#s = #gpu.layout<"[64, 64] offset b1 b2 b4 b8 b16 b32 a1+b8 a2+b16 a4+b32 a8 a16 a32">
#c = #gpu.layout<"[64, 64] register b1 a8 b8 b16 b32 lane b2 b4 a1 a2 a4 warp a16 a32">

module attributes {gpu.num_warps = 4 : i32, gpu.lanes = 32 : i32} {

// A dot under way keeps its operands until it is waited for: the scratch of a conversion lies behind them, after the wait it
// may lie on them, once the threads have met. A meeting between the write and the dot, without a fence, is not enough for the dot.
// CHECK: module attributes {{.*}}gpu.shared = 16384
// CHECK-LABEL: func.func @under_way
// CHECK: gpu.allocate {gpu.offset = 0 : i64}
// CHECK-NEXT: gpu.write
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: gpu.read
// CHECK: gpu.fence
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: gpu.dot {{.*}} async
// CHECK: gpu.convert {{.*}}gpu.offset = 8192
// CHECK: gpu.wait_dots
// CHECK: gpu.convert {{.*}}{gpu.offset = 0 : i64, gpu.scratch
func.func @under_way(%x: tensor<64x64xf16, #rows>, %zero: tensor<64x64xf32, #c>) attributes {tile.kernel} {
  %a = gpu.allocate : !gpu.shared<64x64xf16, #s>
  gpu.write %x, %a : tensor<64x64xf16, #rows>, !gpu.shared<64x64xf16, #s>
  %r = gpu.read %a : !gpu.shared<64x64xf16, #s> -> tensor<64x64xf16, #rows>
  %d = gpu.dot "any" async %a, %a, %zero : !gpu.shared<64x64xf16, #s>, !gpu.shared<64x64xf16, #s> -> tensor<64x64xf32, #c>
  %y = gpu.convert %x : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
  %e = gpu.wait_dots 0, %d : tensor<64x64xf32, #c>
  %z = gpu.convert %x : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
  return
}

}
