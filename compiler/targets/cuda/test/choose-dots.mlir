// Which matrix instruction makes a product, and where its operands are.
// RUN: nacre-opt %s --cuda-expand-dots=architecture=90 --cuda-choose-dots=architecture=90 | FileCheck %s
// RUN: nacre-opt %s --cuda-expand-dots=architecture=100 --cuda-choose-dots=architecture=100 | FileCheck %s --check-prefix=WARP
// RUN: nacre-opt %s --cuda-expand-dots=architecture=75 --cuda-choose-dots=architecture=75 | FileCheck %s --check-prefix=OLD

module attributes {tile.num_warps = 8 : i32} {

// Two groups of four warps have 64 rows each; both operands are read from shared memory, in rows along either axis.
// CHECK-DAG: #[[$C:.*]] = #simt.layout<"[128, 128] register b1 a8 b8 b16 b32 b64 lane b2 b4 a1 a2 a4 warp a16 a32 a64">
// CHECK-LABEL: func.func @wide
// CHECK: tile.dot {{.*}}simt.plan = #simt.dot_plan<instruction = "wgmma.m64n128k16.bf16.bf16", result = #[[$C]]>
// WARP-LABEL: func.func @wide
// WARP: tile.dot {{.*}}simt.plan = #simt.dot_plan<instruction = "mma.m16n8k16.bf16.bf16", result = #{{.*}}, a = #{{.*}}, b = #{{.*}}>
// OLD-LABEL: func.func @wide
// OLD-NOT: simt.plan
// OLD: return
func.func @wide(%a: tensor<128x64xbf16>, %b: tensor<64x128xbf16>, %c: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %d = tile.dot %a, %b, %c : tensor<128x64xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
  return %d : tensor<128x128xf32>
}

// What is not read across k says so. Depths that memory would have to be padded for are made by single warps.
// CHECK-LABEL: func.func @bytes
// CHECK: tile.dot {{.*}}"wgmma.m64n64k32.s8.s8", {{.*}}along_k = true
// CHECK: tile.dot {{.*}}"mma.m16n8k32.s8.s8"
// OLD-LABEL: func.func @bytes
// OLD-COUNT-2: "mma.m8n8k16.s8.s8"
func.func @bytes(%a: tensor<128x64xi8>, %b: tensor<64x64xi8>, %c: tensor<128x64xi32>,
                 %x: tensor<128x40xi8>, %y: tensor<40x64xi8>) -> (tensor<128x64xi32>, tensor<128x64xi32>) {
  %d = tile.dot %a, %b, %c : tensor<128x64xi8>, tensor<64x64xi8> -> tensor<128x64xi32>
  %e = tile.dot %x, %y, %c : tensor<128x40xi8>, tensor<40x64xi8> -> tensor<128x64xi32>
  return %d, %e : tensor<128x64xi32>, tensor<128x64xi32>
}

// The first product's result stays in registers. IEEE products are no matrix instruction's.
// CHECK-LABEL: func.func @chain
// CHECK: tile.dot {{.*}}"wgmma.m64n64k16.f16.f16", result = #{{[a-z0-9]*}}>
// CHECK: tile.dot {{.*}}"wgmma.m64n64k16.f16.f16", result = #{{[a-z0-9]*}}, a = #
// CHECK: tile.dot
// CHECK-NOT: simt.plan
// CHECK: return
func.func @chain(%a: tensor<128x64xf16>, %b: tensor<64x64xf16>, %c: tensor<128x64xf32>, %x: tensor<64x64xf32>) -> (tensor<128x64xf32>, tensor<128x64xf32>) {
  %d = tile.dot %a, %b, %c : tensor<128x64xf16>, tensor<64x64xf16> -> tensor<128x64xf32>
  %half = arith.truncf %d : tensor<128x64xf32> to tensor<128x64xf16>
  %e = tile.dot %half, %b, %c : tensor<128x64xf16>, tensor<64x64xf16> -> tensor<128x64xf32>
  %f = tile.dot %c, %x, %c precision ieee : tensor<128x64xf32>, tensor<64x64xf32> -> tensor<128x64xf32>
  return %e, %f : tensor<128x64xf32>, tensor<128x64xf32>
}

// A sum of parts, the smallest products first.
// CHECK-LABEL: func.func @parts
// CHECK-COUNT-3: "wgmma.m64n64k16.bf16.bf16"
// CHECK-NOT: tile.dot
func.func @parts(%a: tensor<128x64xf32>, %b: tensor<64x64xf32>, %c: tensor<128x64xf32>) -> tensor<128x64xf32> {
  %d = tile.dot %a, %b, %c precision bf16x3 : tensor<128x64xf32>, tensor<64x64xf32> -> tensor<128x64xf32>
  return %d : tensor<128x64xf32>
}

}
