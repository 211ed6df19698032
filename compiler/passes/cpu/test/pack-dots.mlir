// RUN: nacre-opt %s --split-input-file --pack-dots="vector-bytes=64 registers=32" | FileCheck %s
// RUN: nacre-opt %s --split-input-file --pack-dots="vector-bytes=32 registers=16" | FileCheck %s --check-prefix=NARROW
// RUN: nacre-opt %s --split-input-file --pack-dots="vector-bytes=64 registers=32 bf16-dot" | FileCheck %s --check-prefix=PAIRS
// RUN: nacre-opt %s --split-input-file --pack-dots="vector-bytes=64 registers=32 bf16-dot bf16-tiles" | FileCheck %s --check-prefix=TILES
// RUN: nacre-opt %s --split-input-file --pack-dots="vector-bytes=64 registers=32 int8-dot" | FileCheck %s --check-prefix=QUADS

// A panel has as many columns as the register block: four vectors of sixteen, or two of eight. Operands are multiplied as f32.
// CHECK: #[[BLOCKING:.*]] = #cpu.blocking<batch = 1, m = 32, n = 100, k = 8, operand = f32, sum = f32, lanes = 16, panel = 64, rows = 4, engine = vectors>
// CHECK-LABEL: func.func @widened
// CHECK: %[[ROWS:.*]] = cpu.rows %{{.*}} {blocking = #[[BLOCKING]]} : tensor<32x8xf16> -> tensor<32x8xf32>
// CHECK: %[[PANELS:.*]] = cpu.panels %{{.*}} {blocking = #[[BLOCKING]]} : tensor<8x100xf16> -> tensor<1x2x8x64xf32>
// CHECK: cpu.multiply %{{.*}} rows(%[[ROWS]] : tensor<32x8xf32>) panels(%[[PANELS]] : tensor<1x2x8x64xf32>) {blocking = #[[BLOCKING]]} : tensor<32x100xf32>
// CHECK-NOT: tile.dot
// NARROW: lanes = 8, panel = 16, rows = 6, engine = vectors
// NARROW-LABEL: func.func @widened
// NARROW: cpu.panels {{.*}} -> tensor<1x7x8x16xf32>
func.func @widened(%p: !tile.ptr<f16>, %q: !tile.ptr<f32>) attributes {tile.kernel} {
  %ap = tile.splat %p : !tile.ptr<f16> -> tensor<32x8x!tile.ptr<f16>>
  %bp = tile.splat %p : !tile.ptr<f16> -> tensor<8x100x!tile.ptr<f16>>
  %cp = tile.splat %q : !tile.ptr<f32> -> tensor<32x100x!tile.ptr<f32>>
  %c = tile.load %cp : tensor<32x100x!tile.ptr<f32>> -> tensor<32x100xf32>
  tile.store %cp, %c : tensor<32x100x!tile.ptr<f32>>, tensor<32x100xf32> // what follows a store is not kept
  %a = tile.load %ap : tensor<32x8x!tile.ptr<f16>> -> tensor<32x8xf16>
  %b = tile.load %bp : tensor<8x100x!tile.ptr<f16>> -> tensor<8x100xf16>
  %d = tile.dot %a, %b, %c : tensor<32x8xf16>, tensor<8x100xf16> -> tensor<32x100xf32>
  tile.store %cp, %d : tensor<32x100x!tile.ptr<f32>>, tensor<32x100xf32>
  return
}

// -----

// Pairs of bf16 lie side by side where the machine multiplies them so; tile registers take whole tiles.
// CHECK: operand = f32, sum = f32, {{.*}}, engine = vectors
// CHECK-LABEL: func.func @pairs
// PAIRS: operand = bf16, sum = f32, {{.*}}, engine = pairs
// PAIRS-LABEL: func.func @pairs
// PAIRS: cpu.rows {{.*}} -> tensor<32x64xbf16>
// PAIRS: cpu.panels {{.*}} -> tensor<1x1x32x64x2xbf16>
// TILES: engine = tiles
// TILES-LABEL: func.func @pairs
func.func @pairs(%p: !tile.ptr<bf16>, %q: !tile.ptr<f32>) attributes {tile.kernel} {
  %zero = arith.constant dense<0.0> : tensor<32x48xf32>
  %ap = tile.splat %p : !tile.ptr<bf16> -> tensor<32x64x!tile.ptr<bf16>>
  %bp = tile.splat %p : !tile.ptr<bf16> -> tensor<64x48x!tile.ptr<bf16>>
  %cp = tile.splat %q : !tile.ptr<f32> -> tensor<32x48x!tile.ptr<f32>>
  %a = tile.load %ap : tensor<32x64x!tile.ptr<bf16>> -> tensor<32x64xbf16>
  %b = tile.load %bp : tensor<64x48x!tile.ptr<bf16>> -> tensor<64x48xbf16>
  %d = tile.dot %a, %b, %zero : tensor<32x64xbf16>, tensor<64x48xbf16> -> tensor<32x48xf32>
  tile.store %cp, %d : tensor<32x48x!tile.ptr<f32>>, tensor<32x48xf32>
  return
}

// -----

// Operands are kept for later programs by what tells them apart: A by the address of its rows, B, which is the same for all, by
// nothing. A sum that only another dot reads is its own; a small sum is rounded once.
// CHECK-LABEL: func.func @chained
// CHECK: %[[ROW:.*]] = tile.addptr
// CHECK: %[[A:.*]] = cpu.rows %{{.*}} kept by(%[[ROW]] : !tile.ptr<f32>)
// CHECK: %[[B:.*]] = cpu.panels %{{.*}} kept {blocking
// CHECK: %[[C:.*]] = cpu.rows
// CHECK: %[[D:.*]] = cpu.panels
// CHECK: cpu.multiply %cst{{.*}} rows(%[[A]], %[[C]] : {{.*}}) panels(%[[B]], %[[D]] : {{.*}})
// CHECK-NOT: cpu.multiply
// CHECK: return
func.func @chained(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>) attributes {tile.kernel} {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %pid = tile.program_id 0
  %row = tile.addptr %p, %pid : !tile.ptr<f32>, i32
  %ap = tile.splat %row : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  %bp = tile.splat %q : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  %a = tile.load %ap : tensor<16x16x!tile.ptr<f32>> -> tensor<16x16xf32>
  %b = tile.load %bp : tensor<16x16x!tile.ptr<f32>> -> tensor<16x16xf32>
  %first = tile.dot %a, %b, %zero : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  %second = tile.dot %b, %a, %first : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  tile.store %bp, %second : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xf32>
  return
}

// -----

// With an atomic a program may learn of another's writes, so nothing is kept; a store between two dots keeps them apart.
// CHECK-LABEL: func.func @shared
// CHECK-NOT: kept
// CHECK: cpu.multiply
// CHECK: tile.store
// CHECK: cpu.multiply
// CHECK: return
func.func @shared(%p: !tile.ptr<f32>, %n: !tile.ptr<i32>, %one: i32) attributes {tile.kernel} {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  %a = tile.load %ps : tensor<16x16x!tile.ptr<f32>> -> tensor<16x16xf32>
  %first = tile.dot %a, %a, %a : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  tile.store %ps, %a : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xf32>
  %second = tile.dot %a, %a, %first : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  tile.store %ps, %second : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xf32>
  %old = tile.atomic_rmw addi %n, %one : !tile.ptr<i32>, i32 -> i32
  return
}

// -----

// Small sums are f32 while they are added to, and start from zero without a conversion.
// CHECK-LABEL: func.func @small
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
// CHECK: %[[SUM:.*]] = cpu.multiply %[[ZERO]]
// CHECK: %[[ROUNDED:.*]] = tile.fp_cast %[[SUM]] : tensor<16x16xf32> -> tensor<16x16xf16>
// CHECK: %[[START:.*]] = tile.fp_cast %[[ROUNDED]] : tensor<16x16xf16> -> tensor<16x16xf32>
// CHECK: cpu.multiply %[[START]]
func.func @small(%p: !tile.ptr<f16>) attributes {tile.kernel} {
  %zero = arith.constant dense<0.0> : tensor<16x16xf16>
  %ps = tile.splat %p : !tile.ptr<f16> -> tensor<16x16x!tile.ptr<f16>>
  %a = tile.load %ps : tensor<16x16x!tile.ptr<f16>> -> tensor<16x16xf16>
  %first = tile.dot %a, %a, %zero : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf16>
  %second = tile.dot %a, %a, %first : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf16>
  tile.store %ps, %second : tensor<16x16x!tile.ptr<f16>>, tensor<16x16xf16>
  return
}

// -----

// Quads of bytes lie side by side where the machine multiplies them so; not where k or the columns are no multiple of four.
// CHECK: operand = i32, sum = i32, {{.*}}, engine = vectors
// CHECK-LABEL: func.func @quads
// QUADS: operand = i8, sum = i32, lanes = 16, panel = 64, rows = 4, engine = quads
// QUADS: operand = i32, sum = i32, {{.*}}, engine = vectors
// QUADS-LABEL: func.func @quads
// QUADS: cpu.rows {{.*}} -> tensor<32x64xi8>
// QUADS: cpu.panels {{.*}} -> tensor<1x1x16x64x4xi8>
// QUADS: cpu.rows {{.*}} -> tensor<32x30xi32>
func.func @quads(%p: !tile.ptr<i8>, %q: !tile.ptr<i32>) attributes {tile.kernel} {
  %zero = arith.constant dense<0> : tensor<32x64xi32>
  %ap = tile.splat %p : !tile.ptr<i8> -> tensor<32x64x!tile.ptr<i8>>
  %bp = tile.splat %p : !tile.ptr<i8> -> tensor<64x64x!tile.ptr<i8>>
  %ep = tile.splat %p : !tile.ptr<i8> -> tensor<32x30x!tile.ptr<i8>>
  %fp = tile.splat %p : !tile.ptr<i8> -> tensor<30x64x!tile.ptr<i8>>
  %cp = tile.splat %q : !tile.ptr<i32> -> tensor<32x64x!tile.ptr<i32>>
  %a = tile.load %ap : tensor<32x64x!tile.ptr<i8>> -> tensor<32x64xi8>
  %b = tile.load %bp : tensor<64x64x!tile.ptr<i8>> -> tensor<64x64xi8>
  %d = tile.dot %a, %b, %zero : tensor<32x64xi8>, tensor<64x64xi8> -> tensor<32x64xi32>
  tile.store %cp, %d : tensor<32x64x!tile.ptr<i32>>, tensor<32x64xi32>
  %e = tile.load %ep : tensor<32x30x!tile.ptr<i8>> -> tensor<32x30xi8>
  %f = tile.load %fp : tensor<30x64x!tile.ptr<i8>> -> tensor<30x64xi8>
  %g = tile.dot %e, %f, %zero : tensor<32x30xi8>, tensor<30x64xi8> -> tensor<32x64xi32>
  tile.store %cp, %g : tensor<32x64x!tile.ptr<i32>>, tensor<32x64xi32>
  return
}
