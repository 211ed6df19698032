// RUN: nacre-opt %s --pack-dots --print-plan | FileCheck %s

// Index arithmetic is recomputed where it is read; a costly value with two readers is computed once.
// CHECK-LABEL: func.func @fused
func.func @fused(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} {
  // CHECK: arith.addi {{.*}} {plan = "scalar"} : i32
  %m = arith.addi %n, %n : i32
  // CHECK: tile.arange 0 {plan = "virtual"}
  %i = tile.arange 0 : tensor<64xi32>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  // CHECK: tile.addptr {{.*}} {plan = "virtual"}
  %pp = tile.addptr %ps, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  // CHECK: tile.load {{.*}} {plan = "pinned, loops 0 along axis 0"}
  %x = tile.load %pp : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>
  // CHECK: math.exp {{.*}} {plan = "pinned, loops 0 along axis 0"}
  %e = math.exp %x : tensor<64xf32>
  // CHECK: arith.addf {{.*}} {plan = "virtual"}
  %s = arith.addf %e, %x : tensor<64xf32>
  %t = arith.mulf %e, %s : tensor<64xf32>
  %qs = tile.splat %q : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %qp = tile.addptr %qs, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  // CHECK: tile.store {{.*}} {plan = "pinned, loops 0 along axis 0"}
  tile.store %qp, %t : tensor<64x!tile.ptr<f32>>, tensor<64xf32>
  return
}

// What a dot packs is read by it; what a scan takes is computed before it, and lies as it may; combine functions have no plan of their own.
// CHECK-LABEL: func.func @products
func.func @products(%p: !tile.ptr<f32>) attributes {tile.kernel} {
  %i = tile.arange 0 : tensor<256xi32>
  %grid = tile.reshape %i {kept} : tensor<256xi32> -> tensor<16x16xi32>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  %pp = tile.addptr %ps, %grid : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
  // CHECK: tile.load {{.*}} {plan = "deferred"}
  %a = tile.load %pp : tensor<16x16x!tile.ptr<f32>> -> tensor<16x16xf32>
  // CHECK: tile.load {{.*}} {plan = "pinned, loops 0 along axis 1, in memory"}
  %b = tile.load %pp : tensor<16x16x!tile.ptr<f32>> -> tensor<16x16xf32>
  // CHECK: arith.mulf {{.*}} {plan = "pinned, loops 0 along axis 1, in memory"}
  %c = arith.mulf %b, %b : tensor<16x16xf32>
  // CHECK: cpu.rows {{.*}} plan = "standalone"}
  // CHECK: cpu.panels {{.*}} plan = "standalone"}
  // CHECK: cpu.multiply {{.*}} plan = "standalone"}
  %d = tile.dot %a, %b, %b : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  // CHECK: tile.scan
  // CHECK-NOT: plan
  // CHECK: } {plan = "standalone"}
  %running = tile.scan %c axis 0 {
  ^bb0(%left: f32, %right: f32):
    %sum = arith.addf %left, %right : f32
    tile.yield %sum : f32
  } : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %e = arith.addf %d, %running : tensor<16x16xf32>
  tile.store %pp, %e : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xf32>
  return
}
