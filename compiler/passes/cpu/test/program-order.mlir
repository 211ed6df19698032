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

// -----

// A block of 32 rows of 512 bytes: 32 neighbours along the rows take turns, a row each, and nothing is fetched ahead.
// CHECK-LABEL: func.func @rows(
// CHECK-NOT: llvm.intr.prefetch
// CHECK: cpu.turns = 32 : i64
func.func @rows(%x: !tile.ptr<f32>, %stride: i32) attributes {tile.kernel} {
  %down = tile.program_id 0
  %along = tile.program_id 1
  %c32 = arith.constant 32 : i32
  %c128 = arith.constant 128 : i32
  %top = arith.muli %down, %c32 : i32
  %left = arith.muli %along, %c128 : i32
  %i = tile.arange 0 : tensor<32xi32>
  %j = tile.arange 0 : tensor<128xi32>
  %tops = tile.splat %top : i32 -> tensor<32xi32>
  %lefts = tile.splat %left : i32 -> tensor<128xi32>
  %row = arith.addi %tops, %i : tensor<32xi32>
  %column = arith.addi %lefts, %j : tensor<128xi32>
  %strides = tile.splat %stride : i32 -> tensor<32xi32>
  %starts = arith.muli %row, %strides : tensor<32xi32>
  %starts2 = tile.expand_dims %starts 1 : tensor<32xi32> -> tensor<32x1xi32>
  %columns2 = tile.expand_dims %column 0 : tensor<128xi32> -> tensor<1x128xi32>
  %starts3 = tile.broadcast %starts2 : tensor<32x1xi32> -> tensor<32x128xi32>
  %columns3 = tile.broadcast %columns2 : tensor<1x128xi32> -> tensor<32x128xi32>
  %place = arith.addi %starts3, %columns3 : tensor<32x128xi32>
  %pointers = tile.splat %x : !tile.ptr<f32> -> tensor<32x128x!tile.ptr<f32>>
  %all = tile.addptr %pointers, %place : tensor<32x128x!tile.ptr<f32>>, tensor<32x128xi32>
  %value = tile.load %all : tensor<32x128x!tile.ptr<f32>> -> tensor<32x128xf32>
  %twice = arith.addf %value, %value : tensor<32x128xf32>
  tile.store %all, %twice : tensor<32x128x!tile.ptr<f32>>, tensor<32x128xf32>
  return
}

// -----

// What a program reads before its rows may not be read again for each of them: they do not take turns.
// CHECK-LABEL: func.func @reads_before(
// CHECK-NOT: cpu.turns
func.func @reads_before(%x: !tile.ptr<f32>, %n: !tile.ptr<i32>) attributes {tile.kernel} {
  %along = tile.program_id 0
  %stride = tile.load %n : !tile.ptr<i32> -> i32
  %c128 = arith.constant 128 : i32
  %left = arith.muli %along, %c128 : i32
  %i = tile.arange 0 : tensor<32xi32>
  %j = tile.arange 0 : tensor<128xi32>
  %lefts = tile.splat %left : i32 -> tensor<128xi32>
  %column = arith.addi %lefts, %j : tensor<128xi32>
  %strides = tile.splat %stride : i32 -> tensor<32xi32>
  %starts = arith.muli %i, %strides : tensor<32xi32>
  %starts2 = tile.expand_dims %starts 1 : tensor<32xi32> -> tensor<32x1xi32>
  %columns2 = tile.expand_dims %column 0 : tensor<128xi32> -> tensor<1x128xi32>
  %starts3 = tile.broadcast %starts2 : tensor<32x1xi32> -> tensor<32x128xi32>
  %columns3 = tile.broadcast %columns2 : tensor<1x128xi32> -> tensor<32x128xi32>
  %place = arith.addi %starts3, %columns3 : tensor<32x128xi32>
  %pointers = tile.splat %x : !tile.ptr<f32> -> tensor<32x128x!tile.ptr<f32>>
  %all = tile.addptr %pointers, %place : tensor<32x128x!tile.ptr<f32>>, tensor<32x128xi32>
  %value = tile.load %all : tensor<32x128x!tile.ptr<f32>> -> tensor<32x128xf32>
  tile.store %all, %value : tensor<32x128x!tile.ptr<f32>>, tensor<32x128xf32>
  return
}

// -----

// A tile that lies the other way is turned, in loops of its own.
// CHECK-LABEL: func.func @turned(
// CHECK-NOT: cpu.turns
func.func @turned(%x: !tile.ptr<f32>, %stride: i32) attributes {tile.kernel} {
  %along = tile.program_id 0
  %c32 = arith.constant 32 : i32
  %left = arith.muli %along, %c32 : i32
  %i = tile.arange 0 : tensor<32xi32>
  %j = tile.arange 0 : tensor<64xi32>
  %lefts = tile.splat %left : i32 -> tensor<32xi32>
  %row = arith.addi %lefts, %i : tensor<32xi32>
  %strides = tile.splat %stride : i32 -> tensor<64xi32>
  %starts = arith.muli %j, %strides : tensor<64xi32>
  %rows2 = tile.expand_dims %row 1 : tensor<32xi32> -> tensor<32x1xi32>
  %starts2 = tile.expand_dims %starts 0 : tensor<64xi32> -> tensor<1x64xi32>
  %rows3 = tile.broadcast %rows2 : tensor<32x1xi32> -> tensor<32x64xi32>
  %starts3 = tile.broadcast %starts2 : tensor<1x64xi32> -> tensor<32x64xi32>
  %place = arith.addi %rows3, %starts3 : tensor<32x64xi32>
  %pointers = tile.splat %x : !tile.ptr<f32> -> tensor<32x64x!tile.ptr<f32>>
  %all = tile.addptr %pointers, %place : tensor<32x64x!tile.ptr<f32>>, tensor<32x64xi32>
  %value = tile.load %all : tensor<32x64x!tile.ptr<f32>> -> tensor<32x64xf32>
  tile.store %all, %value : tensor<32x64x!tile.ptr<f32>>, tensor<32x64xf32>
  return
}
