// RUN: nacre-opt --assign-layouts --split-input-file %s | FileCheck %s

// Sixteen bytes a thread where addresses are aligned and the mask holds for all of them: one layout, no conversion.
// CHECK-DAG: #[[$L:.*]] = #simt.layout<"[1024] register a1 a2 a128 lane a4 a8 a16 a32 a64 warp a256 a512">
// CHECK: module attributes {simt.lanes = 32 : i32, simt.num_warps = 4 : i32}
// CHECK-LABEL: func.func @add
// CHECK: tile.load {{.*}} {simt.vector = array<i32: 0, 4>} : tensor<1024x!tile.ptr<f32>, #[[$L]]> -> tensor<1024xf32, #[[$L]]>
// CHECK: arith.addf {{.*}} : tensor<1024xf32, #[[$L]]>
// CHECK-NOT: simt.convert
// CHECK-NOT: tile.barrier
// CHECK: tile.store {{.*}} {simt.vector = array<i32: 0, 4>}
func.func @add(%x: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %z: !tile.ptr<f32> {tile.divisibility = 16 : i64},
               %n: i32 {tile.divisibility = 16 : i64}) attributes {tile.kernel} {
  %size = arith.constant 1024 : i32
  %id = tile.program_id 0
  %start = arith.muli %id, %size : i32
  %range = tile.arange 0 : tensor<1024xi32>
  %starts = tile.splat %start : i32 -> tensor<1024xi32>
  %i = arith.addi %starts, %range : tensor<1024xi32>
  %ns = tile.splat %n : i32 -> tensor<1024xi32>
  %inside = arith.cmpi slt, %i, %ns : tensor<1024xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %value = tile.load %xp mask %inside : tensor<1024xi1> : tensor<1024x!tile.ptr<f32>> -> tensor<1024xf32>
  %sum = arith.addf %value, %value : tensor<1024xf32>
  %zs = tile.splat %z : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %zp = tile.addptr %zs, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  tile.store %zp, %sum mask %inside : tensor<1024xi1> : tensor<1024x!tile.ptr<f32>>, tensor<1024xf32>
  return
}

// -----

// A transposed store is in the layout of its own addresses, behind one conversion, in which the threads that have read
// meet those that write.
// CHECK-LABEL: func.func @transpose
// CHECK: tile.load {{.*}}simt.vector = array<i32: 1, 4>
// CHECK: simt.convert
// CHECK-NOT: tile.barrier
// CHECK: tile.store {{.*}}simt.vector = array<i32: 0, 4>
func.func @transpose(%x: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %z: !tile.ptr<f32> {tile.divisibility = 16 : i64})
    attributes {tile.kernel} {
  %wide = arith.constant dense<64> : tensor<64x1xi32>
  %r = tile.arange 0 : tensor<64xi32>
  %rows = tile.expand_dims %r 1 : tensor<64xi32> -> tensor<64x1xi32>
  %columns = tile.expand_dims %r 0 : tensor<64xi32> -> tensor<1x64xi32>
  %scaled = arith.muli %rows, %wide : tensor<64x1xi32>
  %a = tile.broadcast %scaled : tensor<64x1xi32> -> tensor<64x64xi32>
  %b = tile.broadcast %columns : tensor<1x64xi32> -> tensor<64x64xi32>
  %there = arith.addi %a, %b : tensor<64x64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %there : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  %value = tile.load %xp : tensor<64x64x!tile.ptr<f32>> -> tensor<64x64xf32>
  %wideRow = arith.constant dense<64> : tensor<1x64xi32>
  %scaledColumns = arith.muli %columns, %wideRow : tensor<1x64xi32>
  %c = tile.broadcast %rows : tensor<64x1xi32> -> tensor<64x64xi32>
  %d = tile.broadcast %scaledColumns : tensor<1x64xi32> -> tensor<64x64xi32>
  %back = arith.addi %c, %d : tensor<64x64xi32>
  %zs = tile.splat %z : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %zp = tile.addptr %zs, %back : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %zp, %value : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>
  return
}
