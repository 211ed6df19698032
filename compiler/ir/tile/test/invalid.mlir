// What the verifiers refuse.
// RUN: nacre-opt %s -split-input-file -verify-diagnostics

func.func @axis() {
  // expected-error @+1 {{attribute 'axis' failed to satisfy constraint}}
  %0 = tile.program_id 3
  return
}

// -----

func.func @arange() {
  // expected-error @+1 {{result must be a rank-1 tile of integers}}
  %0 = tile.arange 0 : tensor<8xf32>
  return
}

// -----

func.func @dynamic(%x: f32) {
  // expected-error @+1 {{must be tile}}
  %0 = tile.splat %x : f32 -> tensor<?xf32>
  return
}

// -----

func.func @splat(%x: f32) {
  // expected-error @+1 {{operand must be the result's element type}}
  %0 = tile.splat %x : f32 -> tensor<8xf16>
  return
}

// -----

func.func @expand(%x: tensor<8xf32>) {
  // expected-error @+1 {{axis 2 is out of range for rank 1}}
  %0 = tile.expand_dims %x 2 : tensor<8xf32> -> tensor<8x1xf32>
  return
}

// -----

func.func @expand(%x: tensor<8xf32>) {
  // expected-error @+1 {{result shape must be the operand's with 1 at axis 0}}
  %0 = tile.expand_dims %x 0 : tensor<8xf32> -> tensor<8x1xf32>
  return
}

// -----

func.func @broadcast(%x: tensor<8xf32>) {
  // expected-error @+1 {{rank must stay}}
  %0 = tile.broadcast %x : tensor<8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @broadcast(%x: tensor<2x8xf32>) {
  // expected-error @+1 {{only axes of extent 1 grow}}
  %0 = tile.broadcast %x : tensor<2x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @reshape(%x: tensor<8xf32>) {
  // expected-error @+1 {{number of elements must stay}}
  %0 = tile.reshape %x : tensor<8xf32> -> tensor<2x8xf32>
  return
}

// -----

func.func @permute(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{order must name every axis once}}
  %0 = tile.permute %x [1, 1] : tensor<4x8xf32> -> tensor<8x8xf32>
  return
}

// -----

func.func @permute(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{result axis 0 must have the extent of operand axis 1}}
  %0 = tile.permute %x [1, 0] : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @concatenate(%x: tensor<4xf32>) {
  // expected-error @+1 {{result extent must be the sum along the axis}}
  %0 = tile.concatenate %x, %x 0 : tensor<4xf32>, tensor<4xf32> -> tensor<7xf32>
  return
}

// -----

func.func @join(%x: tensor<4xf32>) {
  // expected-error @+1 {{result must have the operands' shape and a last axis of 2}}
  %0 = tile.join %x, %x : tensor<4xf32> -> tensor<2x4xf32>
  return
}

// -----

func.func @split(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{operand's last axis must be 2 and the results drop it}}
  %0:2 = tile.split %x : tensor<4x3xf32> -> tensor<4xf32>
  return
}

// -----

func.func @extract(%x: tensor<4xf32>) {
  // expected-error @+1 {{index is out of range}}
  %0 = tile.extract %x [4] : tensor<4xf32> -> f32
  return
}

// -----

func.func @gather(%x: tensor<4x8xf32>, %i: tensor<4x2xi32>) {
  // expected-error @+1 {{source and index may differ only along the axis}}
  %0 = tile.gather %x[%i] 0 : tensor<4x8xf32>, tensor<4x2xi32> -> tensor<4x2xf32>
  return
}

// -----

func.func @load(%p: tensor<8x!tile.ptr<f32>>) {
  // expected-error @+1 {{the pointer addresses 'f32' but the value is 'tensor<8xf16>'}}
  %0 = tile.load %p : tensor<8x!tile.ptr<f32>> -> tensor<8xf16>
  return
}

// -----

func.func @load(%p: tensor<8x!tile.ptr<f32>>, %m: tensor<4xi1>) {
  // expected-error @+1 {{pointer and mask: shapes differ}}
  %0 = tile.load %p mask %m : tensor<4xi1> : tensor<8x!tile.ptr<f32>> -> tensor<8xf32>
  return
}

// -----

func.func @load(%p: tensor<8x!tile.ptr<f32>>, %x: tensor<8xf32>) {
  // expected-error @+1 {{`other` needs a mask}}
  %0 = tile.load %p other %x : tensor<8xf32> : tensor<8x!tile.ptr<f32>> -> tensor<8xf32>
  return
}

// -----

func.func @store(%p: tensor<8x!tile.ptr<f32>>, %x: tensor<4xf32>) {
  // expected-error @+1 {{pointer and value: shapes differ}}
  tile.store %p, %x : tensor<8x!tile.ptr<f32>>, tensor<4xf32>
  return
}

// -----

func.func @atomic(%p: !tile.ptr<f32>, %x: f32) {
  // expected-error @+1 {{result must have the value's type}}
  %0 = tile.atomic_rmw addf %p, %x : !tile.ptr<f32>, f32 -> i32
  return
}

// -----

func.func @dot(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>, %c: tensor<4x8xf32>) {
  // expected-error @+1 {{shapes do not multiply}}
  %0 = tile.dot %a, %b, %c : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @dot(%a: tensor<2x4x4xf32>, %b: tensor<3x4x4xf32>, %c: tensor<2x4x4xf32>) {
  // expected-error @+1 {{batch extents differ}}
  %0 = tile.dot %a, %b, %c : tensor<2x4x4xf32>, tensor<3x4x4xf32> -> tensor<2x4x4xf32>
  return
}

// -----

func.func @reduce(%x: tensor<8xf32>) {
  // expected-error @+1 {{axis is out of range}}
  %0 = tile.reduce %x axis 1 {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  } : (tensor<8xf32>) -> f32
  return
}

// -----

func.func @reduce(%x: tensor<8xf32>) {
  // expected-error @+1 {{the region needs two arguments an operand}}
  %0 = tile.reduce %x axis 0 {
  ^bb0(%a: f32):
    tile.yield %a : f32
  } : (tensor<8xf32>) -> f32
  return
}

// -----

func.func @reduce(%x: tensor<8xf32>) {
  // expected-error @+1 {{the region's types must be the operands' element types}}
  %0 = tile.reduce %x axis 0 {
  ^bb0(%a: f16, %b: f16):
    tile.yield %a : f16
  } : (tensor<8xf32>) -> f32
  return
}

// -----

func.func @reduce(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{results must drop the axis}}
  %0 = tile.reduce %x axis 0 {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  } : (tensor<4x8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @scan(%x: tensor<8xf32>) {
  // expected-error @+1 {{results must have the operands' types}}
  %0 = tile.scan %x axis 0 {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  } : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @map_arguments(%x: tensor<8xi32>) {
  // expected-error @+1 {{the region must take `pack` elements of each operand}}
  %0 = tile.map %x pack 2 {
  ^bb0(%a: i32):
    tile.yield %a, %a : i32, i32
  } : (tensor<8xi32>) -> tensor<8xi32>
  return
}

// -----

func.func @map_results(%x: tensor<8xi32>) {
  // expected-error @+1 {{the region must yield `pack` elements of each result}}
  %0 = tile.map %x pack 1 {
  ^bb0(%a: i32):
    tile.yield %a : i32
  } : (tensor<8xi32>) -> tensor<8xf32>
  return
}

// -----

func.func @reduce_results(%x: tensor<8xf32>, %y: tensor<8xf32>) {
  // expected-error @+1 {{needs one result an operand}}
  %0 = tile.reduce %x, %y axis 0 {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    tile.yield %a, %b : f32, f32
  } : (tensor<8xf32>, tensor<8xf32>) -> f32
  return
}

// -----

func.func @vector_is_no_tile(%x: vector<4xi1>, %p: tensor<4x!tile.ptr<f32>>) {
  // expected-error @+1 {{must be i1 or tile of i1}}
  %0 = tile.load %p mask %x : vector<4xi1> : tensor<4x!tile.ptr<f32>> -> tensor<4xf32>
  return
}

// -----

func.func @empty_tile(%x: f32) {
  // expected-error @+1 {{must be tile}}
  %0 = tile.splat %x : f32 -> tensor<0xf32>
  return
}

// -----

// expected-error @+1 {{a pointer addresses numbers or pointers}}
func.func @pointee(%x: !tile.ptr<tensor<4xf32>>) {
  return
}

// -----

func.func @concatenate(%x: tensor<4x8xf32>, %y: tensor<4x4xf32>) {
  // expected-error @+1 {{operands may differ only along the axis}}
  %0 = tile.concatenate %x, %y 0 : tensor<4x8xf32>, tensor<4x4xf32> -> tensor<8x8xf32>
  return
}

// -----

func.func @bitcast(%x: tensor<4xf32>) {
  // expected-error @+1 {{widths differ}}
  %0 = tile.bitcast %x : tensor<4xf32> -> tensor<4xi64>
  return
}

// -----

func.func @dot_elements(%x: tensor<4x4xf32>, %y: tensor<4x4xi32>, %z: tensor<4x4xf32>) {
  // expected-error @+1 {{must all be floats, or all integers}}
  %0 = tile.dot %x, %y, %z : tensor<4x4xf32>, tensor<4x4xi32> -> tensor<4x4xf32>
  return
}

// -----

func.func @atomic_kind(%p: !tile.ptr<f32>, %x: f32) {
  // expected-error @+1 {{this kind of atomic does not suit elements of 'f32'}}
  %0 = tile.atomic_rmw xor %p, %x : !tile.ptr<f32>, f32 -> f32
  return
}

// -----

func.func @histogram(%x: tensor<8xf32>) {
  // expected-error @+1 {{counts integers}}
  %0 = tile.histogram %x : tensor<8xf32> -> tensor<16xi32>
  return
}

// -----

func.func @hint(%x: i32) {
  // expected-error @+2 {{to be one of: divisibility, contiguity, constancy}}
  // expected-error @+1 {{failed to parse Tile_HintKindAttr}}
  %0 = tile.hint %x luck [1] : i32
  return
}

// -----

func.func @mask_of_an_atomic(%p: tensor<8x!tile.ptr<f32>>, %x: tensor<8xf32>, %mask: tensor<4xi1>) {
  // expected-error @+1 {{pointer and mask: shapes differ}}
  %0 = tile.atomic_rmw addf %p, %x mask %mask : tensor<4xi1> : tensor<8x!tile.ptr<f32>>, tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @kind_of_an_atomic(%p: tensor<8x!tile.ptr<f32>>, %x: tensor<8xf32>) {
  // expected-error @+1 {{this kind of atomic does not suit elements of 'f32'}}
  %0 = tile.atomic_rmw addi %p, %x : tensor<8x!tile.ptr<f32>>, tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @kind_of_an_atomic(%p: !tile.ptr<i32>, %x: i32) {
  // expected-error @+1 {{this kind of atomic does not suit elements of 'i32'}}
  %0 = tile.atomic_rmw maxf %p, %x : !tile.ptr<i32>, i32 -> i32
  return
}

// -----

func.func @mask_of_a_histogram(%x: tensor<8xi32>, %mask: tensor<4xi1>) {
  // expected-error @+1 {{source and mask: shapes differ}}
  %0 = tile.histogram %x mask %mask : tensor<4xi1> : tensor<8xi32> -> tensor<16xi32>
  return
}

// -----

func.func @bins_of_a_histogram(%x: tensor<8xi32>) {
  // expected-error @+1 {{counts integers into a rank-1 tile of i32}}
  %0 = tile.histogram %x : tensor<8xi32> -> tensor<16xi64>
  return
}

// -----

func.func @dot_of_two_types(%a: tensor<4x8xf16>, %b: tensor<8x4xbf16>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{operands must have one element type, or be fp8: 'f16' and 'bf16'}}
  %0 = tile.dot %a, %b, %c : tensor<4x8xf16>, tensor<8x4xbf16> -> tensor<4x4xf32>
  return
}

// -----

func.func @sum_of_a_dot(%a: tensor<4x8xbf16>, %b: tensor<8x4xbf16>, %c: tensor<4x4xf16>) {
  // expected-error @+1 {{products of 'bf16' are not summed in 'f16'}}
  %0 = tile.dot %a, %b, %c : tensor<4x8xbf16>, tensor<8x4xbf16> -> tensor<4x4xf16>
  return
}

// -----

func.func @hint_for_an_axis(%x: tensor<4x8xi32>) {
  // expected-error @+1 {{needs one number an axis}}
  %0 = tile.hint %x contiguity [8] : tensor<4x8xi32>
  return
}

// -----

func.func @hint_of_nothing(%x: i32) {
  // expected-error @+1 {{needs positive numbers}}
  %0 = tile.hint %x divisibility [0] : i32
  return
}

// -----

func.func @strides_of_a_descriptor(%base: !tile.ptr<f32>, %n: i64) {
  // expected-error @+1 {{needs one extent an axis, and one stride an axis but the last}}
  %0 = tile.make_descriptor %base shape[%n, %n] strides[%n, %n] : !tile.ptr<f32> -> !tile.descriptor<tensor<4x8xf32>>
  return
}

// -----

func.func @base_of_a_descriptor(%base: !tile.ptr<f16>, %n: i64) {
  // expected-error @+1 {{the base addresses 'f16', the blocks hold 'f32'}}
  %0 = tile.make_descriptor %base shape[%n] strides[] : !tile.ptr<f16> -> !tile.descriptor<tensor<8xf32>>
  return
}

// -----

func.func @block_of_a_descriptor(%d: !tile.descriptor<tensor<4x8xf32>>, %n: i64, %x: tensor<8x4xf32>) {
  // expected-error @+1 {{the blocks are 'tensor<4x8xf32>', not 'tensor<8x4xf32>'}}
  tile.descriptor_store %d[%n, %n], %x : !tile.descriptor<tensor<4x8xf32>>, tensor<8x4xf32>
  return
}

// -----

func.func @offsets_of_a_descriptor(%d: !tile.descriptor<tensor<4x8xf32>>, %n: i64) {
  // expected-error @+1 {{needs one offset an axis}}
  %0 = tile.descriptor_load %d[%n] : !tile.descriptor<tensor<4x8xf32>> -> tensor<4x8xf32>
  return
}

// -----

func.func @padding_of_integers(%d: !tile.descriptor<tensor<8xi32>>, %n: i64) {
  // expected-error @+1 {{only floats are padded with NaN}}
  %0 = tile.descriptor_load %d[%n] padding nan : !tile.descriptor<tensor<8xi32>> -> tensor<8xi32>
  return
}

// -----

func.func @rows_of_blocks(%d: !tile.descriptor<tensor<4x8xf32>>, %rows: tensor<2xi64>, %n: i64) {
  // expected-error @+1 {{needs blocks of one row, not 'tensor<4x8xf32>'}}
  %0 = tile.descriptor_gather %d[%rows, %n] : !tile.descriptor<tensor<4x8xf32>>, tensor<2xi64> -> tensor<2x8xf32>
  return
}

// -----

func.func @reduce_of_floats(%d: !tile.descriptor<tensor<8xf32>>, %n: i64, %x: tensor<8xf32>) {
  // expected-error @+1 {{this kind of atomic does not suit elements of 'f32'}}
  tile.descriptor_reduce and %d[%n], %x : !tile.descriptor<tensor<8xf32>>, tensor<8xf32>
  return
}

// -----

// expected-error @+1 {{attribute 'tile.fields' of argument 0 must be the base's type, then one type or number for each extent and each stride but the last}}
func.func @fields(%d: !tile.descriptor<tensor<4x8xf32>> {tile.fields = [!tile.ptr<f32>, i32]}) {
  return
}

// -----

func.func @scale_of_a_product(%a: tensor<16x32xi8>, %s: tensor<8x2xi8>, %b: tensor<64x8xbf16>, %c: tensor<16x8xf32>) {
  // expected-error @+1 {{the scale of a must be 16 by a divisor of 64, not 'tensor<8x2xi8>'}}
  %0 = tile.dot_scaled e2m1 %a scale %s : tensor<8x2xi8>, bf16 %b, %c : tensor<16x32xi8>, tensor<64x8xbf16> -> tensor<16x8xf32>
  return
}
