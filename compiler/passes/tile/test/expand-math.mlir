// RUN: nacre-opt %s --expand-math --split-input-file | FileCheck %s

// One definition serves scalars, vectors and tensors; constants are splat to the operand's shape, no call is left.

// CHECK-LABEL: func @exp_scalar
// CHECK-NOT: math.exp
// CHECK: math.fma {{.*}} : f32
// CHECK: %[[SCALE_BITS:.*]] = arith.addi {{.*}} : i32
// CHECK: %[[SCALE:.*]] = arith.bitcast %[[SCALE_BITS]] : i32 to f32
// CHECK: arith.mulf %{{.*}}, %[[SCALE]] : f32
// CHECK-NOT: math.exp
// CHECK: return
func.func @exp_scalar(%x: f32) -> f32 {
  %y = math.exp %x : f32
  return %y : f32
}

// -----

// CHECK-LABEL: func @exp_vector
// CHECK-NOT: math.exp
// CHECK: arith.constant dense<{{.*}}> : vector<16xf32>
// CHECK: math.fma {{.*}} : vector<16xf32>
// CHECK: arith.bitcast {{.*}} : vector<16xi32> to vector<16xf32>
func.func @exp_vector(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.exp %x : vector<16xf32>
  return %y : vector<16xf32>
}

// -----

// CHECK-LABEL: func @log_tensor
// CHECK-NOT: math.log
// CHECK: arith.constant dense<{{.*}}> : tensor<4x8xf64>
// CHECK: math.fma {{.*}} : tensor<4x8xf64>
// CHECK: arith.select {{.*}} : tensor<4x8xi1>, tensor<4x8xf64>
func.func @log_tensor(%x: tensor<4x8xf64>) -> tensor<4x8xf64> {
  %y = math.log %x : tensor<4x8xf64>
  return %y : tensor<4x8xf64>
}

// -----

// Half precisions are computed in f32.

// CHECK-LABEL: func @tanh_half
// CHECK: arith.extf %{{.*}} : vector<8xf16> to vector<8xf32>
// CHECK-NOT: math.tanh
// CHECK: arith.truncf %{{.*}} : vector<8xf32> to vector<8xf16>
func.func @tanh_half(%x: vector<8xf16>) -> vector<8xf16> {
  %y = math.tanh %x : vector<8xf16>
  return %y : vector<8xf16>
}

// -----

// CHECK-LABEL: func @erf_bfloat
// CHECK: arith.extf %{{.*}} : tensor<8xbf16> to tensor<8xf32>
// CHECK-NOT: math.erf
// CHECK: arith.truncf %{{.*}} : tensor<8xf32> to tensor<8xbf16>
func.func @erf_bfloat(%x: tensor<8xbf16>) -> tensor<8xbf16> {
  %y = math.erf %x : tensor<8xbf16>
  return %y : tensor<8xbf16>
}

// -----

// The long reduction of huge angles is entered only when some lane needs it.

// CHECK-LABEL: func @sin_vector
// CHECK: %[[HUGE:.*]] = arith.cmpf ogt
// CHECK: %[[ANY:.*]] = vector.reduction <or>, %[[HUGE]] : vector<16xi1> into i1
// CHECK: scf.if %[[ANY]] -> (vector<16xi32>, vector<16xf32>, vector<16xf32>) {
// CHECK: arith.mului_extended
// CHECK: } else {
// CHECK-NEXT: scf.yield
// CHECK-NOT: math.sin
func.func @sin_vector(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.sin %x : vector<16xf32>
  return %y : vector<16xf32>
}

// -----

// CHECK-LABEL: func @cos_scalar
// CHECK: %[[HUGE:.*]] = arith.cmpf ogt
// CHECK: scf.if %[[HUGE]] -> (i64, f64, f64) {
// CHECK-NOT: math.cos
func.func @cos_scalar(%x: f64) -> f64 {
  %y = math.cos %x : f64
  return %y : f64
}

// -----

// CHECK-LABEL: func @tan_matrix
// CHECK: vector.shape_cast %{{.*}} : vector<2x8xi1> to vector<16xi1>
// CHECK: vector.reduction <or>, %{{.*}} : vector<16xi1> into i1
// CHECK-NOT: math.tan
func.func @tan_matrix(%x: vector<2x8xf32>) -> vector<2x8xf32> {
  %y = math.tan %x : vector<2x8xf32>
  return %y : vector<2x8xf32>
}

// -----

// A tensor cannot be asked whether any lane needs it: left for the target to expand on vectors.

// CHECK-LABEL: func @trigonometry_on_tensors
// CHECK: math.sin %{{.*}} : tensor<16xf32>
// CHECK: math.cos %{{.*}} : tensor<16xf32>
// CHECK: math.tan %{{.*}} : tensor<16xf32>
func.func @trigonometry_on_tensors(%x: tensor<16xf32>) -> tensor<16xf32> {
  %a = math.sin %x : tensor<16xf32>
  %b = math.cos %a : tensor<16xf32>
  %c = math.tan %b : tensor<16xf32>
  return %c : tensor<16xf32>
}

// -----

// CHECK-LABEL: func @every_other_function
// CHECK-NOT: math.{{(exp|log|sinh|cosh|tanh|asin|acos|atan|erf|pow|cbrt|rsqrt)}}
// CHECK: return
func.func @every_other_function(%x: vector<8xf64>) -> vector<8xf64> {
  %0 = math.exp2 %x : vector<8xf64>
  %1 = math.expm1 %0 : vector<8xf64>
  %2 = math.sinh %1 : vector<8xf64>
  %3 = math.cosh %2 : vector<8xf64>
  %4 = math.tanh %3 : vector<8xf64>
  %5 = math.log2 %4 : vector<8xf64>
  %6 = math.log10 %5 : vector<8xf64>
  %7 = math.log1p %6 : vector<8xf64>
  %8 = math.asin %7 : vector<8xf64>
  %9 = math.acos %8 : vector<8xf64>
  %10 = math.atan %9 : vector<8xf64>
  %11 = math.atan2 %10, %x : vector<8xf64>
  %12 = math.asinh %11 : vector<8xf64>
  %13 = math.acosh %12 : vector<8xf64>
  %14 = math.atanh %13 : vector<8xf64>
  %15 = math.erf %14 : vector<8xf64>
  %16 = math.erfc %15 : vector<8xf64>
  %17 = math.powf %16, %x : vector<8xf64>
  %18 = math.cbrt %17 : vector<8xf64>
  %19 = math.rsqrt %18 : vector<8xf64>
  return %19 : vector<8xf64>
}

// -----

// What machines have is left to them, and so is what is not a static shape of a supported type.

// CHECK-LABEL: func @left_alone
// CHECK: math.sqrt
// CHECK: math.floor
// CHECK: math.roundeven
// CHECK: math.absf
// CHECK: math.copysign
// CHECK: math.exp %{{.*}} : tensor<?xf32>
// CHECK: math.exp %{{.*}} : f128
func.func @left_alone(%x: f32, %d: tensor<?xf32>, %q: f128) -> (f32, tensor<?xf32>, f128) {
  %a = math.sqrt %x : f32
  %b = math.floor %a : f32
  %c = math.roundeven %b : f32
  %e = math.absf %c : f32
  %f = math.copysign %e, %x : f32
  %g = math.exp %d : tensor<?xf32>
  %h = math.exp %q : f128
  return %f, %g, %h : f32, tensor<?xf32>, f128
}
