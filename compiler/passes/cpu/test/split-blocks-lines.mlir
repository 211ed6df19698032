// RUN: nacre-opt %s --split-blocks=operations=4 --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// A call stands at the first line that is known of its part, else at the function's: LLVM refuses calls without one.
// CHECK-LABEL: func.func @lines(
// CHECK: call @lines.part({{.*}} loc("kernel.py":1:2)
// CHECK: call @lines.part_2({{.*}} loc("kernel.py":7:3)
// CHECK: func.func private @lines.part(
func.func @lines(%x: vector<8xf32>) -> vector<8xf32> {
  %two = arith.constant dense<2.0> : vector<8xf32> loc(unknown)
  %a = arith.mulf %x, %two : vector<8xf32> loc(unknown)
  %b = arith.addf %a, %a : vector<8xf32> loc(unknown)
  %c = arith.mulf %b, %two : vector<8xf32> loc(unknown)
  %d = arith.addf %c, %c : vector<8xf32> loc(unknown)
  %e = arith.mulf %d, %two : vector<8xf32> loc(unknown)
  %f = arith.addf %e, %e : vector<8xf32> loc("kernel.py":7:3)
  %g = arith.mulf %f, %two : vector<8xf32> loc(unknown)
  %h = arith.addf %g, %g : vector<8xf32> loc("kernel.py":9:3)
  return %h : vector<8xf32>
} loc("kernel.py":1:2)
