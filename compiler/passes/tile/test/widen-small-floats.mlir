// RUN: nacre-opt %s --widen-small-floats | FileCheck %s
// RUN: nacre-opt %s --widen-small-floats=f16=true | FileCheck %s --check-prefix=F16
// RUN: nacre-opt %s --run=sums --args='f16[4]={1,2,0.5,8},f16[4]=0' | FileCheck %s --check-prefix=SUMS
// RUN: nacre-opt %s --widen-small-floats --canonicalize --run=sums --args='f16[4]={1,2,0.5,8},f16[4]=0' | FileCheck %s --check-prefix=SUMS

// CHECK-LABEL: func.func @arithmetic
// F16-LABEL: func.func @arithmetic
func.func @arithmetic(%x: tensor<4xf16>, %b: tensor<4xbf16>, %q: tensor<4xf8E5M2>, %m: tensor<4xi1>) -> tensor<4xf16> {
  // CHECK: %[[X:.*]] = arith.extf %arg0 : tensor<4xf16> to tensor<4xf32>
  // CHECK: %[[SUM:.*]] = arith.addf %[[X]], %{{.*}} fastmath<arcp> : tensor<4xf32>
  // CHECK: arith.truncf %[[SUM]] : tensor<4xf32> to tensor<4xf16>
  // F16: arith.addf %arg0, %arg0 fastmath<arcp> : tensor<4xf16>
  %sum = arith.addf %x, %x fastmath<arcp> : tensor<4xf16>
  // CHECK: arith.cmpf olt, %{{.*}}, %{{.*}} : tensor<4xf32>
  // F16: arith.cmpf olt, %{{.*}}, %{{.*}} : tensor<4xf32>
  %less = arith.cmpf olt, %b, %b : tensor<4xbf16>
  // CHECK: %[[Q:.*]] = tile.fp_cast %arg2 : tensor<4xf8E5M2> -> tensor<4xf32>
  // CHECK: %[[EXP:.*]] = math.exp %[[Q]] : tensor<4xf32>
  // CHECK: tile.fp_cast %[[EXP]] : tensor<4xf32> -> tensor<4xf8E5M2>
  %e = math.exp %q : tensor<4xf8E5M2>
  // CHECK: arith.fptosi %{{.*}} : tensor<4xf32> to tensor<4xi32>
  %i = arith.fptosi %e : tensor<4xf8E5M2> to tensor<4xi32>
  // CHECK: %[[N:.*]] = arith.sitofp %{{.*}} : tensor<4xi32> to tensor<4xf32>
  // CHECK: arith.truncf %[[N]] : tensor<4xf32> to tensor<4xf16>
  %n = arith.sitofp %i : tensor<4xi32> to tensor<4xf16>
  // What only hands values on stays.
  // CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<4xi1>, tensor<4xf16>
  %s = arith.select %less, %sum, %n : tensor<4xi1>, tensor<4xf16>
  return %s : tensor<4xf16>
}

// CHECK-LABEL: func.func @sums
// CHECK: tile.reduce
// CHECK: ^bb0(%[[LEFT:.*]]: f16, %[[RIGHT:.*]]: f16):
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: tile.yield %{{.*}} : f16
// SUMS: argument 1: f16[4]
// SUMS-NEXT: {{\[ *}}12.5 13.5 12. 19.5]
func.func @sums(%p: !tile.ptr<f16>, %out: !tile.ptr<f16>) attributes {tile.kernel} {
  %i = tile.arange 0 : tensor<4xi32>
  %ps = tile.splat %p : !tile.ptr<f16> -> tensor<4x!tile.ptr<f16>>
  %pp = tile.addptr %ps, %i : tensor<4x!tile.ptr<f16>>, tensor<4xi32>
  %x = tile.load %pp : tensor<4x!tile.ptr<f16>> -> tensor<4xf16>
  %total = tile.reduce %x axis 0 {
  ^bb0(%left: f16, %right: f16):
    %sum = arith.addf %left, %right : f16
    tile.yield %sum : f16
  } : (tensor<4xf16>) -> f16
  %totals = tile.splat %total : f16 -> tensor<4xf16>
  %y = arith.addf %totals, %x : tensor<4xf16>
  %os = tile.splat %out : !tile.ptr<f16> -> tensor<4x!tile.ptr<f16>>
  %op = tile.addptr %os, %i : tensor<4x!tile.ptr<f16>>, tensor<4xi32>
  tile.store %op, %y : tensor<4x!tile.ptr<f16>>, tensor<4xf16>
  return
}
