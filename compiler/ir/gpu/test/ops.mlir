// RUN: nacre-opt %s | nacre-opt | FileCheck %s

#rows = #gpu.layout<"[4, 32] register a1 a2 lane b1 b2 b4 b8 b16 warp 0 0">
#columns = #gpu.layout<"[4, 32] register b8 b16 lane a1 a2 b1 b2 b4 warp 0 0">

// CHECK-DAG: #[[$ROWS:.*]] = #gpu.layout<"[4, 32] register a1 a2 lane b1 b2 b4 b8 b16 warp 0 0">
// CHECK-DAG: #[[$COLUMNS:.*]] = #gpu.layout<"[4, 32] register b8 b16 lane a1 a2 b1 b2 b4 warp 0 0">

// CHECK-LABEL: func.func @convert
// CHECK: gpu.convert %{{.*}} : tensor<4x32xf32, #[[$ROWS]]> -> tensor<4x32xf32, #[[$COLUMNS]]>
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: gpu.barrier warp
func.func @convert(%x: tensor<4x32xf32, #rows>) -> tensor<4x32xf32, #columns> {
  %y = gpu.convert %x : tensor<4x32xf32, #rows> -> tensor<4x32xf32, #columns>
  gpu.barrier
  gpu.barrier warp
  return %y : tensor<4x32xf32, #columns>
}

// CHECK-LABEL: func.func @ring
// CHECK-SAME: !gpu.shared<4x32xf16, #{{.*}}, 3>
func.func @ring(%x: !gpu.shared<4x32xf16, #gpu.layout<"[4, 32] offset b1 b2 b4 b8 b16 a1 a2">, 3>) {
  return
}
