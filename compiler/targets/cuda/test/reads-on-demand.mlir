// A tile in shared memory that only a product reads is read as the product goes along k: the first instructions stand before
// the last loads. A barrier between the two, after which memory may change, has all of it read before.
// RUN: nacre-opt %s --pass-pipeline='builtin.module(cuda-software-pipeline{architecture=80},func.func(stage-boxes),place-shared,func.func(place-barriers),cuda-lower-to-llvm{architecture=80})' | FileCheck %s

#s = #simt.layout<"[64, 64] offset b1 b2 b4 b8 b16 b32 a1+b8 a2+b16 a4+b32 a8 a16 a32">
#a = #simt.layout<"[64, 64] register b1 a8 b8 b16 b32 lane b2 b4 a1 a2 a4 warp a16 a32">
#b = #simt.layout<"[64, 64] register a1 a8 b8 b16 b32 a16 a32 lane a2 a4 b1 b2 b4 warp 0 0">

module attributes {simt.num_warps = 4 : i32, simt.lanes = 32 : i32} {
// CHECK-LABEL: llvm.func ptx_kernelcc @dot
// CHECK: ldmatrix
// CHECK: mma.sync
// CHECK: ldmatrix
// CHECK: mma.sync
// CHECK-NOT: llvm.return
// CHECK: nvvm.barrier
// CHECK-NOT: ldmatrix
// CHECK-COUNT-32: mma.sync
func.func @dot(%p: !tile.ptr<f16>, %i: i32) attributes {tile.kernel} {
  %ring = simt.allocate : !simt.shared<64x64xf16, #s, 2>
  %x = simt.slot %ring[%i] : !simt.shared<64x64xf16, #s, 2> -> !simt.shared<64x64xf16, #s>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #a>
  %left = simt.read %x : !simt.shared<64x64xf16, #s> -> tensor<64x64xf16, #a>
  %right = simt.read %x : !simt.shared<64x64xf16, #s> -> tensor<64x64xf16, #b>
  %first = simt.dot "mma.m16n8k16.f16.f16" %left, %right, %zero : tensor<64x64xf16, #a>, tensor<64x64xf16, #b> -> tensor<64x64xf32, #a>
  %again = simt.read %x : !simt.shared<64x64xf16, #s> -> tensor<64x64xf16, #a>
  %other = simt.read %x : !simt.shared<64x64xf16, #s> -> tensor<64x64xf16, #b>
  simt.barrier
  %second = simt.dot "mma.m16n8k16.f16.f16" %again, %other, %first : tensor<64x64xf16, #a>, tensor<64x64xf16, #b> -> tensor<64x64xf32, #a>
  return
}
}
