// Tiles of 256 KiB that threads cover on the two sides of an operation: scratch memory for one part after the other.
// RUN: nacre-opt %s --place-shared | FileCheck %s

#rows = #simt.layout<"[16, 128, 16] register b16 b32 a1 a2 a4 a8 lane c1 c2 c4 c8 b64 warp b1 b2 b4 b8">
#planes = #simt.layout<"[16, 128, 16] register c1 c2 c4 c8 b1 b2 lane a1 a2 a4 a8 b64 warp b32 b16 b8 b4">
#line = #simt.layout<"[32768] register a1 a2 a4 a8 a16 a32 lane a64 a128 a256 a512 a1024 warp a2048 a4096 a8192 a16384">

module attributes {simt.num_warps = 16 : i32, simt.lanes = 32 : i32} {

// CHECK: module attributes {{.*}}simt.shared = 65536
// CHECK-LABEL: func.func @parts
// CHECK: simt.convert {{.*}} simt.scratch = 65536 : i64
// CHECK: tile.gather {{.*}} simt.scratch = 65536 : i64
// CHECK: tile.extract {{.*}} simt.scratch = 16 : i64
func.func @parts(%x: tensor<16x128x16xi64, #rows>, %l: tensor<32768xi64, #line>, %i: tensor<32768xi32, #line>) attributes {tile.kernel} {
  %a = simt.convert %x : tensor<16x128x16xi64, #rows> -> tensor<16x128x16xi64, #planes>
  %b = tile.gather %l[%i] 0 : tensor<32768xi64, #line>, tensor<32768xi32, #line> -> tensor<32768xi64, #line>
  %c = tile.extract %l [70] : tensor<32768xi64, #line> -> i64
  return
}

}
