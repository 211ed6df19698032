// RUN: nacre-opt %s --place-shared | FileCheck %s

#rows = #simt.layout<"[64, 64] register b1 b2 a8 a16 a32 lane b4 b8 b16 b32 a1 warp a2 a4">
#columns = #simt.layout<"[64, 64] register a1 a2 b8 b16 b32 lane a4 a8 a16 a32 b1 warp b2 b4">

module attributes {simt.num_warps = 4 : i32, simt.lanes = 32 : i32} {

// Two operations in a row lie side by side if that is little; otherwise they take turns at the start.
// CHECK: module attributes {{.*}}simt.shared = 16384
// CHECK-LABEL: func.func @turns
// CHECK: simt.convert {{.*}} {simt.offset = 0 : i64, simt.scratch = 16384 : i64}
// CHECK: simt.convert {{.*}} {simt.offset = 0 : i64, simt.scratch = 8192 : i64}
// CHECK: simt.convert {{.*}} {simt.offset = 8192 : i64, simt.scratch = 8192 : i64}
// CHECK: simt.convert {{.*}} {simt.offset = 0 : i64, simt.scratch = 8192 : i64}
func.func @turns(%x: tensor<64x64xf32, #rows>, %y: tensor<64x64xf16, #rows>) attributes {tile.kernel} {
  %a = simt.convert %x : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #columns>
  %b = simt.convert %y : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
  %c = simt.convert %b : tensor<64x64xf16, #columns> -> tensor<64x64xf16, #rows>
  %d = simt.convert %c : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
  return
}

}
