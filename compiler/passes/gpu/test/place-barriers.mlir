// RUN: nacre-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(place-shared,func.func(place-barriers))' | FileCheck %s

#rows = #simt.layout<"[64, 64] register b1 b2 a8 a16 a32 lane b4 b8 b16 b32 a1 warp a2 a4">
#columns = #simt.layout<"[64, 64] register a1 a2 b8 b16 b32 lane a4 a8 a16 a32 b1 warp b2 b4">
#line = #simt.layout<"[1024] register a1 a2 a128 lane a4 a8 a16 a32 a64 warp a256 a512">

module attributes {simt.num_warps = 4 : i32, simt.lanes = 32 : i32} {

// The first use needs no barrier, nor does one beside the last; one on its bytes does.
// CHECK-LABEL: func.func @straight
// CHECK: simt.convert {{.*}} {simt.offset = 0 : i64, simt.ordered
// CHECK: simt.convert {{.*}} {simt.offset = 8192 : i64, simt.ordered
// CHECK: simt.convert {{.*}} {simt.offset = 0 : i64, simt.ordered
// CHECK: simt.convert {{.*}} {simt.offset = 0 : i64, simt.scratch = 16384
// CHECK: tile.barrier
// CHECK: simt.convert {{.*}} {simt.offset = 0 : i64, simt.ordered
func.func @straight(%x: tensor<64x64xf32, #rows>, %y: tensor<64x64xf16, #rows>) attributes {tile.kernel} {
  %a = simt.convert %y : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
  %b = simt.convert %y : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
  %c = simt.convert %y : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
  %d = simt.convert %x : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #columns>
  tile.barrier
  %e = simt.convert %x : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #columns>
  return
}

// In a loop the last use comes before the first one.
// CHECK-LABEL: func.func @loop
// CHECK: scf.for
// CHECK: simt.convert {{.*}} {simt.offset = 0 : i64, simt.scratch = 8192
// CHECK: simt.convert {{.*}} {simt.offset = 8192 : i64, simt.ordered
// CHECK: simt.convert {{.*}} {simt.offset = 0 : i64, simt.ordered
func.func @loop(%y: tensor<64x64xf16, #rows>, %n: i32) attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.for %i = %zero to %n step %one : i32 {
    %a = simt.convert %y : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
    %b = simt.convert %y : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
    %c = simt.convert %y : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
    "test.keep"(%a, %b, %c) : (tensor<64x64xf16, #columns>, tensor<64x64xf16, #columns>, tensor<64x64xf16, #columns>) -> ()
  }
  return
}

// Either way of a branch may have been taken.
// CHECK-LABEL: func.func @branch
// CHECK: simt.convert {{.*}} {simt.offset = 8192 : i64, simt.ordered
// CHECK: scf.if
// CHECK: simt.convert {{.*}} {simt.offset = 0 : i64, simt.ordered
// CHECK: simt.convert {{.*}} {simt.offset = 8192 : i64, simt.scratch
func.func @branch(%y: tensor<64x64xf16, #rows>, %condition: i1) attributes {tile.kernel} {
  %a = simt.convert %y : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
  scf.if %condition {
    %b = simt.convert %y : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
    "test.keep"(%b) : (tensor<64x64xf16, #columns>) -> ()
  }
  %c = simt.convert %y : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
  "test.keep"(%a, %c) : (tensor<64x64xf16, #columns>, tensor<64x64xf16, #columns>) -> ()
  return
}

// A gather at a distance known at run time may need no other warp, and then has no barrier: what was pending before it still
// is. Any other gather has its threads meet.
// CHECK-LABEL: func.func @idle
// CHECK: tile.barrier
// CHECK: simt.convert {{.*}} {simt.offset = 0 : i64
// CHECK: tile.gather {{.*}} {simt.offset = 8192 : i64, simt.ordered
// CHECK: simt.convert {{.*}} {simt.offset = 0 : i64, simt.scratch
// CHECK: tile.gather {{.*}} {simt.offset = 8192 : i64, simt.ordered
// CHECK: simt.convert {{.*}} {simt.offset = 0 : i64, simt.ordered
func.func @idle(%x: tensor<64x64xf32, #rows>, %y: tensor<64x64xf16, #rows>, %z: tensor<1024xf32, #line>, %w: tensor<1024xi32, #line>, %distance: i32) attributes {tile.kernel} {
  %a = simt.convert %x : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #columns>
  tile.barrier
  %b = simt.convert %y : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
  %place = tile.arange 0 : tensor<1024xi32, #line>
  %distances = tile.splat %distance : i32 -> tensor<1024xi32, #line>
  %index = arith.xori %place, %distances : tensor<1024xi32, #line>
  %c = tile.gather %z[%index] 0 : tensor<1024xf32, #line>, tensor<1024xi32, #line> -> tensor<1024xf32, #line>
  %d = simt.convert %y : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
  %e = tile.gather %z[%w] 0 : tensor<1024xf32, #line>, tensor<1024xi32, #line> -> tensor<1024xf32, #line>
  %f = simt.convert %y : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
  return
}

}
