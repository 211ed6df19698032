// RUN: nacre-opt %s --split-input-file --verify-diagnostics --lower-to-loops="vector-bytes=64 registers=32"
// RUN: nacre-opt %s --split-input-file --verify-diagnostics --print-plan

// expected-error @+2 {{a launch hands over scalars and pointers; this kernel has an argument of type 'tensor<8xi1>'}}
// expected-error @+1 {{this kernel cannot be lowered to loops}}
func.func @tile_argument(%out: !tile.ptr<f32>, %m: tensor<8xi1>) attributes {tile.kernel} {
  %lane = tile.arange 0 : tensor<8xi32>
  %base = tile.splat %out : !tile.ptr<f32> -> tensor<8x!tile.ptr<f32>>
  %p = tile.addptr %base, %lane : tensor<8x!tile.ptr<f32>>, tensor<8xi32>
  %x = tile.load %p mask %m : tensor<8xi1> : tensor<8x!tile.ptr<f32>> -> tensor<8xf32>
  tile.store %p, %x : tensor<8x!tile.ptr<f32>>, tensor<8xf32>
  return
}

// -----

func.func @small(%x: f16, %p: !tile.ptr<f16>) attributes {tile.kernel} { // expected-error {{this kernel cannot be lowered to loops}}
  %y = arith.addf %x, %x : f16 // expected-error {{arithmetic on small floats; run widen-small-floats before}}
  tile.store %p, %y : !tile.ptr<f16>, f16
  return
}

// -----

func.func @unpacked(%p: !tile.ptr<f32>) attributes {tile.kernel} { // expected-error {{this kernel cannot be lowered to loops}}
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  %a = tile.load %ps : tensor<16x16x!tile.ptr<f32>> -> tensor<16x16xf32>
  %d = tile.dot %a, %a, %a : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32> // expected-error {{a product whose operands are not packed; run pack-dots before}}
  tile.store %ps, %d : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xf32>
  return
}
