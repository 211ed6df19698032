// What a block of a cluster does with its part of a tile is its own business. What moves elements between blocks goes
// through the memory of the first one, between barriers of the cluster.
// RUN: nacre-opt %s --pass-pipeline='builtin.module(place-shared,func.func(place-barriers),cuda-lower-to-llvm{architecture=90})' | FileCheck %s

#rows = #simt.layout<"[8, 64] register a2 lane b1 b2 b4 b8 b16 warp b32 a1 block a4">
#turned = #simt.layout<"[8, 64] register a2 lane b32 b16 b1 b2 b4 warp b8 a1 block a4">
#columns = #simt.layout<"[8, 64] register a2 lane b1 b2 b4 b8 b16 warp a4 a1 block b32">
#sums = #simt.layout<"[8] register a2 lane 0 0 0 0 0 warp 0 a1 block a4">
#all = #simt.layout<"[64] lane a1 a2 a4 a8 a16 warp a32 0 block 0">

module attributes {simt.num_warps = 4 : i32, simt.lanes = 32 : i32, simt.num_ctas = 2 : i32} {
// The number of a program is that of its cluster.
// CHECK-LABEL: llvm.func ptx_kernelcc @own
// CHECK-SAME: ["nvvm.cluster_dim", "2,1,1"]
// CHECK: ctaid.x
// CHECK: llvm.lshr
// CHECK-NOT: cluster.arrive
// CHECK-NOT: mapa
// CHECK: llvm.return
func.func @own(%p: !tile.ptr<f32>) attributes {tile.kernel} {
  %id = tile.program_id 0
  %number = arith.sitofp %id : i32 to f32
  %x = tile.splat %number : f32 -> tensor<8x64xf32, #rows>
  %y = simt.convert %x : tensor<8x64xf32, #rows> -> tensor<8x64xf32, #turned>
  %z = simt.convert %y : tensor<8x64xf32, #turned> -> tensor<8x64xf32, #rows>
  %sums = tile.reduce %z axis 1 {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  } : (tensor<8x64xf32, #rows>) -> tensor<8xf32, #sums>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<8x!tile.ptr<f32>, #sums>
  tile.store %ps, %sums : tensor<8x!tile.ptr<f32>, #sums>, tensor<8xf32, #sums>
  return
}

// CHECK-LABEL: llvm.func ptx_kernelcc @across
// CHECK: barrier.cluster.arrive
// CHECK: barrier.cluster.wait
// CHECK: llvm.store {{.*}} : {{.*}}, !llvm.ptr<7>
// CHECK: barrier.cluster.arrive
// CHECK: barrier.cluster.wait
// CHECK: llvm.load {{.*}} : !llvm.ptr<7>
// CHECK: barrier.cluster.arrive
// CHECK-NEXT: barrier.cluster.wait
// CHECK-NOT: barrier
// CHECK: llvm.store {{.*}} : i32, !llvm.ptr<7>
// CHECK: barrier.cluster.arrive
// CHECK-NEXT: barrier.cluster.wait
// CHECK: llvm.load {{.*}} : !llvm.ptr<7>
// CHECK: barrier.cluster.arrive
// CHECK-NEXT: barrier.cluster.wait
// CHECK: llvm.return
func.func @across(%p: !tile.ptr<f32>) attributes {tile.kernel} {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<8x64x!tile.ptr<f32>, #rows>
  %x = tile.load %ps : tensor<8x64x!tile.ptr<f32>, #rows> -> tensor<8x64xf32, #rows>
  %y = simt.convert %x : tensor<8x64xf32, #rows> -> tensor<8x64xf32, #columns>
  %sums = tile.reduce %x axis 0 {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  } : (tensor<8x64xf32, #rows>) -> tensor<64xf32, #all>
  %qs = tile.splat %p : !tile.ptr<f32> -> tensor<8x64x!tile.ptr<f32>, #columns>
  tile.store %qs, %y : tensor<8x64x!tile.ptr<f32>, #columns>, tensor<8x64xf32, #columns>
  %rs = tile.splat %p : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #all>
  tile.store %rs, %sums : tensor<64x!tile.ptr<f32>, #all>, tensor<64xf32, #all>
  return
}
}
