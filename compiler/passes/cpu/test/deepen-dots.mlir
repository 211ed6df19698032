// RUN: nacre-opt %s --deepen-dots="depth=64 f32-depth=128" --canonicalize --cse | FileCheck %s

// Two steps at a time, the second product going on with the first one's sums, then a loop for the step that may be left. A
// negative number of columns is none.
// CHECK-LABEL: func.func @sum
// CHECK: arith.maxsi
// CHECK: scf.for {{.*}} step %c64
// CHECK: [[FIRST:%.*]] = tile.dot
// CHECK: [[SECOND:%.*]] = tile.dot {{.*}}, [[FIRST]] :
// CHECK: scf.yield {{.*}}[[SECOND]]
// CHECK: scf.for {{.*}} step %c32
// CHECK: tile.dot
// CHECK-NOT: tile.dot
// CHECK: return
func.func @sum(%a: !tile.ptr<bf16>, %b: !tile.ptr<bf16>, %c: !tile.ptr<f32>, %columns: i32) attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 32 : i32
  %none = arith.constant dense<0.0> : tensor<16x16xf32>
  %sum = scf.for %k = %zero to %columns step %step iter_args(%running = %none) -> (tensor<16x16xf32>) : i32 {
    %pa = tile.addptr %a, %k : !tile.ptr<bf16>, i32
    %pb = tile.addptr %b, %k : !tile.ptr<bf16>, i32
    %sa = tile.splat %pa : !tile.ptr<bf16> -> tensor<16x32x!tile.ptr<bf16>>
    %sb = tile.splat %pb : !tile.ptr<bf16> -> tensor<32x16x!tile.ptr<bf16>>
    %va = tile.load %sa : tensor<16x32x!tile.ptr<bf16>> -> tensor<16x32xbf16>
    %vb = tile.load %sb : tensor<32x16x!tile.ptr<bf16>> -> tensor<32x16xbf16>
    %next = tile.dot %va, %vb, %running : tensor<16x32xbf16>, tensor<32x16xbf16> -> tensor<16x16xf32>
    scf.yield %next : tensor<16x16xf32>
  }
  %out = tile.splat %c : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  tile.store %out, %sum : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xf32>
  return
}

// A loop that writes memory keeps its steps.
// CHECK-LABEL: func.func @writes
// CHECK-COUNT-1: tile.dot
// CHECK-NOT: tile.dot
// CHECK: return
func.func @writes(%a: !tile.ptr<bf16>, %c: !tile.ptr<f32>, %columns: i32) attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 32 : i32
  %none = arith.constant dense<0.0> : tensor<32x32xf32>
  %out = tile.splat %c : !tile.ptr<f32> -> tensor<32x32x!tile.ptr<f32>>
  %sum = scf.for %k = %zero to %columns step %step iter_args(%running = %none) -> (tensor<32x32xf32>) : i32 {
    %pa = tile.addptr %a, %k : !tile.ptr<bf16>, i32
    %sa = tile.splat %pa : !tile.ptr<bf16> -> tensor<32x32x!tile.ptr<bf16>>
    %va = tile.load %sa : tensor<32x32x!tile.ptr<bf16>> -> tensor<32x32xbf16>
    %next = tile.dot %va, %va, %running : tensor<32x32xbf16>, tensor<32x32xbf16> -> tensor<32x32xf32>
    tile.store %out, %next : tensor<32x32x!tile.ptr<f32>>, tensor<32x32xf32>
    scf.yield %next : tensor<32x32xf32>
  }
  return
}

// Of f32 two steps of 64 or more are taken at a time.
// CHECK-LABEL: func.func @of_f32
// CHECK: scf.for {{.*}} step %c128
// CHECK-COUNT-2: tile.dot
// CHECK: scf.for {{.*}} step %c64
// CHECK: tile.dot
// CHECK-NOT: tile.dot
// CHECK: return
func.func @of_f32(%a: !tile.ptr<f32>, %b: !tile.ptr<f32>, %c: !tile.ptr<f32>, %columns: i32) attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 64 : i32
  %none = arith.constant dense<0.0> : tensor<16x16xf32>
  %sum = scf.for %k = %zero to %columns step %step iter_args(%running = %none) -> (tensor<16x16xf32>) : i32 {
    %pa = tile.addptr %a, %k : !tile.ptr<f32>, i32
    %pb = tile.addptr %b, %k : !tile.ptr<f32>, i32
    %sa = tile.splat %pa : !tile.ptr<f32> -> tensor<16x64x!tile.ptr<f32>>
    %sb = tile.splat %pb : !tile.ptr<f32> -> tensor<64x16x!tile.ptr<f32>>
    %va = tile.load %sa : tensor<16x64x!tile.ptr<f32>> -> tensor<16x64xf32>
    %vb = tile.load %sb : tensor<64x16x!tile.ptr<f32>> -> tensor<64x16xf32>
    %next = tile.dot %va, %vb, %running : tensor<16x64xf32>, tensor<64x16xf32> -> tensor<16x16xf32>
    scf.yield %next : tensor<16x16xf32>
  }
  %out = tile.splat %c : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  tile.store %out, %sum : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xf32>
  return
}

// CHECK-LABEL: func.func @of_f32_by_small_steps
// CHECK: tile.dot
// CHECK-NOT: tile.dot
// CHECK: return
func.func @of_f32_by_small_steps(%a: !tile.ptr<f32>, %b: !tile.ptr<f32>, %c: !tile.ptr<f32>, %columns: i32) attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 32 : i32
  %none = arith.constant dense<0.0> : tensor<16x16xf32>
  %sum = scf.for %k = %zero to %columns step %step iter_args(%running = %none) -> (tensor<16x16xf32>) : i32 {
    %pa = tile.addptr %a, %k : !tile.ptr<f32>, i32
    %pb = tile.addptr %b, %k : !tile.ptr<f32>, i32
    %sa = tile.splat %pa : !tile.ptr<f32> -> tensor<16x32x!tile.ptr<f32>>
    %sb = tile.splat %pb : !tile.ptr<f32> -> tensor<32x16x!tile.ptr<f32>>
    %va = tile.load %sa : tensor<16x32x!tile.ptr<f32>> -> tensor<16x32xf32>
    %vb = tile.load %sb : tensor<32x16x!tile.ptr<f32>> -> tensor<32x16xf32>
    %next = tile.dot %va, %vb, %running : tensor<16x32xf32>, tensor<32x16xf32> -> tensor<16x16xf32>
    scf.yield %next : tensor<16x16xf32>
  }
  %out = tile.splat %c : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  tile.store %out, %sum : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xf32>
  return
}
