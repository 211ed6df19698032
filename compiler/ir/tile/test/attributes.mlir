// The dialect's attributes on other dialects' operations: read, printed, and refused where they do not belong.
// RUN: nacre-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK: module attributes {tile.enable_fp_fusion = false, tile.launch_pdl, tile.maxnreg = 128 : i32, tile.num_ctas = 1 : i32,
// CHECK-SAME: tile.num_stages = 3 : i32, tile.num_warps = 8 : i32}
module attributes {tile.num_warps = 8 : i32, tile.num_stages = 3 : i32, tile.num_ctas = 1 : i32, tile.maxnreg = 128 : i32,
                   tile.enable_fp_fusion = false, tile.launch_pdl} {
  // CHECK: func.func @kernel(%{{.*}}: i32 {tile.divisibility = 16 : i64}) attributes {tile.kernel}
  func.func @kernel(%n: i32 {tile.divisibility = 16 : i64}) attributes {tile.kernel} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // CHECK: } {tile.disallow_acc_multi_buffer, tile.loop_unroll_factor = 2 : i32, tile.num_stages = 4 : i32, tile.warp_specialize}
    scf.for %i = %c0 to %n step %c1 : i32 {
      tile.barrier
    } {tile.num_stages = 4 : i32, tile.warp_specialize, tile.disallow_acc_multi_buffer, tile.loop_unroll_factor = 2 : i32}
    return
  }
}

// -----

// expected-error @+1 {{has no attribute 'tile.num_threads' of the tile dialect}}
module attributes {tile.num_threads = 8 : i32} {
}

// -----

// expected-error @+1 {{attribute 'tile.num_warps' must be an i32 that is not negative}}
module attributes {tile.num_warps = -8 : i32} {
}

// -----

// expected-error @+1 {{attribute 'tile.kernel' must be a unit attribute}}
func.func @kernel() attributes {tile.kernel = true} {
  return
}

// -----

// expected-error @+1 {{argument 0 has no attribute 'tile.alignment' of the tile dialect}}
func.func @kernel(%n: i32 {tile.alignment = 16 : i64}) {
  return
}

// -----

// expected-error @+1 {{attribute 'tile.divisibility' of argument 0 must be a positive i64}}
func.func @kernel(%n: i32 {tile.divisibility = 0 : i64}) {
  return
}

// -----

func.func @kernel(%n: i32) {
  // expected-error @+1 {{attribute 'tile.num_stages' must be an i32 that is not negative}}
  scf.for %i = %n to %n step %n : i32 {
  } {tile.num_stages = 2 : i64}
  return
}

// -----

func.func @kernel(%n: i32) {
  // expected-error @+1 {{has no attribute 'tile.num_warps' of the tile dialect}}
  scf.for %i = %n to %n step %n : i32 {
  } {tile.num_warps = 4 : i32}
  return
}

// -----

func.func @kernel(%n: i32) -> i32 {
  // expected-error @+1 {{has no attribute 'tile.flatten' of the tile dialect}}
  %0 = arith.addi %n, %n {tile.flatten} : i32
  return %0 : i32
}
