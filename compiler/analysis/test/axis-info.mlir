// RUN: nacre-opt %s --print-axis-info | FileCheck %s
// RUN: nacre-opt %s --print-axis-info=trust=true | FileCheck %s --check-prefix=TRUST

// Rows of a matrix: the last axis is contiguous, and as divisible as stride, start and base.
// CHECK-LABEL: func.func @matrix
func.func @matrix(%p: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %stride: i32 {tile.divisibility = 16 : i64}, %n: i32)
    attributes {tile.kernel} {
  %pid = tile.program_id 0
  %block = arith.constant 32 : i32
  // CHECK: arith.muli {{.*}} {axis_info = "divisibility 32"}
  %start = arith.muli %pid, %block : i32
  // CHECK: tile.arange 0 {axis_info = "axis 0: contiguity 8 constancy 1 divisibility 1073741824 range [0, 7]"}
  %rows = tile.arange 0 : tensor<8xi32>
  %columns = tile.arange 0 : tensor<32xi32>
  %starts = tile.splat %start : i32 -> tensor<32xi32>
  // The sum does not wrap within a row: it starts at a multiple of 32.
  // CHECK: arith.addi {{.*}} {axis_info = "axis 0: contiguity 32 constancy 1 divisibility 32"}
  %places = arith.addi %starts, %columns : tensor<32xi32>
  %row = tile.expand_dims %rows 1 : tensor<8xi32> -> tensor<8x1xi32>
  %column = tile.expand_dims %places 0 : tensor<32xi32> -> tensor<1x32xi32>
  %strides = tile.splat %stride : i32 -> tensor<8x1xi32>
  // CHECK: arith.muli {{.*}} {axis_info = "axis 0: contiguity 1 constancy 1 divisibility 16, axis 1: contiguity 1 constancy 1 divisibility 16"}
  %scaled = arith.muli %row, %strides : tensor<8x1xi32>
  // CHECK: tile.broadcast {{.*}} {axis_info = "axis 0: contiguity 1 constancy 1 divisibility 16, axis 1: contiguity 1 constancy 32 divisibility 16"}
  %a = tile.broadcast %scaled : tensor<8x1xi32> -> tensor<8x32xi32>
  %b = tile.broadcast %column : tensor<1x32xi32> -> tensor<8x32xi32>
  // CHECK: arith.addi {{.*}} {axis_info = "axis 0: contiguity 1 constancy 1 divisibility 1, axis 1: contiguity 32 (run 16) constancy 1 divisibility 16"}
  %offset = arith.addi %a, %b : tensor<8x32xi32>
  %base = tile.splat %p : !tile.ptr<f16> -> tensor<8x32x!tile.ptr<f16>>
  // In bytes.
  // CHECK: tile.addptr {{.*}} {axis_info = "axis 0: contiguity 1 constancy 1 divisibility 2, axis 1: contiguity 32 constancy 1 divisibility 16"}
  %pointers = tile.addptr %base, %offset : tensor<8x32x!tile.ptr<f16>>, tensor<8x32xi32>
  // A bound that is a multiple of 16 is the same for 16 neighbours; another one is not.
  %bounds = tile.splat %stride : i32 -> tensor<32xi32>
  // CHECK: arith.cmpi slt, {{.*}} {axis_info = "axis 0: contiguity 1 constancy 16 divisibility 1"}
  %inside = arith.cmpi slt, %places, %bounds : tensor<32xi32>
  // CHECK: arith.cmpi sle, {{.*}} {axis_info = "axis 0: contiguity 1 constancy 1 divisibility 1"}
  %within = arith.cmpi sle, %places, %bounds : tensor<32xi32>
  %others = tile.splat %n : i32 -> tensor<32xi32>
  // CHECK: arith.cmpi slt, {{.*}} {axis_info = "axis 0: contiguity 1 constancy 1 divisibility 1"}
  %uneven = arith.cmpi slt, %places, %others : tensor<32xi32>
  return
}

// Remainders: proved where the left side is not negative, listed as trusted otherwise.
// CHECK-LABEL: func.func @remainders
// TRUST-LABEL: func.func @remainders
func.func @remainders(%n: i32 {tile.divisibility = 16 : i64}, %p: !tile.ptr<i32>) attributes {tile.kernel} {
  %i = tile.arange 0 : tensor<48xi32>
  %sixteen = arith.constant dense<16> : tensor<48xi32>
  // CHECK: arith.remsi {{.*}} {axis_info = "axis 0: contiguity 16 constancy 1 divisibility 16 range [0, 15]"}
  %r = arith.remsi %i, %sixteen : tensor<48xi32>
  // CHECK: arith.divsi {{.*}} {axis_info = "axis 0: contiguity 1 constancy 16 divisibility 1 range [0, 2]"}
  %q = arith.divsi %i, %sixteen : tensor<48xi32>
  %pid = tile.program_id 0
  %block = arith.constant 48 : i32
  %start = arith.muli %pid, %block : i32
  %starts = tile.splat %start : i32 -> tensor<48xi32>
  // TRUST: arith.addi {{.*}} {axis_info = "axis 0: contiguity 48 (run 16) constancy 1 divisibility 16", trusted_non_negative}
  %places = arith.addi %starts, %i : tensor<48xi32>
  %bounds = tile.splat %n : i32 -> tensor<48xi32>
  // CHECK: arith.remsi {{.*}} {axis_info = "axis 0: contiguity 1 constancy 1 divisibility 1"}
  // TRUST: arith.remsi {{.*}} {axis_info = "axis 0: contiguity 16 constancy 1 divisibility 16"}
  %wrapped = arith.remsi %places, %bounds : tensor<48xi32>
  // What memory holds, no launch can prove anything of.
  %x = tile.load %p : !tile.ptr<i32> -> i32
  %xs = tile.splat %x : i32 -> tensor<48xi32>
  // TRUST: arith.addi {{.*}} {axis_info = "axis 0: contiguity 48 (run 1) constancy 1 divisibility 1"}
  %anywhere = arith.addi %xs, %i : tensor<48xi32>
  // TRUST: arith.remsi {{.*}} {axis_info = "axis 0: contiguity 1 constancy 1 divisibility 1"}
  %unknown = arith.remsi %anywhere, %bounds : tensor<48xi32>
  return
}

// Hints and assumptions.
// CHECK-LABEL: func.func @promises
func.func @promises(%p: !tile.ptr<i32>, %n: i32) attributes {tile.kernel} {
  %i = tile.arange 0 : tensor<64xi32>
  %base = tile.splat %p : !tile.ptr<i32> -> tensor<64x!tile.ptr<i32>>
  %from = tile.addptr %base, %i : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
  // CHECK: tile.load {{.*}} {axis_info = "axis 0: contiguity 1 constancy 1 divisibility 1"}
  %x = tile.load %from : tensor<64x!tile.ptr<i32>> -> tensor<64xi32>
  // Every 16th element is a multiple of 16, not each.
  %multiple = tile.hint %x divisibility [16] : tensor<64xi32>
  // CHECK: tile.hint {{.*}} contiguity [16] {axis_info = "axis 0: contiguity 16 constancy 1 divisibility 16"}
  %contiguous = tile.hint %multiple contiguity [16] : tensor<64xi32>
  // CHECK: tile.hint {{.*}} divisibility [8] {axis_info = "axis 0: contiguity 1 constancy 1 divisibility 8"}
  %y = arith.addi %x, %x : tensor<64xi32>
  %each = tile.hint %y divisibility [8] : tensor<64xi32>
  // CHECK: tile.hint {{.*}} constancy [4] {axis_info = "axis 0: contiguity 1 constancy 4 divisibility 1"}
  %z = arith.muli %x, %x : tensor<64xi32>
  %same = tile.hint %z constancy [4] : tensor<64xi32>
  %zero = arith.constant 0 : i32
  %thirtytwo = arith.constant 32 : i32
  %rest = arith.remsi %n, %thirtytwo : i32
  %divides = arith.cmpi eq, %rest, %zero : i32
  tile.assume %divides
  %positive = arith.cmpi sge, %n, %zero : i32
  tile.assume %positive
  // CHECK: tile.splat {{.*}} {axis_info = "axis 0: contiguity 1 constancy 64 divisibility 32 range [0, 2147483647]"}
  %s = tile.splat %n : i32 -> tensor<64xi32>
  return
}

// What a loop carries has what the first value and the next ones have.
// CHECK-LABEL: func.func @carried
func.func @carried(%p: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %n: i32, %m: i32) attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 64 : i32
  %i = tile.arange 0 : tensor<64xi32>
  %steps = tile.splat %step : i32 -> tensor<64xi32>
  %unknown = tile.splat %m : i32 -> tensor<64xi32>
  %base = tile.splat %p : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %first = tile.addptr %base, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  // CHECK: scf.for
  // CHECK: tile.splat %{{.*}} {axis_info = "axis 0: contiguity 1 constancy 64 divisibility 64 range [0, 2147483646]"} : i32
  // CHECK: } {axis_info = "axis 0: contiguity 64 constancy 1 divisibility 16; axis 0: contiguity 64 (run 1) constancy 1 divisibility 1"}
  %ends:2 = scf.for %k = %zero to %n step %step iter_args(%t = %first, %u = %i) -> (tensor<64x!tile.ptr<f32>>, tensor<64xi32>) : i32 {
    %index = tile.splat %k : i32 -> tensor<64xi32>
    %next = tile.addptr %t, %steps : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %other = arith.addi %u, %unknown : tensor<64xi32>
    scf.yield %next, %other : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  }
  return
}

// Reshaping keeps rows; what was one line is cut.
// CHECK-LABEL: func.func @shapes
func.func @shapes() attributes {tile.kernel} {
  %i = tile.arange 0 : tensor<24xi32>
  // CHECK: tile.reshape {{.*}} {axis_info = "axis 0: contiguity 1 constancy 1 divisibility 1, axis 1: contiguity 8 constancy 1 divisibility 8 range [0, 23]"}
  %grid = tile.reshape %i : tensor<24xi32> -> tensor<3x8xi32>
  // CHECK: tile.permute {{.*}} {axis_info = "axis 0: contiguity 8 constancy 1 divisibility 8, axis 1: contiguity 1 constancy 1 divisibility 1 range [0, 23]"}
  %turned = tile.permute %grid [1, 0] : tensor<3x8xi32> -> tensor<8x3xi32>
  // CHECK: tile.concatenate {{.*}} {axis_info = "axis 0: contiguity 24 constancy 1 divisibility 1073741824"}
  %twice = tile.concatenate %i, %i 0 : tensor<24xi32>, tensor<24xi32> -> tensor<48xi32>
  return
}
