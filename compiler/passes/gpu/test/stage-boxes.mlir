// RUN: nacre-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(func.func(stage-boxes),place-shared,func.func(place-barriers))' | FileCheck %s

#rows = #gpu.layout<"[64, 64] register b1 b2 a8 a16 a32 lane b4 b8 b16 b32 a1 warp a2 a4">

module attributes {gpu.num_warps = 4 : i32, gpu.lanes = 32 : i32} {

// The barriers lie behind the tiles. Nobody meets between the wait and the read; in the next iteration all have read
// before the copy begins anew.
// CHECK-LABEL: func.func @load
// CHECK: scf.for
// CHECK: %[[TILE:.*]] = gpu.allocate {gpu.offset = 0 : i64}
// CHECK: %[[FULL:.*]] = gpu.allocate_barriers {gpu.offset = [[BARRIER:[0-9]+]] : i64} : !gpu.barriers<1>
// CHECK: gpu.barrier
// CHECK-NEXT: gpu.copy_box %{{.*}}, %[[TILE]], %[[FULL]]
// CHECK-NEXT: gpu.await %[[FULL]]
// CHECK-NEXT: gpu.read %[[TILE]]
func.func @load(%n: i32, %map: !gpu.tensor_map<tensor<64x64xf16>> {gpu.recipe = "type=f16 base=a0 shape=64,64 strides=64 box=64,64 swizzle=128"}) attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.for %i = %zero to %n step %one : i32 {
    %x = gpu.load_box %map[%i, %zero] : !gpu.tensor_map<tensor<64x64xf16>> -> tensor<64x64xf16, #rows>
    "test.keep"(%x) : (tensor<64x64xf16, #rows>) -> ()
  }
  return
}

// What the threads have written is shown to the hardware before they meet.
// CHECK-LABEL: func.func @store
// CHECK: gpu.write
// CHECK-NEXT: gpu.fence{{$}}
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: gpu.copy_out
func.func @store(%x: tensor<64x64xf16, #rows>, %map: !gpu.tensor_map<tensor<64x64xf16>> {gpu.recipe = "type=f16 base=a0 shape=64,64 strides=64 box=64,64 swizzle=128"}) attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  gpu.store_box %map[%zero, %zero], %x : !gpu.tensor_map<tensor<64x64xf16>>, tensor<64x64xf16, #rows>
  return
}

// In global memory too, where they may have written there.
// CHECK-LABEL: func.func @store_beside_threads
// CHECK: gpu.write
// CHECK-NEXT: gpu.fence global
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: gpu.copy_out
func.func @store_beside_threads(%p: tensor<64x64x!tile.ptr<f16>, #rows>, %x: tensor<64x64xf16, #rows>, %map: !gpu.tensor_map<tensor<64x64xf16>> {gpu.recipe = "type=f16 base=a0 shape=64,64 strides=64 box=64,64 swizzle=128"}) attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  tile.store %p, %x : tensor<64x64x!tile.ptr<f16>, #rows>, tensor<64x64xf16, #rows>
  gpu.store_box %map[%zero, %zero], %x : !gpu.tensor_map<tensor<64x64xf16>>, tensor<64x64xf16, #rows>
  return
}

// CHECK-LABEL: func.func @store_twice
// CHECK: gpu.fence global
// CHECK: gpu.fence global
func.func @store_twice(%x: tensor<64x64xf16, #rows>, %map: !gpu.tensor_map<tensor<64x64xf16>> {gpu.recipe = "type=f16 base=a0 shape=64,64 strides=64 box=64,64 swizzle=128"}) attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  gpu.store_box %map[%zero, %zero], %x : !gpu.tensor_map<tensor<64x64xf16>>, tensor<64x64xf16, #rows>
  gpu.store_box %map[%zero, %zero], %x : !gpu.tensor_map<tensor<64x64xf16>>, tensor<64x64xf16, #rows>
  return
}

}
