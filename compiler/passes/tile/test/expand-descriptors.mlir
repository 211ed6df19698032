// Accesses through descriptors become accesses through pointers under a mask; the results stay.
// RUN: nacre-opt %s --expand-descriptors | FileCheck %s
// RUN: nacre-opt %s --run=moves --args='f32[3x5]=iota,f32[4x8]=-1' | FileCheck %s --check-prefix=MOVES
// RUN: nacre-opt %s --expand-descriptors --canonicalize --cse --run=moves --args='f32[3x5]=iota,f32[4x8]=-1' | FileCheck %s --check-prefix=MOVES
// RUN: nacre-opt %s --engine=cpu --run=moves --args='f32[3x5]=iota,f32[4x8]=-1' | FileCheck %s --check-prefix=MOVES
// RUN: nacre-opt %s --run=carried --args='i32[4]=iota(1,1),i32[4]=iota(10,10),i32[8]=0,i32=3' | FileCheck %s --check-prefix=CARRIED
// RUN: nacre-opt %s --expand-descriptors --run=carried --args='i32[4]=iota(1,1),i32[4]=iota(10,10),i32[8]=0,i32=3' | FileCheck %s --check-prefix=CARRIED
// RUN: nacre-opt %s --engine=cpu --run=carried --args='i32[4]=iota(1,1),i32[4]=iota(10,10),i32[8]=0,i32=3' | FileCheck %s --check-prefix=CARRIED
// RUN: nacre-opt %s --run=rows --args='f32[4x3]=iota,f32[4x3]=0' | FileCheck %s --check-prefix=ROWS
// RUN: nacre-opt %s --expand-descriptors --run=rows --args='f32[4x3]=iota,f32[4x3]=0' | FileCheck %s --check-prefix=ROWS
// RUN: nacre-opt %s --engine=cpu --run=rows --args='f32[4x3]=iota,f32[4x3]=0' | FileCheck %s --check-prefix=ROWS

// What lies outside reads as NaN and is not written.
// MOVES: argument 1: f32[4x8]
// MOVES-NEXT: {{\[\[}} 6. 7. 8. 9. nan nan -1. -1.]
// MOVES-NEXT: [11. 12. 13. 14. nan nan -1. -1.]
// MOVES-NEXT: [nan nan nan nan nan nan -1. -1.]
// MOVES-NEXT: [-1. -1. -1. -1. -1. -1. -1. -1.]]
// CHECK-LABEL: func.func @moves
// CHECK-NOT: tile.descriptor
// CHECK: tile.load %{{.*}} mask %{{.*}} : tensor<4x8xi1> other %{{.*}} : tensor<4x8xf32>
// CHECK: tile.store %{{.*}}, %{{.*}} mask %{{.*}} : tensor<4x8xi1>
func.func @moves(%x: !tile.ptr<f32>, %out: !tile.ptr<f32>) attributes {tile.kernel} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %three = arith.constant 3 : i64
  %five = arith.constant 5 : i64
  %six = arith.constant 6 : i64
  %eight = arith.constant 8 : i64
  %from = tile.make_descriptor %x shape[%three, %five] strides[%five] padding nan : !tile.ptr<f32> -> !tile.descriptor<tensor<4x8xf32>>
  %to = tile.make_descriptor %out shape[%three, %six] strides[%eight] : !tile.ptr<f32> -> !tile.descriptor<tensor<4x8xf32>>
  %v = tile.descriptor_load %from[%one, %one] padding nan : !tile.descriptor<tensor<4x8xf32>> -> tensor<4x8xf32>
  tile.descriptor_store %to[%zero, %zero], %v : !tile.descriptor<tensor<4x8xf32>>, tensor<4x8xf32>
  return
}

// A descriptor that a loop and a branch carry: even rounds add from the first array, odd ones from the second.
// CARRIED: argument 2: i32[8]
// CARRIED-NEXT: [12 24 36 48 0 0 0 0]
// CHECK-LABEL: func.func @carried
// CHECK-NOT: tile.descriptor
// CHECK: scf.for {{.*}} -> (!tile.ptr<i32>, i64)
// CHECK: tile.atomic_rmw addi %{{.*}} {order = #tile<order relaxed>}
func.func @carried(%x: !tile.ptr<i32>, %y: !tile.ptr<i32>, %out: !tile.ptr<i32>, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0 : i64
  %four = arith.constant 4 : i64
  %a = tile.make_descriptor %x shape[%four] strides[] : !tile.ptr<i32> -> !tile.descriptor<tensor<8xi32>>
  %b = tile.make_descriptor %y shape[%four] strides[] : !tile.ptr<i32> -> !tile.descriptor<tensor<8xi32>>
  %to = tile.make_descriptor %out shape[%four] strides[] : !tile.ptr<i32> -> !tile.descriptor<tensor<8xi32>>
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%d = %a) -> (!tile.descriptor<tensor<8xi32>>) : i32 {
    %v = tile.descriptor_load %d[%zero] : !tile.descriptor<tensor<8xi32>> -> tensor<8xi32>
    tile.descriptor_reduce addi %to[%zero], %v : !tile.descriptor<tensor<8xi32>>, tensor<8xi32>
    %bit = arith.andi %i, %c1 : i32
    %isEven = arith.cmpi eq, %bit, %c0 : i32
    %next = scf.if %isEven -> (!tile.descriptor<tensor<8xi32>>) {
      scf.yield %b : !tile.descriptor<tensor<8xi32>>
    } else {
      scf.yield %a : !tile.descriptor<tensor<8xi32>>
    }
    scf.yield %next : !tile.descriptor<tensor<8xi32>>
  } {tile.num_stages = 2 : i32}
  return
}

// Rows 3, 0 and -3, of which the last is outside, become rows 1, 2 and 3.
// ROWS: argument 1: f32[4x3]
// ROWS-NEXT: {{\[\[}} 0. 0. 0.]
// ROWS-NEXT: [ 0. 10. 11.]
// ROWS-NEXT: [ 0. 1. 2.]
// ROWS-NEXT: [ 0. 0. 0.]]
// CHECK-LABEL: func.func @rows
// CHECK-NOT: tile.descriptor
func.func @rows(%x: !tile.ptr<f32>, %out: !tile.ptr<f32>) attributes {tile.kernel} {
  %one = arith.constant 1 : i64
  %three = arith.constant 3 : i64
  %four = arith.constant 4 : i64
  %from = tile.make_descriptor %x shape[%four, %three] strides[%three] : !tile.ptr<f32> -> !tile.descriptor<tensor<1x2xf32>>
  %to = tile.make_descriptor %out shape[%four, %three] strides[%three] : !tile.ptr<f32> -> !tile.descriptor<tensor<1x2xf32>>
  %lane = tile.arange 0 : tensor<3xi64>
  %threes = arith.constant dense<3> : tensor<3xi64>
  %down = arith.muli %lane, %threes : tensor<3xi64>
  %taken = arith.subi %threes, %down : tensor<3xi64>
  %given = tile.arange 1 : tensor<3xi32>
  %v = tile.descriptor_gather %from[%taken, %one] : !tile.descriptor<tensor<1x2xf32>>, tensor<3xi64> -> tensor<3x2xf32>
  tile.descriptor_scatter %to[%given, %one], %v : !tile.descriptor<tensor<1x2xf32>>, tensor<3xi32>, tensor<3x2xf32>
  return
}

// One that the host made is an argument for each field that arrives.
// CHECK-LABEL: func.func @host_made
// CHECK-SAME: (%[[BASE:.*]]: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %[[EXTENT:.*]]: i32, %[[STRIDE:.*]]: i64 {tile.divisibility = 8 : i64}, %[[N:.*]]: i64)
// CHECK-NOT: tile.descriptor
// CHECK: tile.addptr %[[BASE]]
// CHECK: tile.load
func.func @host_made(%d: !tile.descriptor<tensor<4x8xf16>> {tile.fields = [!tile.ptr<f16>, i32, 64 : i64, i64],
                     tile.field_divisibility = array<i64: 16, 1, 1, 8>}, %n: i64) attributes {tile.kernel} {
  %v = tile.descriptor_load %d[%n, %n] : !tile.descriptor<tensor<4x8xf16>> -> tensor<4x8xf16>
  %rows = tile.descriptor_extent %d 0 : !tile.descriptor<tensor<4x8xf16>>
  tile.descriptor_store %d[%rows, %n], %v : !tile.descriptor<tensor<4x8xf16>>, tensor<4x8xf16>
  return
}
