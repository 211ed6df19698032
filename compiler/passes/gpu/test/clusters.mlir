// RUN: nacre-opt --assign-layouts --split-input-file %s | FileCheck %s

// A tile is shared out among the blocks of a cluster along its slowest axis.
// CHECK-DAG: #[[$L:.*]] = #simt.layout<"[1024] register a1 a2 lane a4 a8 a16 a32 a64 warp a128 a256 block a512">
// CHECK: module attributes {simt.lanes = 32 : i32, simt.num_ctas = 2 : i32, simt.num_warps = 4 : i32, tile.num_ctas = 2 : i32}
// CHECK-LABEL: func.func @add
// CHECK: tile.load {{.*}} {simt.vector = array<i32: 0, 4>} : tensor<1024x!tile.ptr<f32>, #[[$L]]> -> tensor<1024xf32, #[[$L]]>
// CHECK-NOT: simt.convert
// CHECK: tile.store {{.*}} {simt.vector = array<i32: 0, 4>}
module attributes {tile.num_ctas = 2 : i32} {
func.func @add(%x: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %z: !tile.ptr<f32> {tile.divisibility = 16 : i64})
    attributes {tile.kernel} {
  %i = tile.arange 0 : tensor<1024xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %value = tile.load %xp : tensor<1024x!tile.ptr<f32>> -> tensor<1024xf32>
  %sum = arith.addf %value, %value : tensor<1024xf32>
  %zs = tile.splat %z : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %zp = tile.addptr %zs, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  tile.store %zp, %sum : tensor<1024x!tile.ptr<f32>>, tensor<1024xf32>
  return
}
}

// -----

// Where columns are summed, the blocks have columns of their own: the axis that is reduced stays in one block.
// CHECK-DAG: #[[$IN:.*]] = #simt.layout<"[64, 128] {{.*}} block b64">
// CHECK-DAG: #[[$OUT:.*]] = #simt.layout<"[128] {{.*}} block a64">
// CHECK-LABEL: func.func @columns
// CHECK: tile.load {{.*}} -> tensor<64x128xf32, #[[$IN]]>
// CHECK: tile.reduce
// CHECK: tile.store {{.*}} tensor<128xf32, #[[$OUT]]>
module attributes {tile.num_ctas = 2 : i32} {
func.func @columns(%x: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %z: !tile.ptr<f32> {tile.divisibility = 16 : i64})
    attributes {tile.kernel} {
  %width = arith.constant dense<128> : tensor<64x1xi32>
  %rows = tile.arange 0 : tensor<64xi32>
  %row = tile.expand_dims %rows 1 : tensor<64xi32> -> tensor<64x1xi32>
  %begin = arith.muli %row, %width : tensor<64x1xi32>
  %j = tile.arange 0 : tensor<128xi32>
  %column = tile.expand_dims %j 0 : tensor<128xi32> -> tensor<1x128xi32>
  %begins = tile.broadcast %begin : tensor<64x1xi32> -> tensor<64x128xi32>
  %columns = tile.broadcast %column : tensor<1x128xi32> -> tensor<64x128xi32>
  %places = arith.addi %begins, %columns : tensor<64x128xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x128x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %places : tensor<64x128x!tile.ptr<f32>>, tensor<64x128xi32>
  %tile = tile.load %xp : tensor<64x128x!tile.ptr<f32>> -> tensor<64x128xf32>
  %sums = tile.reduce %tile axis 0 {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  } : (tensor<64x128xf32>) -> tensor<128xf32>
  %zs = tile.splat %z : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %zp = tile.addptr %zs, %j : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  tile.store %zp, %sums : tensor<128x!tile.ptr<f32>>, tensor<128xf32>
  return
}
}
