// RUN: nacre-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(place-shared,func.func(place-barriers))' | FileCheck %s

#rows = #gpu.layout<"[64, 64] register b1 b2 a8 a16 a32 lane b4 b8 b16 b32 a1 warp a2 a4">
#columns = #gpu.layout<"[64, 64] register a1 a2 b8 b16 b32 lane a4 a8 a16 a32 b1 warp b2 b4">
#line = #gpu.layout<"[1024] register a1 a2 a128 lane a4 a8 a16 a32 a64 warp a256 a512">

module attributes {gpu.num_warps = 4 : i32, gpu.lanes = 32 : i32} {

// The first use needs no barrier, nor does one beside the last; one on its bytes does.
// CHECK-LABEL: func.func @straight
// CHECK: gpu.convert {{.*}} {gpu.offset = 0 : i64, gpu.ordered
// CHECK: gpu.convert {{.*}} {gpu.offset = 8192 : i64, gpu.ordered
// CHECK: gpu.convert {{.*}} {gpu.offset = 0 : i64, gpu.ordered
// CHECK: gpu.convert {{.*}} {gpu.offset = 0 : i64, gpu.scratch = 16384
// CHECK: tile.barrier
// CHECK: gpu.convert {{.*}} {gpu.offset = 0 : i64, gpu.ordered
func.func @straight(%x: tensor<64x64xf32, #rows>, %y: tensor<64x64xf16, #rows>) attributes {tile.kernel} {
  %a = gpu.convert %y : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
  %b = gpu.convert %y : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
  %c = gpu.convert %y : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
  %d = gpu.convert %x : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #columns>
  tile.barrier
  %e = gpu.convert %x : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #columns>
  return
}

// In a loop the last use comes before the first one.
// CHECK-LABEL: func.func @loop
// CHECK: scf.for
// CHECK: gpu.convert {{.*}} {gpu.offset = 0 : i64, gpu.scratch = 8192
// CHECK: gpu.convert {{.*}} {gpu.offset = 8192 : i64, gpu.ordered
// CHECK: gpu.convert {{.*}} {gpu.offset = 0 : i64, gpu.ordered
func.func @loop(%y: tensor<64x64xf16, #rows>, %n: i32) attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.for %i = %zero to %n step %one : i32 {
    %a = gpu.convert %y : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
    %b = gpu.convert %y : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
    %c = gpu.convert %y : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
    "test.keep"(%a, %b, %c) : (tensor<64x64xf16, #columns>, tensor<64x64xf16, #columns>, tensor<64x64xf16, #columns>) -> ()
  }
  return
}

// Either way of a branch may have been taken.
// CHECK-LABEL: func.func @branch
// CHECK: gpu.convert {{.*}} {gpu.offset = 8192 : i64, gpu.ordered
// CHECK: scf.if
// CHECK: gpu.convert {{.*}} {gpu.offset = 0 : i64, gpu.ordered
// CHECK: gpu.convert {{.*}} {gpu.offset = 8192 : i64, gpu.scratch
func.func @branch(%y: tensor<64x64xf16, #rows>, %condition: i1) attributes {tile.kernel} {
  %a = gpu.convert %y : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
  scf.if %condition {
    %b = gpu.convert %y : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
    "test.keep"(%b) : (tensor<64x64xf16, #columns>) -> ()
  }
  %c = gpu.convert %y : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
  "test.keep"(%a, %c) : (tensor<64x64xf16, #columns>, tensor<64x64xf16, #columns>) -> ()
  return
}

// A gather at a distance known at run time may need no other warp, and then has no barrier: what was pending before it still
// is. Any other gather has its threads meet.
// CHECK-LABEL: func.func @idle
// CHECK: tile.barrier
// CHECK: gpu.convert {{.*}} {gpu.offset = 0 : i64
// CHECK: tile.gather {{.*}} {gpu.offset = 8192 : i64, gpu.ordered
// CHECK: gpu.convert {{.*}} {gpu.offset = 0 : i64, gpu.scratch
// CHECK: tile.gather {{.*}} {gpu.offset = 8192 : i64, gpu.ordered
// CHECK: gpu.convert {{.*}} {gpu.offset = 0 : i64, gpu.ordered
func.func @idle(%x: tensor<64x64xf32, #rows>, %y: tensor<64x64xf16, #rows>, %z: tensor<1024xf32, #line>, %w: tensor<1024xi32, #line>, %distance: i32) attributes {tile.kernel} {
  %a = gpu.convert %x : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #columns>
  tile.barrier
  %b = gpu.convert %y : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
  %place = tile.arange 0 : tensor<1024xi32, #line>
  %distances = tile.splat %distance : i32 -> tensor<1024xi32, #line>
  %index = arith.xori %place, %distances : tensor<1024xi32, #line>
  %c = tile.gather %z[%index] 0 : tensor<1024xf32, #line>, tensor<1024xi32, #line> -> tensor<1024xf32, #line>
  %d = gpu.convert %y : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
  %e = tile.gather %z[%w] 0 : tensor<1024xf32, #line>, tensor<1024xi32, #line> -> tensor<1024xf32, #line>
  %f = gpu.convert %y : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
  return
}

}
