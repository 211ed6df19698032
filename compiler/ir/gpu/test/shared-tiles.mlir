// RUN: nacre-opt %s --split-input-file --verify-diagnostics | nacre-opt --split-input-file | FileCheck %s

#rows = #gpu.layout<"[16, 32] register b1 b2 b4 a8 lane b8 b16 a1 a2 a4 warp 0 0">
#s = #gpu.layout<"[16, 32] offset b1 b2 b4 b8 b16 a1 a2 a4 a8">
#t = #gpu.layout<"[32, 16] offset a1 a2 a4 a8 a16 b1 b2 b4 b8">
#c = #gpu.layout<"[16, 16] register b1 a8 b8 lane b2 b4 a1 a2 a4 warp 0 0">

// CHECK-LABEL: func.func @tiles
func.func @tiles(%x: tensor<16x32xf16, #rows>, %i: i32, %c: tensor<16x16xf32, #c>) -> (tensor<16x32xf16, #rows>, tensor<16x16xf32, #c>) {
  // CHECK: %[[RING:.*]] = gpu.allocate : <16x32xf16, #[[$S:.*]], 3>
  %ring = gpu.allocate : !gpu.shared<16x32xf16, #s, 3>
  // CHECK: %[[TILE:.*]] = gpu.slot %[[RING]][%{{.*}}] : <16x32xf16, #[[$S]], 3> -> <16x32xf16, #[[$S]]>
  %tile = gpu.slot %ring[%i] : !gpu.shared<16x32xf16, #s, 3> -> !gpu.shared<16x32xf16, #s>
  // CHECK: gpu.write %{{.*}}, %[[TILE]] : tensor<16x32xf16, #{{.*}}>, <16x32xf16, #[[$S]]>
  gpu.write %x, %tile : tensor<16x32xf16, #rows>, !gpu.shared<16x32xf16, #s>
  // CHECK: %[[OTHER:.*]] = gpu.permute %[[TILE]] [1, 0] : <16x32xf16, #[[$S]]> -> <32x16xf16, #[[$T:.*]]>
  %other = gpu.permute %tile [1, 0] : !gpu.shared<16x32xf16, #s> -> !gpu.shared<32x16xf16, #t>
  // CHECK: gpu.read %[[TILE]]
  %y = gpu.read %tile : !gpu.shared<16x32xf16, #s> -> tensor<16x32xf16, #rows>
  // CHECK: gpu.fence
  gpu.fence
  // CHECK: %[[D:.*]] = gpu.dot "any" %[[TILE]], %[[OTHER]], %{{.*}} : !gpu.shared<16x32xf16, #[[$S]]>, !gpu.shared<32x16xf16, #[[$T]]> -> tensor<16x16xf32
  %d = gpu.dot "any" %tile, %other, %c : !gpu.shared<16x32xf16, #s>, !gpu.shared<32x16xf16, #t> -> tensor<16x16xf32, #c>
  // CHECK: %[[E:.*]] = gpu.dot "any" async %{{.*}}, %[[OTHER]], %[[D]]
  %e = gpu.dot "any" async %x, %other, %d : tensor<16x32xf16, #rows>, !gpu.shared<32x16xf16, #t> -> tensor<16x16xf32, #c>
  // CHECK: gpu.wait_dots 0, %[[E]] : tensor<16x16xf32
  %f = gpu.wait_dots 0, %e : tensor<16x16xf32, #c>
  return %y, %f : tensor<16x32xf16, #rows>, tensor<16x16xf32, #c>
}

// -----

#s = #gpu.layout<"[16, 32] offset b1 b2 b4 b8 b16 a1 a2 a4 a8">
func.func @slot(%ring: !gpu.shared<16x32xf16, #s, 3>, %i: i32) {
  // expected-error @+1 {{gives one stage of}}
  %tile = gpu.slot %ring[%i] : !gpu.shared<16x32xf16, #s, 3> -> !gpu.shared<16x32xf16, #s, 2>
  return
}

// -----

#s = #gpu.layout<"[16, 32] offset b1 b2 b4 b8 b16 a1 a2 a4 a8">
func.func @permute(%tile: !gpu.shared<16x32xf16, #s>) {
  // expected-error @+1 {{needs every axis once in its order}}
  %other = gpu.permute %tile [1, 1] : !gpu.shared<16x32xf16, #s> -> !gpu.shared<16x32xf16, #s>
  return
}

// -----

#s = #gpu.layout<"[16, 32] offset b1 b2 b4 b8 b16 a1 a2 a4 a8">
func.func @view(%tile: !gpu.shared<16x32xf16, #s>) {
  // expected-error @+1 {{gives '!gpu.shared<32x16xf16}}
  %other = gpu.permute %tile [1, 0] : !gpu.shared<16x32xf16, #s> -> !gpu.shared<16x32xf16, #s>
  return
}

// -----

#rows = #gpu.layout<"[16, 32] register b1 b2 b4 a8 lane b8 b16 a1 a2 a4 warp 0 0">
#s = #gpu.layout<"[16, 32] offset b1 b2 b4 b8 b16 a1 a2 a4 a8">
func.func @ring(%x: tensor<16x32xf16, #rows>, %ring: !gpu.shared<16x32xf16, #s, 3>) {
  // expected-error @+1 {{needs one stage of a ring}}
  gpu.write %x, %ring : tensor<16x32xf16, #rows>, !gpu.shared<16x32xf16, #s, 3>
  return
}

// -----

#rows = #gpu.layout<"[16, 32] register b1 b2 b4 a8 lane b8 b16 a1 a2 a4 warp 0 0">
#s = #gpu.layout<"[16, 32] offset b1 b2 b4 b8 b16 a1 a2 a4 a8">
#c = #gpu.layout<"[16, 16] register b1 a8 b8 lane b2 b4 a1 a2 a4 warp 0 0">
func.func @shapes(%x: tensor<16x32xf16, #rows>, %b: !gpu.shared<16x32xf16, #s>, %c: tensor<16x16xf32, #c>) {
  // expected-error @+1 {{has shapes that do not go together}}
  %d = gpu.dot "any" %x, %b, %c : tensor<16x32xf16, #rows>, !gpu.shared<16x32xf16, #s> -> tensor<16x16xf32, #c>
  return
}

// -----

// expected-error @+1 {{a shared tile's layout gives every offset one element}}
func.func @incomplete(%tile: !gpu.shared<16x32xf16, #gpu.layout<"[16, 32] offset b1 b2 b4 b8 b16 a1 a2 a4">>) {
  return
}
