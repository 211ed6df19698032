// RUN: nacre-opt --allow-unregistered-dialect --pass-pipeline='builtin.module(assign-layouts,func.func(order-accesses))' %s | FileCheck %s

// What was written before a loop is ordered once, before it.
// CHECK-LABEL: func.func @before_a_loop
// CHECK: tile.store
// CHECK: tile.barrier
// CHECK-NEXT: scf.for
// CHECK-NOT: tile.barrier
// CHECK: return
func.func @before_a_loop(%p: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %n: i32) attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %value = arith.constant dense<1.0> : tensor<1024xf32>
  %none = arith.constant 0.0 : f32
  %range = tile.arange 0 : tensor<1024xi32>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %pp = tile.addptr %ps, %range : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  tile.store %pp, %value : tensor<1024x!tile.ptr<f32>>, tensor<1024xf32>
  %sum = scf.for %i = %zero to %n step %one iter_args(%total = %none) -> (f32) : i32 {
    %q = tile.addptr %p, %i : !tile.ptr<f32>, i32
    %x = tile.load %q : !tile.ptr<f32> -> f32
    %next = arith.addf %total, %x : f32
    scf.yield %next : f32
  }
  "test.keep"(%sum) : (f32) -> ()
  return
}

// A loop that orders its own accesses may have no iteration: what was written before it is pending behind it.
// CHECK-LABEL: func.func @behind_a_loop
// CHECK: tile.store
// CHECK: scf.for
// CHECK: tile.barrier
// CHECK: }
// CHECK: tile.barrier
// CHECK-NEXT: tile.load {{.*}} : !tile.ptr<f32> -> f32
func.func @behind_a_loop(%p: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %n: i32) attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %value = arith.constant dense<1.0> : tensor<1024xf32>
  %range = tile.arange 0 : tensor<1024xi32>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %pp = tile.addptr %ps, %range : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  tile.store %pp, %value : tensor<1024x!tile.ptr<f32>>, tensor<1024xf32>
  scf.for %i = %zero to %n step %one : i32 {
    tile.barrier
  }
  %x = tile.load %p : !tile.ptr<f32> -> f32
  "test.keep"(%x) : (f32) -> ()
  return
}

// Threads that meet within an operation need not meet again.
// CHECK-LABEL: func.func @behind_a_reduction
// CHECK: tile.store
// CHECK-NOT: tile.barrier
// CHECK: return
func.func @behind_a_reduction(%p: !tile.ptr<f32> {tile.divisibility = 16 : i64}) attributes {tile.kernel} {
  %value = arith.constant dense<1.0> : tensor<1024xf32>
  %range = tile.arange 0 : tensor<1024xi32>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %pp = tile.addptr %ps, %range : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %x = tile.load %pp : tensor<1024x!tile.ptr<f32>> -> tensor<1024xf32>
  tile.store %pp, %value : tensor<1024x!tile.ptr<f32>>, tensor<1024xf32>
  %sum = "tile.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }) : (tensor<1024xf32>) -> f32
  %y = tile.load %p : !tile.ptr<f32> -> f32
  "test.keep"(%sum, %y) : (f32, f32) -> ()
  return
}

// One array in one layout, but other elements in each thread.
// CHECK-LABEL: func.func @backwards
// CHECK: tile.store
// CHECK: tile.barrier
// CHECK: tile.load
func.func @backwards(%p: !tile.ptr<f32> {tile.divisibility = 16 : i64}) attributes {tile.kernel} {
  %value = arith.constant dense<1.0> : tensor<1024xf32>
  %last = arith.constant dense<1023> : tensor<1024xi32>
  %range = tile.arange 0 : tensor<1024xi32>
  %back = arith.subi %last, %range : tensor<1024xi32>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %pp = tile.addptr %ps, %range : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %pq = tile.addptr %ps, %back : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  tile.store %pp, %value : tensor<1024x!tile.ptr<f32>>, tensor<1024xf32>
  %x = tile.load %pq : tensor<1024x!tile.ptr<f32>> -> tensor<1024xf32>
  %y = arith.negf %x : tensor<1024xf32>
  tile.store %pp, %y : tensor<1024x!tile.ptr<f32>>, tensor<1024xf32>
  return
}

// A barrier of the kernel's own shows what was written to the threads, not to copies: these need a fence, once.
// CHECK-LABEL: func.func @copied_behind_a_barrier
// CHECK: tile.store
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: simt.fence global
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: simt.load_box
// CHECK-NOT: simt.fence
// CHECK: return
func.func @copied_behind_a_barrier(%p: !tile.ptr<f32> {tile.divisibility = 16 : i64},
                                   %map: !simt.tensor_map<tensor<32x32xf32>> {simt.recipe = "type=f32 base=a0 shape=32,32 strides=32 box=32,32 swizzle=128"}) attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  %value = arith.constant dense<1.0> : tensor<1024xf32>
  %range = tile.arange 0 : tensor<1024xi32>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %pp = tile.addptr %ps, %range : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  tile.store %pp, %value : tensor<1024x!tile.ptr<f32>>, tensor<1024xf32>
  tile.barrier
  %x = simt.load_box %map[%zero, %zero] : !simt.tensor_map<tensor<32x32xf32>> -> tensor<32x32xf32>
  tile.barrier
  %y = simt.load_box %map[%zero, %zero] : !simt.tensor_map<tensor<32x32xf32>> -> tensor<32x32xf32>
  "test.keep"(%x, %y) : (tensor<32x32xf32>, tensor<32x32xf32>) -> ()
  return
}

// The same in a loop: one fence there, too.
// CHECK-LABEL: func.func @copied_in_a_loop
// CHECK: scf.for
// CHECK: simt.fence global
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: simt.load_box
// CHECK-NOT: simt.fence
// CHECK: return
func.func @copied_in_a_loop(%p: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %n: i32,
                            %map: !simt.tensor_map<tensor<32x32xf32>> {simt.recipe = "type=f32 base=a0 shape=32,32 strides=32 box=32,32 swizzle=128"}) attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %value = arith.constant dense<1.0> : tensor<1024xf32>
  %range = tile.arange 0 : tensor<1024xi32>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %pp = tile.addptr %ps, %range : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  scf.for %i = %zero to %n step %one : i32 {
    tile.store %pp, %value : tensor<1024x!tile.ptr<f32>>, tensor<1024xf32>
    tile.barrier
    %x = simt.load_box %map[%zero, %zero] : !simt.tensor_map<tensor<32x32xf32>> -> tensor<32x32xf32>
    "test.keep"(%x) : (tensor<32x32xf32>) -> ()
    tile.barrier
  }
  return
}
