// RUN: nacre-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(func.func(stage-boxes),place-shared,func.func(place-barriers))' | FileCheck %s

#rows = #simt.layout<"[64, 64] register b1 b2 a8 a16 a32 lane b4 b8 b16 b32 a1 warp a2 a4">

module attributes {simt.num_warps = 4 : i32, simt.lanes = 32 : i32} {

// The barriers lie behind the tiles. Nobody meets between the wait and the read; in the next iteration all have read
// before the copy begins anew.
// CHECK-LABEL: func.func @load
// CHECK: scf.for
// CHECK: %[[TILE:.*]] = simt.allocate {simt.offset = 0 : i64}
// CHECK: %[[FULL:.*]] = simt.allocate_barriers {simt.offset = [[BARRIER:[0-9]+]] : i64} : !simt.barriers<1>
// CHECK: simt.barrier
// CHECK-NEXT: simt.copy_box %{{.*}}, %[[TILE]], %[[FULL]]
// CHECK-NEXT: simt.await %[[FULL]]
// CHECK-NEXT: simt.read %[[TILE]]
func.func @load(%n: i32, %map: !simt.tensor_map<tensor<64x64xf16>> {simt.recipe = "type=f16 base=a0 shape=64,64 strides=64 box=64,64 swizzle=128"}) attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.for %i = %zero to %n step %one : i32 {
    %x = simt.load_box %map[%i, %zero] : !simt.tensor_map<tensor<64x64xf16>> -> tensor<64x64xf16, #rows>
    "test.keep"(%x) : (tensor<64x64xf16, #rows>) -> ()
  }
  return
}

// What the threads have written is shown to the hardware before they meet.
// CHECK-LABEL: func.func @store
// CHECK: simt.write
// CHECK-NEXT: simt.fence{{$}}
// CHECK-NEXT: simt.barrier
// CHECK-NEXT: simt.copy_out
func.func @store(%x: tensor<64x64xf16, #rows>, %map: !simt.tensor_map<tensor<64x64xf16>> {simt.recipe = "type=f16 base=a0 shape=64,64 strides=64 box=64,64 swizzle=128"}) attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  simt.store_box %map[%zero, %zero], %x : !simt.tensor_map<tensor<64x64xf16>>, tensor<64x64xf16, #rows>
  return
}

// In global memory too, where they may have written there.
// CHECK-LABEL: func.func @store_beside_threads
// CHECK: simt.write
// CHECK-NEXT: simt.fence global
// CHECK-NEXT: simt.barrier
// CHECK-NEXT: simt.copy_out
func.func @store_beside_threads(%p: tensor<64x64x!tile.ptr<f16>, #rows>, %x: tensor<64x64xf16, #rows>, %map: !simt.tensor_map<tensor<64x64xf16>> {simt.recipe = "type=f16 base=a0 shape=64,64 strides=64 box=64,64 swizzle=128"}) attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  tile.store %p, %x : tensor<64x64x!tile.ptr<f16>, #rows>, tensor<64x64xf16, #rows>
  simt.store_box %map[%zero, %zero], %x : !simt.tensor_map<tensor<64x64xf16>>, tensor<64x64xf16, #rows>
  return
}

// CHECK-LABEL: func.func @store_twice
// CHECK: simt.fence global
// CHECK: simt.fence global
func.func @store_twice(%x: tensor<64x64xf16, #rows>, %map: !simt.tensor_map<tensor<64x64xf16>> {simt.recipe = "type=f16 base=a0 shape=64,64 strides=64 box=64,64 swizzle=128"}) attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  simt.store_box %map[%zero, %zero], %x : !simt.tensor_map<tensor<64x64xf16>>, tensor<64x64xf16, #rows>
  simt.store_box %map[%zero, %zero], %x : !simt.tensor_map<tensor<64x64xf16>>, tensor<64x64xf16, #rows>
  return
}

}
