// RUN: nacre-opt %s | nacre-opt | FileCheck %s

#rows = #simt.layout<"[4, 32] register a1 a2 lane b1 b2 b4 b8 b16 warp 0 0">
#columns = #simt.layout<"[4, 32] register b8 b16 lane a1 a2 b1 b2 b4 warp 0 0">

// CHECK-DAG: #[[$ROWS:.*]] = #simt.layout<"[4, 32] register a1 a2 lane b1 b2 b4 b8 b16 warp 0 0">
// CHECK-DAG: #[[$COLUMNS:.*]] = #simt.layout<"[4, 32] register b8 b16 lane a1 a2 b1 b2 b4 warp 0 0">

// CHECK-LABEL: func.func @convert
// CHECK: simt.convert %{{.*}} : tensor<4x32xf32, #[[$ROWS]]> -> tensor<4x32xf32, #[[$COLUMNS]]>
// CHECK-NEXT: simt.barrier
// CHECK-NEXT: simt.barrier warp
func.func @convert(%x: tensor<4x32xf32, #rows>) -> tensor<4x32xf32, #columns> {
  %y = simt.convert %x : tensor<4x32xf32, #rows> -> tensor<4x32xf32, #columns>
  simt.barrier
  simt.barrier warp
  return %y : tensor<4x32xf32, #columns>
}

// CHECK-LABEL: func.func @ring
// CHECK-SAME: !simt.shared<4x32xf16, #{{.*}}, 3>
func.func @ring(%x: !simt.shared<4x32xf16, #simt.layout<"[4, 32] offset b1 b2 b4 b8 b16 a1 a2">, 3>) {
  return
}
