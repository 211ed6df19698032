// RUN: nacre-opt %s --split-input-file --pack-dots="vector-bytes=64 registers=32" --lower-to-loops="vector-bytes=64 registers=32" | FileCheck %s

// Rows of a product at places that are numbered through rows of 28 pixels: most neighbours are neighbours in memory. Where
// the 16 of a step are, which is asked at run time, they are one masked load; else they are gathered.
// CHECK-LABEL: func.func @pixels(
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : vector<16xi64>
// CHECK: %[[EVEN:.*]] = vector.reduction <and>, %[[SAME]]
// CHECK: scf.if %[[EVEN]]
// CHECK:   llvm.intr.masked.load
// CHECK: } else {
// CHECK:   llvm.intr.masked.gather
// CHECK: vector.shuffle
func.func @pixels(%x: !tile.ptr<f32>, %w: !tile.ptr<f32>, %out: !tile.ptr<f32>, %places: i32) attributes {tile.kernel} {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %c28 = arith.constant dense<28> : tensor<16xi32>
  %c900 = arith.constant dense<900> : tensor<1x16xi32>
  %c16 = arith.constant 16 : i32
  %pid = tile.program_id 0
  %start = arith.muli %pid, %c16 : i32
  %i = tile.arange 0 : tensor<16xi32>
  %starts = tile.splat %start : i32 -> tensor<16xi32>
  %place = arith.addi %starts, %i : tensor<16xi32>
  %row = arith.divsi %place, %c28 : tensor<16xi32>
  %column = arith.remsi %place, %c28 : tensor<16xi32>
  %down = arith.muli %row, %c28 : tensor<16xi32>
  %pixel = arith.addi %down, %column : tensor<16xi32>
  %pixels = tile.expand_dims %pixel 1 : tensor<16xi32> -> tensor<16x1xi32>
  %channel = tile.expand_dims %i 0 : tensor<16xi32> -> tensor<1x16xi32>
  %plane = arith.muli %channel, %c900 : tensor<1x16xi32>
  %a0 = tile.broadcast %pixels : tensor<16x1xi32> -> tensor<16x16xi32>
  %a1 = tile.broadcast %plane : tensor<1x16xi32> -> tensor<16x16xi32>
  %offset = arith.addi %a0, %a1 : tensor<16x16xi32>
  %bound = tile.splat %places : i32 -> tensor<16xi32>
  %inside = arith.cmpi slt, %row, %bound : tensor<16xi32>
  %inside2 = tile.expand_dims %inside 1 : tensor<16xi1> -> tensor<16x1xi1>
  %mask = tile.broadcast %inside2 : tensor<16x1xi1> -> tensor<16x16xi1>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %offset : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
  %a = tile.load %xp mask %mask : tensor<16x16xi1> other %zero : tensor<16x16xf32> : tensor<16x16x!tile.ptr<f32>> -> tensor<16x16xf32>
  %across = tile.expand_dims %i 1 : tensor<16xi32> -> tensor<16x1xi32>
  %c16s = arith.constant dense<16> : tensor<16x1xi32>
  %rows = arith.muli %across, %c16s : tensor<16x1xi32>
  %b0 = tile.broadcast %rows : tensor<16x1xi32> -> tensor<16x16xi32>
  %b1 = tile.broadcast %channel : tensor<1x16xi32> -> tensor<16x16xi32>
  %square = arith.addi %b0, %b1 : tensor<16x16xi32>
  %ws = tile.splat %w : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  %wp = tile.addptr %ws, %square : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
  %b = tile.load %wp : tensor<16x16x!tile.ptr<f32>> -> tensor<16x16xf32>
  %sum = tile.dot %a, %b, %zero : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  %os = tile.splat %out : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  %op = tile.addptr %os, %square : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
  tile.store %op, %sum : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xf32>
  return
}

// -----

// Places that come from memory tell nothing: they are gathered along k.
// CHECK-LABEL: func.func @anywhere(
// CHECK-NOT: vector.reduction <and>
// CHECK: llvm.intr.masked.gather
// CHECK-NOT: vector.reduction <and>
// CHECK: return
func.func @anywhere(%x: !tile.ptr<f32>, %w: !tile.ptr<f32>, %out: !tile.ptr<f32>, %index: !tile.ptr<i32>) attributes {tile.kernel} {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %c900 = arith.constant dense<900> : tensor<1x16xi32>
  %i = tile.arange 0 : tensor<16xi32>
  %is = tile.splat %index : !tile.ptr<i32> -> tensor<16x!tile.ptr<i32>>
  %ip = tile.addptr %is, %i : tensor<16x!tile.ptr<i32>>, tensor<16xi32>
  %pixel = tile.load %ip : tensor<16x!tile.ptr<i32>> -> tensor<16xi32>
  %pixels = tile.expand_dims %pixel 1 : tensor<16xi32> -> tensor<16x1xi32>
  %channel = tile.expand_dims %i 0 : tensor<16xi32> -> tensor<1x16xi32>
  %plane = arith.muli %channel, %c900 : tensor<1x16xi32>
  %a0 = tile.broadcast %pixels : tensor<16x1xi32> -> tensor<16x16xi32>
  %a1 = tile.broadcast %plane : tensor<1x16xi32> -> tensor<16x16xi32>
  %offset = arith.addi %a0, %a1 : tensor<16x16xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %offset : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
  %a = tile.load %xp : tensor<16x16x!tile.ptr<f32>> -> tensor<16x16xf32>
  %across = tile.expand_dims %i 1 : tensor<16xi32> -> tensor<16x1xi32>
  %c16s = arith.constant dense<16> : tensor<16x1xi32>
  %rows = arith.muli %across, %c16s : tensor<16x1xi32>
  %b0 = tile.broadcast %rows : tensor<16x1xi32> -> tensor<16x16xi32>
  %b1 = tile.broadcast %channel : tensor<1x16xi32> -> tensor<16x16xi32>
  %square = arith.addi %b0, %b1 : tensor<16x16xi32>
  %ws = tile.splat %w : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  %wp = tile.addptr %ws, %square : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
  %b = tile.load %wp : tensor<16x16x!tile.ptr<f32>> -> tensor<16x16xf32>
  %sum = tile.dot %a, %b, %zero : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  %os = tile.splat %out : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  %op = tile.addptr %os, %square : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
  tile.store %op, %sum : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xf32>
  return
}
