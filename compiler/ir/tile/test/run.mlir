// Kernels run by the evaluator, as they are and after canonicalization, and as machine code.
// RUN: nacre-opt %s --run=add --grid=2 --args='f32[6]=iota,f32[6]=iota(10,10),f32[6]=0,i32=6' | FileCheck %s --check-prefix=ADD
// RUN: nacre-opt %s --engine=cpu --run=add --grid=2 --args='f32[6]=iota,f32[6]=iota(10,10),f32[6]=0,i32=6' | FileCheck %s --check-prefix=ADD
// RUN: nacre-opt %s -canonicalize -cse --run=add --grid=2 --args='f32[6]=iota,f32[6]=iota(10,10),f32[6]=0,i32=6' | FileCheck %s --check-prefix=ADD
// RUN: not nacre-opt %s --run=add --grid=2 --args='f32[5]=iota,f32[6]=iota(10,10),f32[6]=0,i32=6' 2>&1 | FileCheck %s --check-prefix=FAULT
// RUN: not nacre-opt %s --run=add --args='f32[6]=iota,f32[6]=0,f32[6]=0' 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not nacre-opt %s --run=add --args='f32[6]=iota,f32[6]=0,f32[6]=0,f32=6' 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: nacre-opt %s --run=softmax --grid=3 --args='f32[3x4]=random(1),f32[3x4]=0' | FileCheck %s --check-prefix=SOFTMAX
// RUN: nacre-opt %s --engine=cpu --run=softmax --grid=3 --args='f32[3x4]=random(1),f32[3x4]=0' | FileCheck %s --check-prefix=SOFTMAX
// RUN: nacre-opt %s --run=matmul --args='f16[4x3]=iota,f16[3x4]=iota,f32[4x4]=1' | FileCheck %s --check-prefix=MATMUL
// RUN: nacre-opt %s --engine=cpu --run=matmul --args='f16[4x3]=iota,f16[3x4]=iota,f32[4x4]=1' | FileCheck %s --check-prefix=MATMUL
// RUN: nacre-opt %s --run=argmax --args='f32[2x4]={1,7,3,7,-1,-5,-1,-2},f32[2]=0,i32[2]=0' | FileCheck %s --check-prefix=ARGMAX
// RUN: nacre-opt %s --engine=cpu --run=argmax --args='f32[2x4]={1,7,3,7,-1,-5,-1,-2},f32[2]=0,i32[2]=0' | FileCheck %s --check-prefix=ARGMAX
// RUN: nacre-opt %s --run=branching_reduction --args='i32[2x4]={1,7,3,7,-1,-5,-1,-2},i32[2]=0' | FileCheck %s --check-prefix=BRANCHING
// RUN: nacre-opt %s --engine=cpu --run=branching_reduction --args='i32[2x4]={1,7,3,7,-1,-5,-1,-2},i32[2]=0' | FileCheck %s --check-prefix=BRANCHING
// RUN: nacre-opt %s --run=loops --args='i32[4]=0,i32=10' | FileCheck %s --check-prefix=LOOPS
// RUN: nacre-opt %s --engine=cpu --run=loops --args='i32[4]=0,i32=10' | FileCheck %s --check-prefix=LOOPS
// RUN: nacre-opt %s --run=scan --args='i32[5]={1,2,3,4,5},i32[5]=0,i32[5]=0' | FileCheck %s --check-prefix=SCAN
// RUN: nacre-opt %s --engine=cpu --run=scan --args='i32[5]={1,2,3,4,5},i32[5]=0,i32[5]=0' | FileCheck %s --check-prefix=SCAN
// RUN: nacre-opt %s --run=atomics --grid=3 --args='i32[2]=0,f32[1]=0.5' | FileCheck %s --check-prefix=ATOMICS
// RUN: nacre-opt %s --engine=cpu --run=atomics --grid=3 --args='i32[2]=0,f32[1]=0.5' | FileCheck %s --check-prefix=ATOMICS
// RUN: nacre-opt %s --run=narrow --args='f32[4]={1.06,448.1,-1000,0.001},f8E4M3FN[4]=0,f8E5M2[4]=0,bf16[4]=0' | FileCheck %s --check-prefix=NARROW
// RUN: nacre-opt %s --engine=cpu --run=narrow --args='f32[4]={1.06,448.1,-1000,0.001},f8E4M3FN[4]=0,f8E5M2[4]=0,bf16[4]=0' | FileCheck %s --check-prefix=NARROW
// RUN: not nacre-opt %s --run=asserts --grid=2 2>&1 | FileCheck %s --check-prefix=ASSERT
// RUN: not nacre-opt %s --engine=cpu --run=asserts --grid=2 2>&1 | FileCheck %s --check-prefix=ASSERT
// RUN: nacre-opt %s --run=prints --grid=1,2 | FileCheck %s --check-prefix=PRINT
// RUN: nacre-opt %s --engine=cpu --run=prints --grid=1,2 | FileCheck %s --check-prefix=DEVICE
// RUN: nacre-opt %s --run=packs --args='i32[5]={1,2,3,4,5},i32[5]=0' | FileCheck %s --check-prefix=PACKS
// RUN: nacre-opt %s --engine=cpu --run=packs --args='i32[5]={1,2,3,4,5},i32[5]=0' | FileCheck %s --check-prefix=PACKS
// RUN: not nacre-opt %s --run=unknown 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not nacre-opt %s --engine=abacus --run=loops --args='i32[4]=0,i32=10' 2>&1 | FileCheck %s --check-prefix=ENGINE
// RUN: not nacre-opt %s --run=missing 2>&1 | FileCheck %s --check-prefix=MISSING

// ADD: argument 2: f32[6]
// ADD-NEXT: [10. 21. 32. 43. 54. 65.]
// FAULT: run.mlir:[[# @LINE + 24]]:{{.*}}: error: program (1, 0, 0): load of fp32 out of bounds at address {{.*}}, just past the end of 'argument 0'; 1 of 4 lanes, first (1)
// COUNT: error: the kernel takes 4 arguments, --args has 3
// TYPE: error: argument 3 of the kernel is i32, but 'f32' was given
func.func @add(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %out: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} {
  %pid = tile.program_id 0
  %block = arith.constant 4 : i32
  %start = arith.muli %pid, %block : i32
  %starts = tile.splat %start : i32 -> tensor<4xi32>
  %lanes = tile.arange 0 : tensor<4xi32>
  %offsets = arith.addi %starts, %lanes : tensor<4xi32>
  %limit = tile.splat %n : i32 -> tensor<4xi32>
  %mask = arith.cmpi slt, %offsets, %limit : tensor<4xi32>
  %xv = func.call @load4(%x, %offsets, %mask) : (!tile.ptr<f32>, tensor<4xi32>, tensor<4xi1>) -> tensor<4xf32>
  %yv = func.call @load4(%y, %offsets, %mask) : (!tile.ptr<f32>, tensor<4xi32>, tensor<4xi1>) -> tensor<4xf32>
  %sum = arith.addf %xv, %yv : tensor<4xf32>
  %outs = tile.splat %out : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %places = tile.addptr %outs, %offsets : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  tile.store %places, %sum mask %mask : tensor<4xi1> : tensor<4x!tile.ptr<f32>>, tensor<4xf32>
  return
}

func.func private @load4(%p: !tile.ptr<f32>, %offsets: tensor<4xi32>, %mask: tensor<4xi1>) -> tensor<4xf32> {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %places = tile.addptr %ps, %offsets : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %values = tile.load %places mask %mask : tensor<4xi1> : tensor<4x!tile.ptr<f32>> -> tensor<4xf32>
  return %values : tensor<4xf32>
}

// SOFTMAX-LABEL: argument 1: f32[3x4]
// SOFTMAX-NEXT: [0.31030658 0.16981603 0.32111073 0.19876668]
// SOFTMAX-NEXT: [0.39046103 0.2677827  0.23032537 0.11143094]
// SOFTMAX-NEXT: [0.38040397 0.43667176 0.08765091 0.09527338]
func.func @softmax(%x: !tile.ptr<f32>, %out: !tile.ptr<f32>) attributes {tile.kernel} {
  %pid = tile.program_id 0
  %four = arith.constant 4 : i32
  %start = arith.muli %pid, %four : i32
  %starts = tile.splat %start : i32 -> tensor<4xi32>
  %lanes = tile.arange 0 : tensor<4xi32>
  %offsets = arith.addi %starts, %lanes : tensor<4xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %places = tile.addptr %xs, %offsets : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %row = tile.load %places : tensor<4x!tile.ptr<f32>> -> tensor<4xf32>
  %largest = tile.reduce %row axis 0 {
  ^bb0(%a: f32, %b: f32):
    %m = arith.maxnumf %a, %b : f32
    tile.yield %m : f32
  } : (tensor<4xf32>) -> f32
  %largests = tile.splat %largest : f32 -> tensor<4xf32>
  %shifted = arith.subf %row, %largests : tensor<4xf32>
  %exponentials = math.exp %shifted : tensor<4xf32>
  %sum = tile.reduce %exponentials axis 0 {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  } : (tensor<4xf32>) -> f32
  %sums = tile.splat %sum : f32 -> tensor<4xf32>
  %result = arith.divf %exponentials, %sums : tensor<4xf32>
  %outs = tile.splat %out : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %outPlaces = tile.addptr %outs, %offsets : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  tile.store %outPlaces, %result : tensor<4x!tile.ptr<f32>>, tensor<4xf32>
  return
}

// MATMUL-LABEL: argument 2: f32[4x4]
// MATMUL-NEXT: {{\[\[}} 21.  24.  27.  30.]
// MATMUL-NEXT: [ 57.  69.  81.  93.]
// MATMUL-NEXT: [ 93. 114. 135. 156.]
// MATMUL-NEXT: [129. 159. 189. 219.]]
func.func @matmul(%a: !tile.ptr<f16>, %b: !tile.ptr<f16>, %c: !tile.ptr<f32>) attributes {tile.kernel} {
  %r3 = tile.arange 0 : tensor<3xi32>
  %r4 = tile.arange 0 : tensor<4xi32>
  %three = arith.constant dense<3> : tensor<4x1xi32>
  %fours = arith.constant dense<4> : tensor<3x1xi32>
  %four4 = arith.constant dense<4> : tensor<4x1xi32>
  %column4 = tile.expand_dims %r4 1 : tensor<4xi32> -> tensor<4x1xi32>
  %row3 = tile.expand_dims %r3 0 : tensor<3xi32> -> tensor<1x3xi32>
  %column3 = tile.expand_dims %r3 1 : tensor<3xi32> -> tensor<3x1xi32>
  %row4 = tile.expand_dims %r4 0 : tensor<4xi32> -> tensor<1x4xi32>
  %a0 = arith.muli %column4, %three : tensor<4x1xi32>
  %a1 = tile.broadcast %a0 : tensor<4x1xi32> -> tensor<4x3xi32>
  %a2 = tile.broadcast %row3 : tensor<1x3xi32> -> tensor<4x3xi32>
  %a3 = arith.addi %a1, %a2 : tensor<4x3xi32>
  %b0 = arith.muli %column3, %fours : tensor<3x1xi32>
  %b1 = tile.broadcast %b0 : tensor<3x1xi32> -> tensor<3x4xi32>
  %b2 = tile.broadcast %row4 : tensor<1x4xi32> -> tensor<3x4xi32>
  %b3 = arith.addi %b1, %b2 : tensor<3x4xi32>
  %c0 = arith.muli %column4, %four4 : tensor<4x1xi32>
  %c1 = tile.broadcast %c0 : tensor<4x1xi32> -> tensor<4x4xi32>
  %c2 = tile.broadcast %row4 : tensor<1x4xi32> -> tensor<4x4xi32>
  %c3 = arith.addi %c1, %c2 : tensor<4x4xi32>
  %as = tile.splat %a : !tile.ptr<f16> -> tensor<4x3x!tile.ptr<f16>>
  %ap = tile.addptr %as, %a3 : tensor<4x3x!tile.ptr<f16>>, tensor<4x3xi32>
  %av = tile.load %ap : tensor<4x3x!tile.ptr<f16>> -> tensor<4x3xf16>
  %bs = tile.splat %b : !tile.ptr<f16> -> tensor<3x4x!tile.ptr<f16>>
  %bp = tile.addptr %bs, %b3 : tensor<3x4x!tile.ptr<f16>>, tensor<3x4xi32>
  %bv = tile.load %bp : tensor<3x4x!tile.ptr<f16>> -> tensor<3x4xf16>
  %cs = tile.splat %c : !tile.ptr<f32> -> tensor<4x4x!tile.ptr<f32>>
  %cp = tile.addptr %cs, %c3 : tensor<4x4x!tile.ptr<f32>>, tensor<4x4xi32>
  %cv = tile.load %cp : tensor<4x4x!tile.ptr<f32>> -> tensor<4x4xf32>
  %result = tile.dot %av, %bv, %cv : tensor<4x3xf16>, tensor<3x4xf16> -> tensor<4x4xf32>
  tile.store %cp, %result : tensor<4x4x!tile.ptr<f32>>, tensor<4x4xf32>
  return
}

func.func private @rows2x4() -> tensor<2x4xi32> {
  %r2 = tile.arange 0 : tensor<2xi32>
  %r4 = tile.arange 0 : tensor<4xi32>
  %four = arith.constant dense<4> : tensor<2x1xi32>
  %column = tile.expand_dims %r2 1 : tensor<2xi32> -> tensor<2x1xi32>
  %row = tile.expand_dims %r4 0 : tensor<4xi32> -> tensor<1x4xi32>
  %scaled = arith.muli %column, %four : tensor<2x1xi32>
  %down = tile.broadcast %scaled : tensor<2x1xi32> -> tensor<2x4xi32>
  %across = tile.broadcast %row : tensor<1x4xi32> -> tensor<2x4xi32>
  %offsets = arith.addi %down, %across : tensor<2x4xi32>
  return %offsets : tensor<2x4xi32>
}

// Ties go to the left.
// ARGMAX-LABEL: argument 1: f32[2]
// ARGMAX-NEXT: [ 7. -1.]
// ARGMAX-LABEL: argument 2: i32[2]
// ARGMAX-NEXT: [1 0]
func.func @argmax(%x: !tile.ptr<f32>, %values: !tile.ptr<f32>, %indices: !tile.ptr<i32>) attributes {tile.kernel} {
  %offsets = func.call @rows2x4() : () -> tensor<2x4xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<2x4x!tile.ptr<f32>>
  %places = tile.addptr %xs, %offsets : tensor<2x4x!tile.ptr<f32>>, tensor<2x4xi32>
  %v = tile.load %places : tensor<2x4x!tile.ptr<f32>> -> tensor<2x4xf32>
  %r4 = tile.arange 0 : tensor<4xi32>
  %row = tile.expand_dims %r4 0 : tensor<4xi32> -> tensor<1x4xi32>
  %i = tile.broadcast %row : tensor<1x4xi32> -> tensor<2x4xi32>
  %best:2 = tile.reduce %v, %i axis 1 {
  ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
    %greater = arith.cmpf ogt, %a, %b : f32
    %equal = arith.cmpf oeq, %a, %b : f32
    %before = arith.cmpi slt, %ai, %bi : i32
    %tie = arith.andi %equal, %before : i1
    %left = arith.ori %greater, %tie : i1
    %value = arith.select %left, %a, %b : f32
    %index = arith.select %left, %ai, %bi : i32
    tile.yield %value, %index : f32, i32
  } : (tensor<2x4xf32>, tensor<2x4xi32>) -> (tensor<2xf32>, tensor<2xi32>)
  %r2 = tile.arange 0 : tensor<2xi32>
  %vs = tile.splat %values : !tile.ptr<f32> -> tensor<2x!tile.ptr<f32>>
  %vp = tile.addptr %vs, %r2 : tensor<2x!tile.ptr<f32>>, tensor<2xi32>
  tile.store %vp, %best#0 : tensor<2x!tile.ptr<f32>>, tensor<2xf32>
  %is = tile.splat %indices : !tile.ptr<i32> -> tensor<2x!tile.ptr<i32>>
  %ip = tile.addptr %is, %r2 : tensor<2x!tile.ptr<i32>>, tensor<2xi32>
  tile.store %ip, %best#1 : tensor<2x!tile.ptr<i32>>, tensor<2xi32>
  return
}

// A combining region that branches.
// BRANCHING-LABEL: argument 1: i32[2]
// BRANCHING-NEXT: [ 7 -1]
func.func @branching_reduction(%x: !tile.ptr<i32>, %out: !tile.ptr<i32>) attributes {tile.kernel} {
  %offsets = func.call @rows2x4() : () -> tensor<2x4xi32>
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<2x4x!tile.ptr<i32>>
  %places = tile.addptr %xs, %offsets : tensor<2x4x!tile.ptr<i32>>, tensor<2x4xi32>
  %v = tile.load %places : tensor<2x4x!tile.ptr<i32>> -> tensor<2x4xi32>
  %best = tile.reduce %v axis 1 {
  ^bb0(%a: i32, %b: i32):
    %greater = arith.cmpi sgt, %a, %b : i32
    %larger = scf.if %greater -> i32 {
      scf.yield %a : i32
    } else {
      scf.yield %b : i32
    }
    tile.yield %larger : i32
  } : (tensor<2x4xi32>) -> tensor<2xi32>
  %r2 = tile.arange 0 : tensor<2xi32>
  %outs = tile.splat %out : !tile.ptr<i32> -> tensor<2x!tile.ptr<i32>>
  %op = tile.addptr %outs, %r2 : tensor<2x!tile.ptr<i32>>, tensor<2xi32>
  tile.store %op, %best : tensor<2x!tile.ptr<i32>>, tensor<2xi32>
  return
}

// The sum below n, how often n halves, which branch, and a carried tile's element.
// LOOPS-LABEL: argument 0: i32[4]
// LOOPS-NEXT: [45 4 1 10]
func.func @loops(%out: !tile.ptr<i32>, %n: i32) attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %three = arith.constant 3 : i32
  %zeros = arith.constant dense<0> : tensor<2xi32>
  %ones = arith.constant dense<1> : tensor<2xi32>
  %sum:2 = scf.for %i = %zero to %n step %one iter_args(%s = %zero, %t = %zeros) -> (i32, tensor<2xi32>) : i32 {
    %next = arith.addi %s, %i : i32
    %tile = arith.addi %t, %ones : tensor<2xi32>
    scf.yield %next, %tile : i32, tensor<2xi32>
  }
  tile.store %out, %sum#0 : !tile.ptr<i32>, i32
  %halved:2 = scf.while (%x = %n, %count = %zero) : (i32, i32) -> (i32, i32) {
    %more = arith.cmpi sgt, %x, %zero : i32
    scf.condition(%more) %x, %count : i32, i32
  } do {
  ^bb0(%x: i32, %count: i32):
    %half = arith.divsi %x, %two : i32
    %next = arith.addi %count, %one : i32
    scf.yield %half, %next : i32, i32
  }
  %p1 = tile.addptr %out, %one : !tile.ptr<i32>, i32
  tile.store %p1, %halved#1 : !tile.ptr<i32>, i32
  %large = arith.cmpi sgt, %n, %three : i32
  scf.if %large {
    %p2 = tile.addptr %out, %two : !tile.ptr<i32>, i32
    tile.store %p2, %one : !tile.ptr<i32>, i32
  }
  %p3 = tile.addptr %out, %three : !tile.ptr<i32>, i32
  %element = tile.extract %sum#1 [1] : tensor<2xi32> -> i32
  tile.store %p3, %element : !tile.ptr<i32>, i32
  return
}

// SCAN-LABEL: argument 1: i32[5]
// SCAN-NEXT: [ 1  3  6 10 15]
// SCAN-LABEL: argument 2: i32[5]
// SCAN-NEXT: [15 14 12  9  5]
func.func @scan(%x: !tile.ptr<i32>, %forward: !tile.ptr<i32>, %backward: !tile.ptr<i32>) attributes {tile.kernel} {
  %r = tile.arange 0 : tensor<5xi32>
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<5x!tile.ptr<i32>>
  %xp = tile.addptr %xs, %r : tensor<5x!tile.ptr<i32>>, tensor<5xi32>
  %v = tile.load %xp : tensor<5x!tile.ptr<i32>> -> tensor<5xi32>
  %f = tile.scan %v axis 0 {
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %b : i32
    tile.yield %s : i32
  } : (tensor<5xi32>) -> tensor<5xi32>
  %b = tile.scan %v axis 0 {
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %b : i32
    tile.yield %s : i32
  } {reverse = true} : (tensor<5xi32>) -> tensor<5xi32>
  %fs = tile.splat %forward : !tile.ptr<i32> -> tensor<5x!tile.ptr<i32>>
  %fp = tile.addptr %fs, %r : tensor<5x!tile.ptr<i32>>, tensor<5xi32>
  tile.store %fp, %f : tensor<5x!tile.ptr<i32>>, tensor<5xi32>
  %bs = tile.splat %backward : !tile.ptr<i32> -> tensor<5x!tile.ptr<i32>>
  %bp = tile.addptr %bs, %r : tensor<5x!tile.ptr<i32>>, tensor<5xi32>
  tile.store %bp, %b : tensor<5x!tile.ptr<i32>>, tensor<5xi32>
  return
}

// Each of three programs adds 1 four times to the first number, once to the float; the masked second number stays.
// ATOMICS-LABEL: argument 0: i32[2]
// ATOMICS-NEXT: [12 0]
// ATOMICS-LABEL: argument 1: f32[1]
// ATOMICS-NEXT: [3.5]
func.func @atomics(%counts: !tile.ptr<i32>, %sum: !tile.ptr<f32>) attributes {tile.kernel} {
  %ones = arith.constant dense<1> : tensor<4xi32>
  %same = tile.splat %counts : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
  %old = tile.atomic_rmw addi %same, %ones : tensor<4x!tile.ptr<i32>>, tensor<4xi32> -> tensor<4xi32>
  %one = arith.constant 1.0 : f32
  %before = tile.atomic_rmw addf %sum, %one : !tile.ptr<f32>, f32 -> f32
  %never = arith.constant false
  %step = arith.constant 1 : i32
  %second = tile.addptr %counts, %step : !tile.ptr<i32>, i32
  %untouched = tile.atomic_rmw xchg %second, %step mask %never : i1 : !tile.ptr<i32>, i32 -> i32
  return
}

// NARROW-LABEL: argument 1: f8E4M3FN[4]
// NARROW-NEXT: [ 1.000000e+00  4.480000e+02 -4.480000e+02  1.953125e-03]
// NARROW-LABEL: argument 2: f8E5M2[4]
// NARROW-NEXT: [ 1.000000e+00  4.480000e+02 -1.024000e+03  9.765625e-04]
// NARROW-LABEL: argument 3: bf16[4]
// NARROW-NEXT: [ 1.062500e+00  4.480000e+02 -1.000000e+03  9.994507e-04]
func.func @narrow(%x: !tile.ptr<f32>, %e4: !tile.ptr<f8E4M3FN>, %e5: !tile.ptr<f8E5M2>, %b: !tile.ptr<bf16>) attributes {tile.kernel} {
  %r = tile.arange 0 : tensor<4xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %r : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %v = tile.load %xp : tensor<4x!tile.ptr<f32>> -> tensor<4xf32>
  %v4 = tile.fp_cast %v : tensor<4xf32> -> tensor<4xf8E4M3FN>
  %e4s = tile.splat %e4 : !tile.ptr<f8E4M3FN> -> tensor<4x!tile.ptr<f8E4M3FN>>
  %e4p = tile.addptr %e4s, %r : tensor<4x!tile.ptr<f8E4M3FN>>, tensor<4xi32>
  tile.store %e4p, %v4 : tensor<4x!tile.ptr<f8E4M3FN>>, tensor<4xf8E4M3FN>
  %v5 = tile.fp_cast %v : tensor<4xf32> -> tensor<4xf8E5M2>
  %e5s = tile.splat %e5 : !tile.ptr<f8E5M2> -> tensor<4x!tile.ptr<f8E5M2>>
  %e5p = tile.addptr %e5s, %r : tensor<4x!tile.ptr<f8E5M2>>, tensor<4xi32>
  tile.store %e5p, %v5 : tensor<4x!tile.ptr<f8E5M2>>, tensor<4xf8E5M2>
  %vb = arith.truncf %v : tensor<4xf32> to tensor<4xbf16>
  %bs = tile.splat %b : !tile.ptr<bf16> -> tensor<4x!tile.ptr<bf16>>
  %bp = tile.addptr %bs, %r : tensor<4x!tile.ptr<bf16>>, tensor<4xi32>
  tile.store %bp, %vb : tensor<4x!tile.ptr<bf16>>, tensor<4xbf16>
  return
}

// ASSERT: run.mlir:[[# @LINE + 5]]:{{.*}}: error: program (1, 0, 0): device_assert failed: only the first program
func.func @asserts() attributes {tile.kernel} {
  %pid = tile.program_id 0
  %zero = arith.constant 0 : i32
  %first = arith.cmpi eq, %pid, %zero : i32
  tile.assert %first, "only the first program" : i1
  return
}

// PRINT: (0, 0, 0)  x:  [0 1 2 3]
// PRINT-NEXT: (0, 0, 0)  bits:  [0x00000000 0x00000001 0x00000002 0x00000003]
// PRINT-NEXT: (0, 0, 0)  bytes:  [255]
// PRINT-NEXT: (0, 1, 0)  x:  [0 1 2 3]
// DEVICE: pid (0, 0, 0) idx (0) x: 0
// DEVICE: pid (0, 0, 0) idx (3) x: 3
// DEVICE-NEXT: pid (0, 0, 0) idx (0) bits: 0x00000000
// DEVICE: pid (0, 0, 0) idx () bytes: 255
// DEVICE-NEXT: pid (0, 1, 0) idx (0) x: 0
// ENGINE: error: --engine=abacus: there is no such engine; use reference, cpu, simulate
func.func @prints() attributes {tile.kernel} {
  %r = tile.arange 0 : tensor<4xi32>
  tile.print "x" %r : tensor<4xi32> {isSigned = array<i1: true>}
  tile.print "bits" %r : tensor<4xi32> {hex = true, isSigned = array<i1: true>}
  %minus = arith.constant -1 : i8
  tile.print "bytes" %minus : i8 {isSigned = array<i1: false>}
  return
}

// UNKNOWN: error: 'vector.broadcast': the evaluator does not know this operation
func.func @unknown() attributes {tile.kernel} {
  %one = arith.constant 1 : i32
  %v = vector.broadcast %one : i32 to vector<4xi32>
  return
}

// MISSING: error: there is no kernel 'missing'

// Each pair exchanged, and doubled as often as its first element says; the last element makes a pair with itself.
// PACKS: argument 1: i32[5]
// PACKS-NEXT: [ 4  2 32 24 160]
func.func @packs(%x: !tile.ptr<i32>, %out: !tile.ptr<i32>) attributes {tile.kernel} {
  %range = tile.arange 0 : tensor<5xi32>
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<5x!tile.ptr<i32>>
  %places = tile.addptr %xs, %range : tensor<5x!tile.ptr<i32>>, tensor<5xi32>
  %value = tile.load %places : tensor<5x!tile.ptr<i32>> -> tensor<5xi32>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %result = tile.map %value pack 2 {
  ^bb0(%a: i32, %b: i32):
    %doubled:2 = scf.for %i = %zero to %a step %one iter_args(%c = %b, %d = %a) -> (i32, i32) : i32 {
      %twice = arith.addi %c, %c : i32
      %also = arith.addi %d, %d : i32
      scf.yield %twice, %also : i32, i32
    }
    tile.yield %doubled#0, %doubled#1 : i32, i32
  } : (tensor<5xi32>) -> tensor<5xi32>
  %outs = tile.splat %out : !tile.ptr<i32> -> tensor<5x!tile.ptr<i32>>
  %targets = tile.addptr %outs, %range : tensor<5x!tile.ptr<i32>>, tensor<5xi32>
  tile.store %targets, %result : tensor<5x!tile.ptr<i32>>, tensor<5xi32>
  return
}
