// What says that it is rounded by itself is not fused; what says nothing is.
// RUN: nacre-opt %s --run fused --engine simulate --show-stage ptx --args 'f32[1]=1,f32=2,f32=3' | FileCheck %s --check-prefix=FUSED
// RUN: nacre-opt %s --run rounded --engine simulate --show-stage ptx --args 'f32[1]=1,f32=2,f32=3' | FileCheck %s --check-prefix=ROUNDED

// FUSED: .entry fused
// FUSED: fma.rn.f32
func.func @fused(%x: !tile.ptr<f32>, %y: f32, %z: f32) attributes {tile.kernel} {
  %v = tile.load %x : !tile.ptr<f32> -> f32
  %p = arith.mulf %v, %y : f32
  %s = arith.addf %p, %z : f32
  tile.store %x, %s : !tile.ptr<f32>, f32
  return
}

// ROUNDED: .entry rounded
// ROUNDED-NOT: fma.rn
// ROUNDED: mul{{.*}}.f32
// ROUNDED-NOT: fma.rn
// ROUNDED: add.rn.f32
func.func @rounded(%x: !tile.ptr<f32>, %y: f32, %z: f32) attributes {tile.kernel} {
  %v = tile.load %x : !tile.ptr<f32> -> f32
  %p = arith.mulf %v, %y : f32
  %s = arith.addf %p, %z {tile.rounded} : f32
  tile.store %x, %s : !tile.ptr<f32>, f32
  return
}
