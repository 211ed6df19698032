// RUN: nacre-opt %s --allow-unregistered-dialect --hoist-descriptors | FileCheck %s

// A descriptor that the host made: its fields are arguments, and its map is the last one. What the host's extents are is
// not known: along an axis with nothing in it the box lies behind the one element that its map has.
// CHECK-LABEL: func.func @host(
// CHECK-SAME: %{{.*}}: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %[[M:.*]]: i32, %[[N:.*]]: i32, %{{.*}}: i64 {tile.divisibility = 16 : i64}, %[[ROW:.*]]: i32, %[[COLUMN:.*]]: i32 {tile.divisibility = 16 : i64}, %[[MAP:.*]]: !simt.tensor_map<tensor<64x64xf16>> {simt.recipe = "type=f16 base=a0 shape=a1:s32,a2:s32 strides=a3 box=64,64 swizzle=128"})
// CHECK: %[[FIRST:.*]] = arith.select %{{.*}}, %c16_i32{{.*}}, %[[ROW]] : i32
// CHECK: %[[SECOND:.*]] = arith.select %{{.*}}, %c16_i32{{.*}}, %[[COLUMN]] : i32
// CHECK: simt.load_box %[[MAP]][%[[FIRST]], %[[SECOND]]] : !simt.tensor_map<tensor<64x64xf16>> -> tensor<64x64xf16>
func.func @host(%d: !tile.descriptor<tensor<64x64xf16>> {tile.fields = [!tile.ptr<f16>, i32, i32, i64], tile.field_divisibility = array<i64: 16, 1, 1, 16>},
                %row: i32, %column: i32 {tile.divisibility = 16 : i64}) attributes {tile.kernel} {
  %i = arith.extsi %row : i32 to i64
  %j = arith.extsi %column : i32 to i64
  %x = tile.descriptor_load %d[%i, %j] : !tile.descriptor<tensor<64x64xf16>> -> tensor<64x64xf16>
  "test.keep"(%x) : (tensor<64x64xf16>) -> ()
  return
}

// Expressions of arguments; extents that are known. Rows of more than 128 bytes are boxes side by side. Loads and stores
// share a map, a reduction of another type has its own, and so has a load that fills with NaN.
// CHECK-LABEL: func.func @made(
// CHECK-SAME: !simt.tensor_map<tensor<8x64xf32>> {simt.recipe = "type=f32 base=a0:256:4:*:+ shape=64,a1:s32 strides=a1:s32:64:*:s32 box=8,32 swizzle=128"}
// CHECK-SAME: !simt.tensor_map<tensor<8x64xf32>> {simt.recipe = "type=f32 base=a0:256:4:*:+ shape=64,a1:s32 strides=a1:s32:64:*:s32 box=8,32 swizzle=128 fill=nan"}
// CHECK: simt.load_box
// CHECK: simt.store_box
// CHECK: simt.store_box {{.*}} {kind = #tile<atomic addf>}
// CHECK: simt.load_box
func.func @made(%base: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %n: i32) attributes {tile.kernel} {
  %zero = arith.constant 0 : i64
  %rows = arith.constant 64 : i64
  %distance = arith.constant 256 : i32
  %factor = arith.constant 64 : i32
  %moved = tile.addptr %base, %distance : !tile.ptr<f32>, i32
  %columns = arith.extsi %n : i32 to i64
  %product = arith.muli %n, %factor : i32
  %stride = arith.extsi %product : i32 to i64
  %d = tile.make_descriptor %moved shape[%rows, %columns] strides[%stride] : !tile.ptr<f32> -> !tile.descriptor<tensor<8x64xf32>>
  %x = tile.descriptor_load %d[%zero, %zero] : !tile.descriptor<tensor<8x64xf32>> -> tensor<8x64xf32>
  tile.descriptor_store %d[%zero, %zero], %x : !tile.descriptor<tensor<8x64xf32>>, tensor<8x64xf32>
  tile.descriptor_reduce addf %d[%zero, %zero], %x : !tile.descriptor<tensor<8x64xf32>>, tensor<8x64xf32>
  %y = tile.descriptor_load %d[%zero, %zero] padding nan : !tile.descriptor<tensor<8x64xf32>> -> tensor<8x64xf32>
  "test.keep"(%y) : (tensor<8x64xf32>) -> ()
  return
}

// The smallest and largest of narrow floats are the hardware's too; those of wide ones are not.
// CHECK-LABEL: func.func @extremes
// CHECK: simt.store_box {{.*}} {kind = #tile<atomic maxf>}
// CHECK: simt.store_box {{.*}} {kind = #tile<atomic minf>}
// CHECK: tile.descriptor_reduce maxf
func.func @extremes(%half: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %brain: !tile.ptr<bf16> {tile.divisibility = 16 : i64},
                    %single: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %x: tensor<8x64xf16>, %y: tensor<8x64xbf16>,
                    %z: tensor<8x64xf32>) attributes {tile.kernel} {
  %zero = arith.constant 0 : i64
  %size = arith.constant 64 : i64
  %a = tile.make_descriptor %half shape[%size, %size] strides[%size] : !tile.ptr<f16> -> !tile.descriptor<tensor<8x64xf16>>
  tile.descriptor_reduce maxf %a[%zero, %zero], %x : !tile.descriptor<tensor<8x64xf16>>, tensor<8x64xf16>
  %b = tile.make_descriptor %brain shape[%size, %size] strides[%size] : !tile.ptr<bf16> -> !tile.descriptor<tensor<8x64xbf16>>
  tile.descriptor_reduce minf %b[%zero, %zero], %y : !tile.descriptor<tensor<8x64xbf16>>, tensor<8x64xbf16>
  %c = tile.make_descriptor %single shape[%size, %size] strides[%size] : !tile.ptr<f32> -> !tile.descriptor<tensor<8x64xf32>>
  tile.descriptor_reduce maxf %c[%zero, %zero], %z : !tile.descriptor<tensor<8x64xf32>>, tensor<8x64xf32>
  return
}

// What is not proved, and what the hardware does not do, each with its reason.
// CHECK-LABEL: func.func @reasons
// CHECK-NOT: simt.load_box
// CHECK: tile.descriptor_load {{.*}} {simt.pointers = "its base is not known to be aligned to 16 bytes"}
// CHECK: tile.descriptor_load {{.*}} {simt.pointers = "the stride of axis 0 is not known to be a multiple of 16 bytes"}
// CHECK: tile.descriptor_load {{.*}} {simt.pointers = "the offset along the last axis is not known to be a multiple of 16 bytes"}
// CHECK: tile.descriptor_load {{.*}} {simt.pointers = "the extent of axis 0 is not known to fit into 32 bits"}
// CHECK: tile.descriptor_load {{.*}} {simt.pointers = "the offset along axis 0 is not known to fit into 32 bits"}
// CHECK: tile.descriptor_load {{.*}} {simt.pointers = "a row of its block has 8 bytes, less than a copy takes"}
// CHECK: tile.descriptor_load {{.*}} {simt.pointers = "its base is not computed from the arguments alone"}
// CHECK: tile.descriptor_gather {{.*}} {simt.pointers = "the hardware copies boxes, not rows one by one"}
func.func @reasons(%base: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %other: !tile.ptr<f32>, %m: i64, %n: i32 {tile.divisibility = 16 : i64},
                   %odd: i32, %pointers: !tile.ptr<!tile.ptr<f32>>, %rows: tensor<8xi64>) attributes {tile.kernel} {
  %zero = arith.constant 0 : i64
  %size = arith.constant 64 : i64
  %stride = arith.extsi %n : i32 to i64
  %unknown = arith.extsi %odd : i32 to i64
  %d0 = tile.make_descriptor %other shape[%size, %size] strides[%stride] : !tile.ptr<f32> -> !tile.descriptor<tensor<8x8xf32>>
  %x0 = tile.descriptor_load %d0[%zero, %zero] : !tile.descriptor<tensor<8x8xf32>> -> tensor<8x8xf32>
  %d1 = tile.make_descriptor %base shape[%size, %size] strides[%unknown] : !tile.ptr<f32> -> !tile.descriptor<tensor<8x8xf32>>
  %x1 = tile.descriptor_load %d1[%zero, %zero] : !tile.descriptor<tensor<8x8xf32>> -> tensor<8x8xf32>
  %d2 = tile.make_descriptor %base shape[%size, %size] strides[%stride] : !tile.ptr<f32> -> !tile.descriptor<tensor<8x8xf32>>
  %x2 = tile.descriptor_load %d2[%zero, %unknown] : !tile.descriptor<tensor<8x8xf32>> -> tensor<8x8xf32>
  %d3 = tile.make_descriptor %base shape[%m, %size] strides[%stride] : !tile.ptr<f32> -> !tile.descriptor<tensor<8x8xf32>>
  %x3 = tile.descriptor_load %d3[%zero, %zero] : !tile.descriptor<tensor<8x8xf32>> -> tensor<8x8xf32>
  %x4 = tile.descriptor_load %d2[%m, %zero] : !tile.descriptor<tensor<8x8xf32>> -> tensor<8x8xf32>
  %d5 = tile.make_descriptor %base shape[%size, %size] strides[%stride] : !tile.ptr<f32> -> !tile.descriptor<tensor<8x2xf32>>
  %x5 = tile.descriptor_load %d5[%zero, %zero] : !tile.descriptor<tensor<8x2xf32>> -> tensor<8x2xf32>
  %loaded = tile.load %pointers : !tile.ptr<!tile.ptr<f32>> -> !tile.ptr<f32>
  %d6 = tile.make_descriptor %loaded shape[%size, %size] strides[%stride] : !tile.ptr<f32> -> !tile.descriptor<tensor<8x8xf32>>
  %x6 = tile.descriptor_load %d6[%zero, %zero] : !tile.descriptor<tensor<8x8xf32>> -> tensor<8x8xf32>
  %d7 = tile.make_descriptor %base shape[%size, %size] strides[%stride] : !tile.ptr<f32> -> !tile.descriptor<tensor<1x8xf32>>
  %x7 = tile.descriptor_gather %d7[%rows, %zero] : !tile.descriptor<tensor<1x8xf32>>, tensor<8xi64> -> tensor<8x8xf32>
  return
}
