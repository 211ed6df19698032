// RUN: nacre-opt %s --divide-vectors | FileCheck %s

// One divisor for all lanes: its reciprocal, a little too large.
// CHECK-LABEL: func.func @remainder_by_a_scalar(
// CHECK-SAME: %[[X:.*]]: vector<16xi32>, %[[N:.*]]: i32
// CHECK: %[[Y:.*]] = vector.broadcast %[[N]]
// CHECK: %[[REAL:.*]] = arith.sitofp %[[N]] : i32 to f64
// CHECK: %[[INVERSE:.*]] = arith.divf %{{.*}}, %[[REAL]] : f64
// CHECK: %[[LARGER:.*]] = arith.mulf %[[INVERSE]], %{{.*}} : f64
// CHECK: %[[DIVIDEND:.*]] = arith.sitofp %[[X]] : vector<16xi32> to vector<16xf64>
// CHECK: %[[ALL:.*]] = vector.broadcast %[[LARGER]] : f64 to vector<16xf64>
// CHECK: %[[PRODUCT:.*]] = arith.mulf %[[DIVIDEND]], %[[ALL]]
// CHECK: %[[QUOTIENT:.*]] = arith.fptosi %[[PRODUCT]] : vector<16xf64> to vector<16xi32>
// CHECK: %[[WHOLE:.*]] = arith.muli %[[QUOTIENT]], %[[Y]]
// CHECK: %[[REST:.*]] = arith.subi %[[X]], %[[WHOLE]]
// CHECK: return %[[REST]]
func.func @remainder_by_a_scalar(%x: vector<16xi32>, %n: i32) -> vector<16xi32> {
  %y = vector.broadcast %n : i32 to vector<16xi32>
  %r = arith.remsi %x, %y : vector<16xi32>
  return %r : vector<16xi32>
}

// CHECK-LABEL: func.func @quotient_by_a_vector(
// CHECK: %[[A:.*]] = arith.uitofp %{{.*}} : vector<8xi32> to vector<8xf64>
// CHECK: %[[B:.*]] = arith.uitofp %{{.*}} : vector<8xi32> to vector<8xf64>
// CHECK: %[[Q:.*]] = arith.divf %[[A]], %[[B]]
// CHECK: arith.fptoui %[[Q]] : vector<8xf64> to vector<8xi32>
func.func @quotient_by_a_vector(%x: vector<8xi32>, %y: vector<8xi32>) -> vector<8xi32> {
  %q = arith.divui %x, %y : vector<8xi32>
  return %q : vector<8xi32>
}

// CHECK-LABEL: func.func @narrow(
// CHECK: arith.sitofp %{{.*}} : vector<32xi16> to vector<32xf32>
// CHECK: arith.fptosi %{{.*}} : vector<32xf32> to vector<32xi16>
func.func @narrow(%x: vector<32xi16>, %y: vector<32xi16>) -> vector<32xi16> {
  %q = arith.divsi %x, %y : vector<32xi16>
  return %q : vector<32xi16>
}

// LLVM multiplies by constants; f64 does not hold 64 bits; scalars have an instruction.
// CHECK-LABEL: func.func @kept(
// CHECK: arith.divsi %{{.*}} : vector<8xi32>
// CHECK: arith.remsi %{{.*}} : vector<8xi64>
// CHECK: arith.divui %{{.*}} : i32
func.func @kept(%x: vector<8xi32>, %y: vector<8xi64>, %s: i32, %t: i32) -> (vector<8xi32>, vector<8xi64>, i32) {
  %seven = arith.constant dense<7> : vector<8xi32>
  %a = arith.divsi %x, %seven : vector<8xi32>
  %b = arith.remsi %y, %y : vector<8xi64>
  %c = arith.divui %s, %t : i32
  return %a, %b, %c : vector<8xi32>, vector<8xi64>, i32
}
