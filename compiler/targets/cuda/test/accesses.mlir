// Loads and stores: wide where that is proved, predicated by their masks, with the hints that the kernel gives.
// RUN: nacre-opt %s --run add --engine simulate --grid 3 --args 'f32[300]=iota,f32[300]=1,i32=290' > %t.simulated
// RUN: nacre-opt %s --run add --grid 3 --args 'f32[300]=iota,f32[300]=1,i32=290' > %t.reference
// RUN: diff %t.reference %t.simulated
// RUN: nacre-opt %s --run add --engine simulate --show-stage ptx --grid 3 --args 'f32[300]=iota,f32[300]=1,i32=290' | FileCheck %s
// RUN: nacre-opt %s --run copy --engine simulate --show-stage ptx --args 'f32[512]=iota,f32[512]=0' | FileCheck %s --check-prefix=COPY
// RUN: nacre-opt %s --run hints --engine simulate --show-stage ptx --args 'f32[128]=iota,f32[128]=0' | FileCheck %s --check-prefix=HINTS
// RUN: nacre-opt %s --run halves --engine simulate --args 'f16=1.5,bf16=2.5,f32[2]=0' | FileCheck %s --check-prefix=HALVES

// CHECK-LABEL: .visible .entry add(
// CHECK: .reqntid 128
// CHECK: @%p{{.*}} ld.global.b32
// CHECK: @%p{{.*}} st.global.b32
func.func @add(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} {
  %pid = tile.program_id 0
  %block = arith.constant 128 : i32
  %base = arith.muli %pid, %block : i32
  %lane = tile.arange 0 : tensor<128xi32>
  %bases = tile.splat %base : i32 -> tensor<128xi32>
  %offsets = arith.addi %bases, %lane : tensor<128xi32>
  %ns = tile.splat %n : i32 -> tensor<128xi32>
  %mask = arith.cmpi slt, %offsets, %ns : tensor<128xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %offsets : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %offsets : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %a = tile.load %xp mask %mask : tensor<128xi1> : tensor<128x!tile.ptr<f32>> -> tensor<128xf32>
  %b = tile.load %yp mask %mask : tensor<128xi1> : tensor<128x!tile.ptr<f32>> -> tensor<128xf32>
  %sum = arith.addf %a, %b : tensor<128xf32>
  tile.store %yp, %sum mask %mask : tensor<128xi1> : tensor<128x!tile.ptr<f32>>, tensor<128xf32>
  return
}

// 512 floats by 128 threads: sixteen bytes each.
// COPY-LABEL: .visible .entry copy(
// COPY: ld.global.v4.b32
// COPY: st.global.v4.b32
func.func @copy(%x: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %y: !tile.ptr<f32> {tile.divisibility = 16 : i64}) attributes {tile.kernel} {
  %lane = tile.arange 0 : tensor<512xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %lane : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %lane : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
  %a = tile.load %xp : tensor<512x!tile.ptr<f32>> -> tensor<512xf32>
  tile.store %yp, %a : tensor<512x!tile.ptr<f32>>, tensor<512xf32>
  return
}

// HINTS-LABEL: .visible .entry hints(
// HINTS: ld.global.cg.b32
// HINTS: ld.global.L1::evict_last.b32
// HINTS: ld.volatile.global.b32
// HINTS: st.global.wt.b32
// HINTS: st.global.L1::evict_first.b32
func.func @hints(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %lane = tile.arange 0 : tensor<128xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %lane : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %lane : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %a = tile.load %xp {cache = #tile<cache cg>} : tensor<128x!tile.ptr<f32>> -> tensor<128xf32>
  %b = tile.load %xp {eviction = #tile<eviction evict_last>} : tensor<128x!tile.ptr<f32>> -> tensor<128xf32>
  %c = tile.load %xp {isVolatile = true} : tensor<128x!tile.ptr<f32>> -> tensor<128xf32>
  %ab = arith.addf %a, %b : tensor<128xf32>
  %abc = arith.addf %ab, %c : tensor<128xf32>
  tile.store %yp, %ab {cache = #tile<cache wt>} : tensor<128x!tile.ptr<f32>>, tensor<128xf32>
  tile.store %yp, %abc {eviction = #tile<eviction evict_first>} : tensor<128x!tile.ptr<f32>>, tensor<128xf32>
  return
}

// Halves arrive as floats.
// HALVES: 1.5
// HALVES-SAME: 2.5
func.func @halves(%a: f16, %b: bf16, %out: !tile.ptr<f32>) attributes {tile.kernel} {
  %wideA = arith.extf %a : f16 to f32
  %wideB = arith.extf %b : bf16 to f32
  %one = arith.constant 1 : i32
  %second = tile.addptr %out, %one : !tile.ptr<f32>, i32
  tile.store %out, %wideA : !tile.ptr<f32>, f32
  tile.store %second, %wideB : !tile.ptr<f32>, f32
  return
}
