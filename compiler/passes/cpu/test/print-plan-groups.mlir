// RUN: nacre-opt %s --split-input-file --print-plan | FileCheck %s

// A row is summed in one nest of loops; those of its reader read it again from the caller's memory, which nothing writes
// in between.
// CHECK-LABEL: func.func @read_again(
// CHECK: tile.load {{.*}} {plan = "pinned, loops 0 along axis 0, read again"}
// CHECK: {plan = "pinned, loops 0 along axis 0"} : (tensor<1024xf32>) -> f32
// CHECK: tile.store {{.*}} {plan = "pinned, loops 1 along axis 0"}
func.func @read_again(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %i = tile.arange 0 : tensor<1024xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %v = tile.load %xp : tensor<1024x!tile.ptr<f32>> -> tensor<1024xf32>
  %sum = tile.reduce %v axis 0 {
  ^bb0(%left: f32, %right: f32):
    %both = arith.addf %left, %right : f32
    tile.yield %both : f32
  } : (tensor<1024xf32>) -> f32
  %sums = tile.splat %sum : f32 -> tensor<1024xf32>
  %r = arith.subf %v, %sums : tensor<1024xf32>
  tile.store %yp, %r : tensor<1024x!tile.ptr<f32>>, tensor<1024xf32>
  return
}

// -----

// A store in between: the row is copied.
// CHECK-LABEL: func.func @copied(
// CHECK: tile.load {{.*}} {plan = "pinned, loops 0 along axis 0, in memory"}
// CHECK: {plan = "pinned, loops 0 along axis 0"} : (tensor<1024xf32>) -> f32
// CHECK: tile.store {{.*}} {plan = "scalar"}
// CHECK: tile.store {{.*}} {plan = "pinned, loops 1 along axis 0"}
func.func @copied(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %i = tile.arange 0 : tensor<1024xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %v = tile.load %xp : tensor<1024x!tile.ptr<f32>> -> tensor<1024xf32>
  %sum = tile.reduce %v axis 0 {
  ^bb0(%left: f32, %right: f32):
    %both = arith.addf %left, %right : f32
    tile.yield %both : f32
  } : (tensor<1024xf32>) -> f32
  tile.store %x, %sum : !tile.ptr<f32>, f32
  %sums = tile.splat %sum : f32 -> tensor<1024xf32>
  %r = arith.subf %v, %sums : tensor<1024xf32>
  tile.store %yp, %r : tensor<1024x!tile.ptr<f32>>, tensor<1024xf32>
  return
}

// -----

// A sum that a loop carries is written over the one that it replaces.
// CHECK-LABEL: func.func @carried(
// CHECK: tile.load {{.*}} {plan = "pinned, loops 0 along axis 0"}
// CHECK: arith.addf {{.*}} {plan = "pinned, loops 0 along axis 0, in place"}
// CHECK: tile.store {{.*}} {plan = "pinned, loops 1 along axis 0"}
func.func @carried(%x: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %start = arith.constant dense<0.0> : tensor<64xf32>
  %i = tile.arange 0 : tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %total = scf.for %k = %zero to %n step %one iter_args(%sum = %start) -> (tensor<64xf32>) : i32 {
    %ks = tile.splat %k : i32 -> tensor<64xi32>
    %p = tile.addptr %xp, %ks : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %v = tile.load %p : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>
    %next = arith.addf %sum, %v : tensor<64xf32>
    scf.yield %next : tensor<64xf32>
  }
  tile.store %xp, %total : tensor<64x!tile.ptr<f32>>, tensor<64xf32>
  return
}

// -----

// Rows become columns: the load is transposed on its way to scratch memory, and the lanes run along the store's columns.
// CHECK-LABEL: func.func @transposed(
// CHECK: tile.load {{.*}} {plan = "pinned, loops 0 along axis 0, first transposed from axis 1"}
// CHECK: tile.store {{.*}} {plan = "pinned, loops 0 along axis 0"}
func.func @transposed(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %i = tile.arange 0 : tensor<32xi32>
  %side = arith.constant dense<32> : tensor<32xi32>
  %far = arith.muli %i, %side : tensor<32xi32>
  %rows = tile.expand_dims %far 1 : tensor<32xi32> -> tensor<32x1xi32>
  %columns = tile.expand_dims %i 0 : tensor<32xi32> -> tensor<1x32xi32>
  %row = tile.broadcast %rows : tensor<32x1xi32> -> tensor<32x32xi32>
  %column = tile.broadcast %columns : tensor<1x32xi32> -> tensor<32x32xi32>
  %from = arith.addi %row, %column : tensor<32x32xi32>
  %near_rows = tile.expand_dims %i 1 : tensor<32xi32> -> tensor<32x1xi32>
  %far_columns = tile.expand_dims %far 0 : tensor<32xi32> -> tensor<1x32xi32>
  %near_row = tile.broadcast %near_rows : tensor<32x1xi32> -> tensor<32x32xi32>
  %far_column = tile.broadcast %far_columns : tensor<1x32xi32> -> tensor<32x32xi32>
  %to = arith.addi %near_row, %far_column : tensor<32x32xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<32x32x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %from : tensor<32x32x!tile.ptr<f32>>, tensor<32x32xi32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<32x32x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %to : tensor<32x32x!tile.ptr<f32>>, tensor<32x32xi32>
  %v = tile.load %xp : tensor<32x32x!tile.ptr<f32>> -> tensor<32x32xf32>
  tile.store %yp, %v : tensor<32x32x!tile.ptr<f32>>, tensor<32x32xf32>
  return
}

// -----

// A sum of rows is stored in columns: the lanes run along the rows, and the store is emitted by itself.
// CHECK-LABEL: func.func @transposed_store(
// CHECK: tile.load {{.*}} {plan = "pinned, loops 0 along axis 1, read again"}
// CHECK: tile.load {{.*}} {plan = "pinned, loops 0 along axis 1, read again"}
// CHECK: tile.store {{.*}} {plan = "pinned, by itself, transposed from axis 1 to axis 0"}
func.func @transposed_store(%x: !tile.ptr<f32>, %z: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %i = tile.arange 0 : tensor<32xi32>
  %side = arith.constant dense<32> : tensor<32xi32>
  %far = arith.muli %i, %side : tensor<32xi32>
  %rows = tile.expand_dims %far 1 : tensor<32xi32> -> tensor<32x1xi32>
  %columns = tile.expand_dims %i 0 : tensor<32xi32> -> tensor<1x32xi32>
  %row = tile.broadcast %rows : tensor<32x1xi32> -> tensor<32x32xi32>
  %column = tile.broadcast %columns : tensor<1x32xi32> -> tensor<32x32xi32>
  %from = arith.addi %row, %column : tensor<32x32xi32>
  %near_rows = tile.expand_dims %i 1 : tensor<32xi32> -> tensor<32x1xi32>
  %far_columns = tile.expand_dims %far 0 : tensor<32xi32> -> tensor<1x32xi32>
  %near_row = tile.broadcast %near_rows : tensor<32x1xi32> -> tensor<32x32xi32>
  %far_column = tile.broadcast %far_columns : tensor<1x32xi32> -> tensor<32x32xi32>
  %to = arith.addi %near_row, %far_column : tensor<32x32xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<32x32x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %from : tensor<32x32x!tile.ptr<f32>>, tensor<32x32xi32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<32x32x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %to : tensor<32x32x!tile.ptr<f32>>, tensor<32x32xi32>
  %zs = tile.splat %z : !tile.ptr<f32> -> tensor<32x32x!tile.ptr<f32>>
  %zp = tile.addptr %zs, %from : tensor<32x32x!tile.ptr<f32>>, tensor<32x32xi32>
  %a = tile.load %xp : tensor<32x32x!tile.ptr<f32>> -> tensor<32x32xf32>
  %c = tile.load %zp : tensor<32x32x!tile.ptr<f32>> -> tensor<32x32xf32>
  %v = arith.addf %a, %c : tensor<32x32xf32>
  tile.store %yp, %v : tensor<32x32x!tile.ptr<f32>>, tensor<32x32xf32>
  return
}

// -----

// Columns lie side by side: the lanes run along the first axis.
// CHECK-LABEL: func.func @columns(
// CHECK: tile.load {{.*}} {plan = "pinned, loops 0 along axis 0"}
// CHECK: {plan = "pinned, loops 0 along axis 0, in memory"} : (tensor<32x32xf32>) -> tensor<32xf32>
// CHECK: tile.store {{.*}} {plan = "pinned, loops 1 along axis 0"}
func.func @columns(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %i = tile.arange 0 : tensor<32xi32>
  %side = arith.constant dense<32> : tensor<32xi32>
  %far = arith.muli %i, %side : tensor<32xi32>
  %rows = tile.expand_dims %i 1 : tensor<32xi32> -> tensor<32x1xi32>
  %columns = tile.expand_dims %far 0 : tensor<32xi32> -> tensor<1x32xi32>
  %row = tile.broadcast %rows : tensor<32x1xi32> -> tensor<32x32xi32>
  %column = tile.broadcast %columns : tensor<1x32xi32> -> tensor<32x32xi32>
  %from = arith.addi %row, %column : tensor<32x32xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<32x32x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %from : tensor<32x32x!tile.ptr<f32>>, tensor<32x32xi32>
  %v = tile.load %xp : tensor<32x32x!tile.ptr<f32>> -> tensor<32x32xf32>
  %sum = tile.reduce %v axis 1 {
  ^bb0(%left: f32, %right: f32):
    %both = arith.addf %left, %right : f32
    tile.yield %both : f32
  } : (tensor<32x32xf32>) -> tensor<32xf32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %i : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
  tile.store %yp, %sum : tensor<32x!tile.ptr<f32>>, tensor<32xf32>
  return
}
