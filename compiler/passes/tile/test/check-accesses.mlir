// RUN: nacre-opt %s --check-accesses | FileCheck %s

// Each access is preceded by its check, with the argument that its pointer comes from.
// CHECK-LABEL: func.func @known
// CHECK: tile.check_access "load" %[[P:.*]] mask %[[M:.*]] : tensor<8xi1> {argument = 1 : i32} : tensor<8x!tile.ptr<f32>>
// CHECK-NEXT: tile.load %[[P]] mask %[[M]]
// CHECK: tile.check_access "store" %[[Q:.*]] {argument = 0 : i32, writes = true} : !tile.ptr<f32>
// CHECK-NEXT: tile.store %[[Q]]
func.func @known(%out: !tile.ptr<f32>, %in: !tile.ptr<f32>, %m: tensor<8xi1>, %v: f32) attributes {tile.kernel} {
  %lane = tile.arange 0 : tensor<8xi32>
  %base = tile.splat %in : !tile.ptr<f32> -> tensor<8x!tile.ptr<f32>>
  %p = tile.addptr %base, %lane : tensor<8x!tile.ptr<f32>>, tensor<8xi32>
  %x = tile.load %p mask %m : tensor<8xi1> : tensor<8x!tile.ptr<f32>> -> tensor<8xf32>
  tile.store %out, %v : !tile.ptr<f32>, f32
  return
}

// A pointer that two arguments may have given is checked against all arrays, one made of a number is not.
// CHECK-LABEL: func.func @unsure
// CHECK: tile.check_access "load" %{{.*}} {argument = -1 : i32} : !tile.ptr<f32>
// CHECK: tile.int_to_ptr
// CHECK-NOT: check_access
// CHECK: return
func.func @unsure(%a: !tile.ptr<f32>, %b: !tile.ptr<f32>, %c: i1, %n: i64) attributes {tile.kernel} {
  %p = arith.select %c, %a, %b : !tile.ptr<f32>
  %x = tile.load %p : !tile.ptr<f32> -> f32
  %q = tile.int_to_ptr %n : i64 -> !tile.ptr<f32>
  tile.store %q, %x : !tile.ptr<f32>, f32
  return
}
