// RUN: nacre-opt %s --split-input-file --verify-diagnostics | nacre-opt --split-input-file | FileCheck %s

#rows = #simt.layout<"[16, 32] register b1 b2 b4 a8 lane b8 b16 a1 a2 a4 warp 0 0">
#s = #simt.layout<"[16, 32] offset b1 b2 b4 b8 b16 a1 a2 a4 a8">
#t = #simt.layout<"[32, 16] offset a1 a2 a4 a8 a16 b1 b2 b4 b8">
#c = #simt.layout<"[16, 16] register b1 a8 b8 lane b2 b4 a1 a2 a4 warp 0 0">

// CHECK-LABEL: func.func @tiles
func.func @tiles(%x: tensor<16x32xf16, #rows>, %i: i32, %c: tensor<16x16xf32, #c>) -> (tensor<16x32xf16, #rows>, tensor<16x16xf32, #c>) {
  // CHECK: %[[RING:.*]] = simt.allocate : <16x32xf16, #[[$S:.*]], 3>
  %ring = simt.allocate : !simt.shared<16x32xf16, #s, 3>
  // CHECK: %[[TILE:.*]] = simt.slot %[[RING]][%{{.*}}] : <16x32xf16, #[[$S]], 3> -> <16x32xf16, #[[$S]]>
  %tile = simt.slot %ring[%i] : !simt.shared<16x32xf16, #s, 3> -> !simt.shared<16x32xf16, #s>
  // CHECK: simt.write %{{.*}}, %[[TILE]] : tensor<16x32xf16, #{{.*}}>, <16x32xf16, #[[$S]]>
  simt.write %x, %tile : tensor<16x32xf16, #rows>, !simt.shared<16x32xf16, #s>
  // CHECK: %[[OTHER:.*]] = simt.permute %[[TILE]] [1, 0] : <16x32xf16, #[[$S]]> -> <32x16xf16, #[[$T:.*]]>
  %other = simt.permute %tile [1, 0] : !simt.shared<16x32xf16, #s> -> !simt.shared<32x16xf16, #t>
  // CHECK: simt.read %[[TILE]]
  %y = simt.read %tile : !simt.shared<16x32xf16, #s> -> tensor<16x32xf16, #rows>
  // CHECK: simt.fence
  simt.fence
  // CHECK: %[[D:.*]] = simt.dot "any" %[[TILE]], %[[OTHER]], %{{.*}} : !simt.shared<16x32xf16, #[[$S]]>, !simt.shared<32x16xf16, #[[$T]]> -> tensor<16x16xf32
  %d = simt.dot "any" %tile, %other, %c : !simt.shared<16x32xf16, #s>, !simt.shared<32x16xf16, #t> -> tensor<16x16xf32, #c>
  // CHECK: %[[E:.*]] = simt.dot "any" async %{{.*}}, %[[OTHER]], %[[D]]
  %e = simt.dot "any" async %x, %other, %d : tensor<16x32xf16, #rows>, !simt.shared<32x16xf16, #t> -> tensor<16x16xf32, #c>
  // CHECK: simt.wait_dots 0, %[[E]] : tensor<16x16xf32
  %f = simt.wait_dots 0, %e : tensor<16x16xf32, #c>
  return %y, %f : tensor<16x32xf16, #rows>, tensor<16x16xf32, #c>
}

// -----

#s = #simt.layout<"[16, 32] offset b1 b2 b4 b8 b16 a1 a2 a4 a8">
func.func @slot(%ring: !simt.shared<16x32xf16, #s, 3>, %i: i32) {
  // expected-error @+1 {{gives one stage of}}
  %tile = simt.slot %ring[%i] : !simt.shared<16x32xf16, #s, 3> -> !simt.shared<16x32xf16, #s, 2>
  return
}

// -----

#s = #simt.layout<"[16, 32] offset b1 b2 b4 b8 b16 a1 a2 a4 a8">
func.func @permute(%tile: !simt.shared<16x32xf16, #s>) {
  // expected-error @+1 {{needs every axis once in its order}}
  %other = simt.permute %tile [1, 1] : !simt.shared<16x32xf16, #s> -> !simt.shared<16x32xf16, #s>
  return
}

// -----

#s = #simt.layout<"[16, 32] offset b1 b2 b4 b8 b16 a1 a2 a4 a8">
func.func @view(%tile: !simt.shared<16x32xf16, #s>) {
  // expected-error @+1 {{gives '!simt.shared<32x16xf16}}
  %other = simt.permute %tile [1, 0] : !simt.shared<16x32xf16, #s> -> !simt.shared<16x32xf16, #s>
  return
}

// -----

#rows = #simt.layout<"[16, 32] register b1 b2 b4 a8 lane b8 b16 a1 a2 a4 warp 0 0">
#s = #simt.layout<"[16, 32] offset b1 b2 b4 b8 b16 a1 a2 a4 a8">
func.func @ring(%x: tensor<16x32xf16, #rows>, %ring: !simt.shared<16x32xf16, #s, 3>) {
  // expected-error @+1 {{needs one stage of a ring}}
  simt.write %x, %ring : tensor<16x32xf16, #rows>, !simt.shared<16x32xf16, #s, 3>
  return
}

// -----

#rows = #simt.layout<"[16, 32] register b1 b2 b4 a8 lane b8 b16 a1 a2 a4 warp 0 0">
#s = #simt.layout<"[16, 32] offset b1 b2 b4 b8 b16 a1 a2 a4 a8">
#c = #simt.layout<"[16, 16] register b1 a8 b8 lane b2 b4 a1 a2 a4 warp 0 0">
func.func @shapes(%x: tensor<16x32xf16, #rows>, %b: !simt.shared<16x32xf16, #s>, %c: tensor<16x16xf32, #c>) {
  // expected-error @+1 {{has shapes that do not go together}}
  %d = simt.dot "any" %x, %b, %c : tensor<16x32xf16, #rows>, !simt.shared<16x32xf16, #s> -> tensor<16x16xf32, #c>
  return
}

// -----

// expected-error @+1 {{a shared tile's layout gives every offset one element}}
func.func @incomplete(%tile: !simt.shared<16x32xf16, #simt.layout<"[16, 32] offset b1 b2 b4 b8 b16 a1 a2 a4">>) {
  return
}
