// RUN: nacre-opt %s --split-input-file --lower-to-loops="vector-bytes=64 registers=32" | FileCheck %s

// x moves down the rows, whose length the launch knows, and y along them: y runs fastest.
// CHECK-LABEL: func.func @along_y(
// CHECK: scf.forall (%[[FIRST:.*]], %[[SECOND:.*]], %{{.*}}) in
// CHECK: %[[Y:.*]] = arith.index_cast %[[FIRST]]
// CHECK: %[[X:.*]] = arith.index_cast %[[SECOND]]
// CHECK: arith.muli %[[Y]], %c128_i32
// CHECK: arith.muli %[[X]], %{{.*}}
func.func @along_y(%x: !tile.ptr<f32>, %stride: i32) attributes {tile.kernel} {
  %row = tile.program_id 0
  %column = tile.program_id 1
  %c128 = arith.constant 128 : i32
  %start = arith.muli %column, %c128 : i32
  %offset = arith.muli %row, %stride : i32
  %base = tile.addptr %x, %offset : !tile.ptr<f32>, i32
  %first = tile.addptr %base, %start : !tile.ptr<f32>, i32
  %pointers = tile.splat %first : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %place = tile.arange 0 : tensor<128xi32>
  %all = tile.addptr %pointers, %place : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %value = tile.load %all : tensor<128x!tile.ptr<f32>> -> tensor<128xf32>
  tile.store %all, %value : tensor<128x!tile.ptr<f32>>, tensor<128xf32>
  return
}

// -----

// x moves along the rows already.
// CHECK-LABEL: func.func @along_x(
// CHECK: scf.forall (%[[FIRST:.*]], %{{.*}}, %{{.*}}) in
// CHECK: %[[X:.*]] = arith.index_cast %[[FIRST]]
// CHECK: arith.muli %[[X]], %c128_i32
func.func @along_x(%x: !tile.ptr<f32>, %stride: i32) attributes {tile.kernel} {
  %row = tile.program_id 1
  %column = tile.program_id 0
  %c128 = arith.constant 128 : i32
  %start = arith.muli %column, %c128 : i32
  %offset = arith.muli %row, %stride : i32
  %base = tile.addptr %x, %offset : !tile.ptr<f32>, i32
  %first = tile.addptr %base, %start : !tile.ptr<f32>, i32
  %pointers = tile.splat %first : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %place = tile.arange 0 : tensor<128xi32>
  %all = tile.addptr %pointers, %place : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %value = tile.load %all : tensor<128x!tile.ptr<f32>> -> tensor<128xf32>
  tile.store %all, %value : tensor<128x!tile.ptr<f32>>, tensor<128xf32>
  return
}

// -----

// What programs print stands in the order of their numbers.
// CHECK-LABEL: func.func @seen(
// CHECK: scf.forall (%{{.*}}, %[[SECOND:.*]], %{{.*}}) in
// CHECK: %[[Y:.*]] = arith.index_cast %[[SECOND]]
// CHECK: arith.muli %[[Y]], %c128_i32
func.func @seen(%x: !tile.ptr<f32>, %stride: i32) attributes {tile.kernel} {
  %row = tile.program_id 0
  %column = tile.program_id 1
  %c128 = arith.constant 128 : i32
  %start = arith.muli %column, %c128 : i32
  %offset = arith.muli %row, %stride : i32
  %base = tile.addptr %x, %offset : !tile.ptr<f32>, i32
  %first = tile.addptr %base, %start : !tile.ptr<f32>, i32
  %pointers = tile.splat %first : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %place = tile.arange 0 : tensor<128xi32>
  %all = tile.addptr %pointers, %place : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %value = tile.load %all : tensor<128x!tile.ptr<f32>> -> tensor<128xf32>
  tile.store %all, %value : tensor<128x!tile.ptr<f32>>, tensor<128xf32>
  tile.print "row" %row : i32 {isSigned = array<i1: true>}
  return
}
