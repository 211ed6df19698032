// Tiles in shared memory become loads and stores of 16 bytes, or of whole matrices where registers are as matrix
// instructions have them.
// RUN: nacre-opt %s --pass-pipeline='builtin.module(cuda-software-pipeline,func.func(stage-boxes),place-shared,func.func(place-barriers),cuda-lower-to-llvm)' | FileCheck %s

#rows = #simt.layout<"[64, 64] register b1 b2 b4 a16 a32 lane b8 b16 b32 a1 a2 warp a4 a8">
#s = #simt.layout<"[64, 64] offset b1 b2 b4 b8 b16 b32 a1+b8 a2+b16 a4+b32 a8 a16 a32">
#t = #simt.layout<"[64, 64] offset a1 a2 a4 a8 a16 a32 b1+a8 b2+a16 b4+a32 b8 b16 b32">
#a = #simt.layout<"[64, 64] register b1 a8 b8 b16 b32 lane b2 b4 a1 a2 a4 warp a16 a32">

module attributes {simt.num_warps = 4 : i32, simt.lanes = 32 : i32} {
// CHECK: llvm.mlir.global external @shared_memory() {addr_space = 3 : i32, alignment = 1024
// CHECK-LABEL: llvm.func ptx_kernelcc @tiles
// CHECK-COUNT-4: llvm.store {{.*}} : vector<4xi32>, !llvm.ptr<3>
// CHECK: nvvm.barrier
// CHECK-COUNT-4: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK-COUNT-4: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// CHECK: fence.proxy.async.shared::cta
// CHECK: nvvm.barrier
// CHECK-COUNT-4: stmatrix.sync.aligned.m8n8.x4.shared.b16
func.func @tiles(%p: !tile.ptr<f16>, %i: i32) attributes {tile.kernel} {
  %ring = simt.allocate : !simt.shared<64x64xf16, #s, 2>
  %one = simt.slot %ring[%i] : !simt.shared<64x64xf16, #s, 2> -> !simt.shared<64x64xf16, #s>
  %x = arith.constant dense<1.0> : tensor<64x64xf16, #rows>
  simt.write %x, %one : tensor<64x64xf16, #rows>, !simt.shared<64x64xf16, #s>
  simt.barrier
  %y = simt.read %one : !simt.shared<64x64xf16, #s> -> tensor<64x64xf16, #a>
  %turned = simt.permute %one [1, 0] : !simt.shared<64x64xf16, #s> -> !simt.shared<64x64xf16, #t>
  %z = simt.read %turned : !simt.shared<64x64xf16, #t> -> tensor<64x64xf16, #a>
  %sum = arith.addf %y, %z : tensor<64x64xf16, #a>
  simt.fence
  simt.barrier
  simt.write %sum, %one : tensor<64x64xf16, #a>, !simt.shared<64x64xf16, #s>
  return
}
}
