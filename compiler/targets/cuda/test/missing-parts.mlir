// Operations of a part of the machine that this GPU lacks are refused: copies of words come with 80, copies of boxes and
// asynchronous products with 90. The passes before make none.
// RUN: nacre-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(cuda-lower-to-llvm{architecture=75})'

module attributes {simt.num_warps = 4 : i32, simt.lanes = 32 : i32} {
func.func @words() attributes {tile.kernel} {
  // expected-error @+1 {{the machine has no asynchronous copies of words}}
  simt.commit_copies
  return
}
}

// -----

module attributes {simt.num_warps = 4 : i32, simt.lanes = 32 : i32} {
func.func @boxes() attributes {tile.kernel} {
  // expected-error @+1 {{the machine has no copies of boxes}}
  %barriers = simt.allocate_barriers : !simt.barriers<2>
  return
}
}

// -----

#c = #simt.layout<"[16, 8] register b1 a8 lane b2 b4 a1 a2 a4 warp 0 0">

module attributes {simt.num_warps = 4 : i32, simt.lanes = 32 : i32} {
func.func @products(%zero: f32) attributes {tile.kernel} {
  %sums = tile.splat %zero : f32 -> tensor<16x8xf32, #c>
  // expected-error @+1 {{the machine has no asynchronous matrix products}}
  %done = simt.wait_dots 0, %sums : tensor<16x8xf32, #c>
  return
}
}
