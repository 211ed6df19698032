// RUN: nacre-opt %s --split-input-file --split-blocks=operations=4 | FileCheck %s

// A chain is cut where one value is alive. Each part has its own constants.
// CHECK-LABEL: func.func @chain(
// CHECK-SAME: %[[X:.*]]: vector<8xf32>)
// CHECK: %[[A:.*]] = call @chain.part(%[[X]]) : (vector<8xf32>) -> vector<8xf32>
// CHECK-NEXT: %[[B:.*]] = call @chain.part_0(%[[A]]) : (vector<8xf32>) -> vector<8xf32>
// CHECK: return
// CHECK: func.func private @chain.part(%{{.*}}: vector<8xf32>) -> vector<8xf32> attributes {llvm.linkage = #llvm.linkage<internal>, passthrough = ["noinline"]}
// CHECK-NEXT: arith.constant dense<2.0
// CHECK-NEXT: arith.mulf
func.func @chain(%x: vector<8xf32>) -> vector<8xf32> {
  %two = arith.constant dense<2.0> : vector<8xf32>
  %a = arith.mulf %x, %two : vector<8xf32>
  %b = arith.addf %a, %a : vector<8xf32>
  %c = arith.mulf %b, %two : vector<8xf32>
  %d = arith.addf %c, %c : vector<8xf32>
  %e = arith.mulf %d, %two : vector<8xf32>
  %f = arith.addf %e, %e : vector<8xf32>
  %g = arith.mulf %f, %two : vector<8xf32>
  %h = arith.addf %g, %g : vector<8xf32>
  return %h : vector<8xf32>
}

// -----

// Loads that all stand first move down to what adds them up, so that there is a place to cut; but past no store.
// CHECK-LABEL: func.func @loads(
// CHECK: call @loads.part(
// CHECK: func.func private @loads.part(
// CHECK-NEXT: llvm.load
// CHECK-NEXT: llvm.load
// CHECK-NEXT: arith.addf
// CHECK-NEXT: return
// CHECK: func.func private @loads.part_0(
// CHECK-NEXT: llvm.load
// CHECK-NEXT: arith.addf
func.func @loads(%p: !llvm.ptr) -> f32 {
  %a = llvm.load %p : !llvm.ptr -> f32
  %b = llvm.load %p : !llvm.ptr -> f32
  %c = llvm.load %p : !llvm.ptr -> f32
  %d = llvm.load %p : !llvm.ptr -> f32
  %e = llvm.load %p : !llvm.ptr -> f32
  %f = arith.addf %a, %b : f32
  %g = arith.addf %f, %c : f32
  %h = arith.addf %g, %d : f32
  %i = arith.addf %h, %e : f32
  return %i : f32
}

// -----

// CHECK-LABEL: func.func @store_between(
// CHECK: func.func private @store_between.part(
// CHECK-NEXT: %[[OLD:.*]] = llvm.load
// CHECK-NEXT: llvm.store
// CHECK-NEXT: return %[[OLD]]
func.func @store_between(%p: !llvm.ptr, %x: f32) -> f32 {
  %a = llvm.load %p : !llvm.ptr -> f32
  llvm.store %x, %p : f32, !llvm.ptr
  %b = arith.addf %a, %x : f32
  %c = arith.mulf %b, %b : f32
  %d = arith.mulf %c, %c : f32
  %e = arith.mulf %d, %d : f32
  %f = arith.mulf %e, %e : f32
  %g = arith.mulf %f, %f : f32
  %h = arith.mulf %g, %g : f32
  return %h : f32
}

// -----

// What is short stays whole.
// CHECK-LABEL: func.func @short(
// CHECK-NOT: call
func.func @short(%x: f32) -> f32 {
  %a = arith.mulf %x, %x : f32
  %b = arith.mulf %a, %a : f32
  return %b : f32
}

// -----

// A long block in loops that hold little besides.
// CHECK-LABEL: func.func @inside(
// CHECK: scf.for
// CHECK-NEXT: call @inside.part(
// CHECK-NEXT: call @inside.part_0(
func.func @inside(%p: !llvm.ptr, %n: i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  scf.for %i = %zero to %n step %one : i64 {
    %a = llvm.load %p : !llvm.ptr -> f32
    %b = arith.mulf %a, %a : f32
    %c = arith.mulf %b, %b : f32
    %d = arith.mulf %c, %c : f32
    %e = arith.mulf %d, %d : f32
    %f = arith.mulf %e, %e : f32
    %g = arith.mulf %f, %f : f32
    %h = arith.mulf %g, %g : f32
    llvm.store %h, %p : f32, !llvm.ptr
  }
  return
}
