// RUN: nacre-opt %s --scalarize-carried --canonicalize | FileCheck %s

// A tile of pointers that moves by one amount is carried as that amount.
// CHECK-LABEL: func.func @moves
// CHECK: %[[INIT:.*]] = tile.addptr
// CHECK: scf.for {{.*}} iter_args(%[[OFFSET:.*]] = %{{.*}}) -> (i64)
// CHECK:   %[[SPREAD:.*]] = tile.splat %[[OFFSET]] : i64 -> tensor<8xi64>
// CHECK:   tile.addptr %[[INIT]], %[[SPREAD]]
// CHECK:   %[[NEXT:.*]] = arith.addi %[[OFFSET]]
// CHECK:   scf.yield %[[NEXT]] : i64
func.func @moves(%p: !tile.ptr<f32>, %step: i32, %n: i32) attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %lane = tile.arange 0 : tensor<8xi32>
  %base = tile.splat %p : !tile.ptr<f32> -> tensor<8x!tile.ptr<f32>>
  %init = tile.addptr %base, %lane : tensor<8x!tile.ptr<f32>>, tensor<8xi32>
  %steps = tile.splat %step : i32 -> tensor<8xi32>
  %end = scf.for %i = %zero to %n step %one iter_args(%t = %init) -> (tensor<8x!tile.ptr<f32>>) : i32 {
    %v = tile.load %t : tensor<8x!tile.ptr<f32>> -> tensor<8xf32>
    %w = arith.addf %v, %v : tensor<8xf32>
    tile.store %t, %w : tensor<8x!tile.ptr<f32>>, tensor<8xf32>
    %next = tile.addptr %t, %steps : tensor<8x!tile.ptr<f32>>, tensor<8xi32>
    scf.yield %next : tensor<8x!tile.ptr<f32>>
  }
  return
}

// One that moves differently in each element stays a tile.
// CHECK-LABEL: func.func @spreads
// CHECK: iter_args({{.*}}) -> (tensor<8x!tile.ptr<f32>>)
func.func @spreads(%p: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %lane = tile.arange 0 : tensor<8xi32>
  %base = tile.splat %p : !tile.ptr<f32> -> tensor<8x!tile.ptr<f32>>
  %end = scf.for %i = %zero to %n step %one iter_args(%t = %base) -> (tensor<8x!tile.ptr<f32>>) : i32 {
    %v = arith.constant dense<1.0> : tensor<8xf32>
    tile.store %t, %v : tensor<8x!tile.ptr<f32>>, tensor<8xf32>
    %next = tile.addptr %t, %lane : tensor<8x!tile.ptr<f32>>, tensor<8xi32>
    scf.yield %next : tensor<8x!tile.ptr<f32>>
  }
  return
}

// One that moves by the loop's own index.
// CHECK-LABEL: func.func @moves_by_the_index
// CHECK: scf.for %[[INDEX:.*]] = {{.*}} iter_args(%[[OFFSET:.*]] = %{{.*}}) -> (i32)
// CHECK:   %[[NEXT:.*]] = arith.addi %[[OFFSET]], %[[INDEX]]
// CHECK:   scf.yield %[[NEXT]] : i32
func.func @moves_by_the_index(%p: !tile.ptr<i32>, %n: i32) attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %lane = tile.arange 0 : tensor<8xi32>
  %end = scf.for %i = %zero to %n step %one iter_args(%t = %lane) -> (tensor<8xi32>) : i32 {
    %spread = tile.splat %i : i32 -> tensor<8xi32>
    %next = arith.addi %t, %spread : tensor<8xi32>
    scf.yield %next : tensor<8xi32>
  }
  %base = tile.splat %p : !tile.ptr<i32> -> tensor<8x!tile.ptr<i32>>
  %places = tile.addptr %base, %lane : tensor<8x!tile.ptr<i32>>, tensor<8xi32>
  tile.store %places, %end : tensor<8x!tile.ptr<i32>>, tensor<8xi32>
  return
}
