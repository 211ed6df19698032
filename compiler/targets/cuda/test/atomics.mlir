// Atomics: what they do in every type, on GPUs that have an instruction for it and on those that have not, and their order
// and scope in the PTX text.
// RUN: nacre-opt %s --run i32 --engine simulate --architecture 90 --args 'i32[36]=random(3),i32[36]=random(5),i32[36]=0' > %t.simulated
// RUN: nacre-opt %s --run i32 --args 'i32[36]=random(3),i32[36]=random(5),i32[36]=0' > %t.reference
// RUN: diff %t.reference %t.simulated
// RUN: nacre-opt %s --run i32 --engine simulate --architecture 75 --args 'i32[36]=random(3),i32[36]=random(5),i32[36]=0' > %t.simulated
// RUN: nacre-opt %s --run i32 --args 'i32[36]=random(3),i32[36]=random(5),i32[36]=0' > %t.reference
// RUN: diff %t.reference %t.simulated
// RUN: nacre-opt %s --run i64 --engine simulate --architecture 90 --args 'i64[36]=random(3),i64[36]=random(5),i64[36]=0' > %t.simulated
// RUN: nacre-opt %s --run i64 --args 'i64[36]=random(3),i64[36]=random(5),i64[36]=0' > %t.reference
// RUN: diff %t.reference %t.simulated
// RUN: nacre-opt %s --run i64 --engine simulate --architecture 75 --args 'i64[36]=random(3),i64[36]=random(5),i64[36]=0' > %t.simulated
// RUN: nacre-opt %s --run i64 --args 'i64[36]=random(3),i64[36]=random(5),i64[36]=0' > %t.reference
// RUN: diff %t.reference %t.simulated
// RUN: nacre-opt %s --run f32 --engine simulate --architecture 90 --args 'f32[16]=random(3),f32[16]=random(5),f32[16]=0' > %t.simulated
// RUN: nacre-opt %s --run f32 --args 'f32[16]=random(3),f32[16]=random(5),f32[16]=0' > %t.reference
// RUN: diff %t.reference %t.simulated
// RUN: nacre-opt %s --run f32 --engine simulate --architecture 75 --args 'f32[16]=random(3),f32[16]=random(5),f32[16]=0' > %t.simulated
// RUN: nacre-opt %s --run f32 --args 'f32[16]=random(3),f32[16]=random(5),f32[16]=0' > %t.reference
// RUN: diff %t.reference %t.simulated
// RUN: nacre-opt %s --run f64 --engine simulate --architecture 90 --args 'f64[16]=random(3),f64[16]=random(5),f64[16]=0' > %t.simulated
// RUN: nacre-opt %s --run f64 --args 'f64[16]=random(3),f64[16]=random(5),f64[16]=0' > %t.reference
// RUN: diff %t.reference %t.simulated
// RUN: nacre-opt %s --run f64 --engine simulate --architecture 75 --args 'f64[16]=random(3),f64[16]=random(5),f64[16]=0' > %t.simulated
// RUN: nacre-opt %s --run f64 --args 'f64[16]=random(3),f64[16]=random(5),f64[16]=0' > %t.reference
// RUN: diff %t.reference %t.simulated
// RUN: nacre-opt %s --run f16 --engine simulate --architecture 90 --args 'f16[4]=random(3),f16[4]=random(5),f16[4]=0' > %t.simulated
// RUN: nacre-opt %s --run f16 --args 'f16[4]=random(3),f16[4]=random(5),f16[4]=0' > %t.reference
// RUN: diff %t.reference %t.simulated
// RUN: nacre-opt %s --run f16 --engine simulate --architecture 75 --args 'f16[4]=random(3),f16[4]=random(5),f16[4]=0' > %t.simulated
// RUN: nacre-opt %s --run f16 --args 'f16[4]=random(3),f16[4]=random(5),f16[4]=0' > %t.reference
// RUN: diff %t.reference %t.simulated
// RUN: nacre-opt %s --run bf16 --engine simulate --architecture 90 --args 'bf16[4]=random(3),bf16[4]=random(5),bf16[4]=0' > %t.simulated
// RUN: nacre-opt %s --run bf16 --args 'bf16[4]=random(3),bf16[4]=random(5),bf16[4]=0' > %t.reference
// RUN: diff %t.reference %t.simulated
// RUN: nacre-opt %s --run bf16 --engine simulate --architecture 75 --args 'bf16[4]=random(3),bf16[4]=random(5),bf16[4]=0' > %t.simulated
// RUN: nacre-opt %s --run bf16 --args 'bf16[4]=random(3),bf16[4]=random(5),bf16[4]=0' > %t.reference
// RUN: diff %t.reference %t.simulated
// RUN: nacre-opt %s --run ordered --engine simulate --show-stage ptx --args 'i32[1]=0,f32[1]=0' | FileCheck %s

// CHECK-LABEL: .visible .entry ordered(
// CHECK: red.relaxed.cta.global.add.u32
// CHECK: red.release.gpu.global.add.f32
// CHECK: atom.acquire.sys.global.max.s32
// CHECK: atom.acq_rel.gpu.global.exch.b32
// CHECK: atom.acq_rel.sys.global.cas.b32
func.func @ordered(%counter: !tile.ptr<i32>, %sum: !tile.ptr<f32>) attributes {tile.kernel} {
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %x = arith.constant 1.5 : f32
  %a = tile.atomic_rmw addi %counter, %one {order = #tile<order relaxed>, scope = #tile<scope cta>} : !tile.ptr<i32>, i32 -> i32
  %b = tile.atomic_rmw addf %sum, %x {order = #tile<order release>} : !tile.ptr<f32>, f32 -> f32
  %c = tile.atomic_rmw maxs %counter, %two {order = #tile<order acquire>, scope = #tile<scope sys>} : !tile.ptr<i32>, i32 -> i32
  %d = tile.atomic_rmw xchg %counter, %one : !tile.ptr<i32>, i32 -> i32
  %e = tile.atomic_cas %counter, %one, %two {scope = #tile<scope sys>} : !tile.ptr<i32>, i32
  return
}

func.func @i32(%memory: !tile.ptr<i32>, %values: !tile.ptr<i32>, %old: !tile.ptr<i32>) attributes {tile.kernel} {
  %lane = tile.arange 0 : tensor<4xi32>
  %shift0 = arith.constant dense<0> : tensor<4xi32>
  %at0 = arith.addi %lane, %shift0 : tensor<4xi32>
  %memorys0 = tile.splat %memory : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
  %memoryp0 = tile.addptr %memorys0, %at0 : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %valuess0 = tile.splat %values : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
  %valuesp0 = tile.addptr %valuess0, %at0 : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %olds0 = tile.splat %old : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
  %oldp0 = tile.addptr %olds0, %at0 : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %v0 = tile.load %valuesp0 : tensor<4x!tile.ptr<i32>> -> tensor<4xi32>
  %o0 = tile.atomic_rmw and %memoryp0, %v0 : tensor<4x!tile.ptr<i32>>, tensor<4xi32> -> tensor<4xi32>
  tile.store %oldp0, %o0 : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %shift1 = arith.constant dense<4> : tensor<4xi32>
  %at1 = arith.addi %lane, %shift1 : tensor<4xi32>
  %memorys1 = tile.splat %memory : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
  %memoryp1 = tile.addptr %memorys1, %at1 : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %valuess1 = tile.splat %values : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
  %valuesp1 = tile.addptr %valuess1, %at1 : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %olds1 = tile.splat %old : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
  %oldp1 = tile.addptr %olds1, %at1 : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %v1 = tile.load %valuesp1 : tensor<4x!tile.ptr<i32>> -> tensor<4xi32>
  %o1 = tile.atomic_rmw or %memoryp1, %v1 : tensor<4x!tile.ptr<i32>>, tensor<4xi32> -> tensor<4xi32>
  tile.store %oldp1, %o1 : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %shift2 = arith.constant dense<8> : tensor<4xi32>
  %at2 = arith.addi %lane, %shift2 : tensor<4xi32>
  %memorys2 = tile.splat %memory : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
  %memoryp2 = tile.addptr %memorys2, %at2 : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %valuess2 = tile.splat %values : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
  %valuesp2 = tile.addptr %valuess2, %at2 : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %olds2 = tile.splat %old : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
  %oldp2 = tile.addptr %olds2, %at2 : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %v2 = tile.load %valuesp2 : tensor<4x!tile.ptr<i32>> -> tensor<4xi32>
  %o2 = tile.atomic_rmw xor %memoryp2, %v2 : tensor<4x!tile.ptr<i32>>, tensor<4xi32> -> tensor<4xi32>
  tile.store %oldp2, %o2 : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %shift3 = arith.constant dense<12> : tensor<4xi32>
  %at3 = arith.addi %lane, %shift3 : tensor<4xi32>
  %memorys3 = tile.splat %memory : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
  %memoryp3 = tile.addptr %memorys3, %at3 : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %valuess3 = tile.splat %values : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
  %valuesp3 = tile.addptr %valuess3, %at3 : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %olds3 = tile.splat %old : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
  %oldp3 = tile.addptr %olds3, %at3 : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %v3 = tile.load %valuesp3 : tensor<4x!tile.ptr<i32>> -> tensor<4xi32>
  %o3 = tile.atomic_rmw addi %memoryp3, %v3 : tensor<4x!tile.ptr<i32>>, tensor<4xi32> -> tensor<4xi32>
  tile.store %oldp3, %o3 : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %shift4 = arith.constant dense<16> : tensor<4xi32>
  %at4 = arith.addi %lane, %shift4 : tensor<4xi32>
  %memorys4 = tile.splat %memory : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
  %memoryp4 = tile.addptr %memorys4, %at4 : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %valuess4 = tile.splat %values : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
  %valuesp4 = tile.addptr %valuess4, %at4 : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %olds4 = tile.splat %old : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
  %oldp4 = tile.addptr %olds4, %at4 : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %v4 = tile.load %valuesp4 : tensor<4x!tile.ptr<i32>> -> tensor<4xi32>
  %o4 = tile.atomic_rmw maxs %memoryp4, %v4 : tensor<4x!tile.ptr<i32>>, tensor<4xi32> -> tensor<4xi32>
  tile.store %oldp4, %o4 : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %shift5 = arith.constant dense<20> : tensor<4xi32>
  %at5 = arith.addi %lane, %shift5 : tensor<4xi32>
  %memorys5 = tile.splat %memory : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
  %memoryp5 = tile.addptr %memorys5, %at5 : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %valuess5 = tile.splat %values : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
  %valuesp5 = tile.addptr %valuess5, %at5 : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %olds5 = tile.splat %old : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
  %oldp5 = tile.addptr %olds5, %at5 : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %v5 = tile.load %valuesp5 : tensor<4x!tile.ptr<i32>> -> tensor<4xi32>
  %o5 = tile.atomic_rmw maxu %memoryp5, %v5 : tensor<4x!tile.ptr<i32>>, tensor<4xi32> -> tensor<4xi32>
  tile.store %oldp5, %o5 : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %shift6 = arith.constant dense<24> : tensor<4xi32>
  %at6 = arith.addi %lane, %shift6 : tensor<4xi32>
  %memorys6 = tile.splat %memory : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
  %memoryp6 = tile.addptr %memorys6, %at6 : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %valuess6 = tile.splat %values : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
  %valuesp6 = tile.addptr %valuess6, %at6 : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %olds6 = tile.splat %old : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
  %oldp6 = tile.addptr %olds6, %at6 : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %v6 = tile.load %valuesp6 : tensor<4x!tile.ptr<i32>> -> tensor<4xi32>
  %o6 = tile.atomic_rmw mins %memoryp6, %v6 : tensor<4x!tile.ptr<i32>>, tensor<4xi32> -> tensor<4xi32>
  tile.store %oldp6, %o6 : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %shift7 = arith.constant dense<28> : tensor<4xi32>
  %at7 = arith.addi %lane, %shift7 : tensor<4xi32>
  %memorys7 = tile.splat %memory : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
  %memoryp7 = tile.addptr %memorys7, %at7 : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %valuess7 = tile.splat %values : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
  %valuesp7 = tile.addptr %valuess7, %at7 : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %olds7 = tile.splat %old : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
  %oldp7 = tile.addptr %olds7, %at7 : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %v7 = tile.load %valuesp7 : tensor<4x!tile.ptr<i32>> -> tensor<4xi32>
  %o7 = tile.atomic_rmw minu %memoryp7, %v7 : tensor<4x!tile.ptr<i32>>, tensor<4xi32> -> tensor<4xi32>
  tile.store %oldp7, %o7 : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %shift8 = arith.constant dense<32> : tensor<4xi32>
  %at8 = arith.addi %lane, %shift8 : tensor<4xi32>
  %memorys8 = tile.splat %memory : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
  %memoryp8 = tile.addptr %memorys8, %at8 : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %valuess8 = tile.splat %values : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
  %valuesp8 = tile.addptr %valuess8, %at8 : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %olds8 = tile.splat %old : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
  %oldp8 = tile.addptr %olds8, %at8 : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %v8 = tile.load %valuesp8 : tensor<4x!tile.ptr<i32>> -> tensor<4xi32>
  %o8 = tile.atomic_rmw xchg %memoryp8, %v8 : tensor<4x!tile.ptr<i32>>, tensor<4xi32> -> tensor<4xi32>
  tile.store %oldp8, %o8 : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  return
}

func.func @i64(%memory: !tile.ptr<i64>, %values: !tile.ptr<i64>, %old: !tile.ptr<i64>) attributes {tile.kernel} {
  %lane = tile.arange 0 : tensor<4xi32>
  %shift0 = arith.constant dense<0> : tensor<4xi32>
  %at0 = arith.addi %lane, %shift0 : tensor<4xi32>
  %memorys0 = tile.splat %memory : !tile.ptr<i64> -> tensor<4x!tile.ptr<i64>>
  %memoryp0 = tile.addptr %memorys0, %at0 : tensor<4x!tile.ptr<i64>>, tensor<4xi32>
  %valuess0 = tile.splat %values : !tile.ptr<i64> -> tensor<4x!tile.ptr<i64>>
  %valuesp0 = tile.addptr %valuess0, %at0 : tensor<4x!tile.ptr<i64>>, tensor<4xi32>
  %olds0 = tile.splat %old : !tile.ptr<i64> -> tensor<4x!tile.ptr<i64>>
  %oldp0 = tile.addptr %olds0, %at0 : tensor<4x!tile.ptr<i64>>, tensor<4xi32>
  %v0 = tile.load %valuesp0 : tensor<4x!tile.ptr<i64>> -> tensor<4xi64>
  %o0 = tile.atomic_rmw and %memoryp0, %v0 : tensor<4x!tile.ptr<i64>>, tensor<4xi64> -> tensor<4xi64>
  tile.store %oldp0, %o0 : tensor<4x!tile.ptr<i64>>, tensor<4xi64>
  %shift1 = arith.constant dense<4> : tensor<4xi32>
  %at1 = arith.addi %lane, %shift1 : tensor<4xi32>
  %memorys1 = tile.splat %memory : !tile.ptr<i64> -> tensor<4x!tile.ptr<i64>>
  %memoryp1 = tile.addptr %memorys1, %at1 : tensor<4x!tile.ptr<i64>>, tensor<4xi32>
  %valuess1 = tile.splat %values : !tile.ptr<i64> -> tensor<4x!tile.ptr<i64>>
  %valuesp1 = tile.addptr %valuess1, %at1 : tensor<4x!tile.ptr<i64>>, tensor<4xi32>
  %olds1 = tile.splat %old : !tile.ptr<i64> -> tensor<4x!tile.ptr<i64>>
  %oldp1 = tile.addptr %olds1, %at1 : tensor<4x!tile.ptr<i64>>, tensor<4xi32>
  %v1 = tile.load %valuesp1 : tensor<4x!tile.ptr<i64>> -> tensor<4xi64>
  %o1 = tile.atomic_rmw or %memoryp1, %v1 : tensor<4x!tile.ptr<i64>>, tensor<4xi64> -> tensor<4xi64>
  tile.store %oldp1, %o1 : tensor<4x!tile.ptr<i64>>, tensor<4xi64>
  %shift2 = arith.constant dense<8> : tensor<4xi32>
  %at2 = arith.addi %lane, %shift2 : tensor<4xi32>
  %memorys2 = tile.splat %memory : !tile.ptr<i64> -> tensor<4x!tile.ptr<i64>>
  %memoryp2 = tile.addptr %memorys2, %at2 : tensor<4x!tile.ptr<i64>>, tensor<4xi32>
  %valuess2 = tile.splat %values : !tile.ptr<i64> -> tensor<4x!tile.ptr<i64>>
  %valuesp2 = tile.addptr %valuess2, %at2 : tensor<4x!tile.ptr<i64>>, tensor<4xi32>
  %olds2 = tile.splat %old : !tile.ptr<i64> -> tensor<4x!tile.ptr<i64>>
  %oldp2 = tile.addptr %olds2, %at2 : tensor<4x!tile.ptr<i64>>, tensor<4xi32>
  %v2 = tile.load %valuesp2 : tensor<4x!tile.ptr<i64>> -> tensor<4xi64>
  %o2 = tile.atomic_rmw xor %memoryp2, %v2 : tensor<4x!tile.ptr<i64>>, tensor<4xi64> -> tensor<4xi64>
  tile.store %oldp2, %o2 : tensor<4x!tile.ptr<i64>>, tensor<4xi64>
  %shift3 = arith.constant dense<12> : tensor<4xi32>
  %at3 = arith.addi %lane, %shift3 : tensor<4xi32>
  %memorys3 = tile.splat %memory : !tile.ptr<i64> -> tensor<4x!tile.ptr<i64>>
  %memoryp3 = tile.addptr %memorys3, %at3 : tensor<4x!tile.ptr<i64>>, tensor<4xi32>
  %valuess3 = tile.splat %values : !tile.ptr<i64> -> tensor<4x!tile.ptr<i64>>
  %valuesp3 = tile.addptr %valuess3, %at3 : tensor<4x!tile.ptr<i64>>, tensor<4xi32>
  %olds3 = tile.splat %old : !tile.ptr<i64> -> tensor<4x!tile.ptr<i64>>
  %oldp3 = tile.addptr %olds3, %at3 : tensor<4x!tile.ptr<i64>>, tensor<4xi32>
  %v3 = tile.load %valuesp3 : tensor<4x!tile.ptr<i64>> -> tensor<4xi64>
  %o3 = tile.atomic_rmw addi %memoryp3, %v3 : tensor<4x!tile.ptr<i64>>, tensor<4xi64> -> tensor<4xi64>
  tile.store %oldp3, %o3 : tensor<4x!tile.ptr<i64>>, tensor<4xi64>
  %shift4 = arith.constant dense<16> : tensor<4xi32>
  %at4 = arith.addi %lane, %shift4 : tensor<4xi32>
  %memorys4 = tile.splat %memory : !tile.ptr<i64> -> tensor<4x!tile.ptr<i64>>
  %memoryp4 = tile.addptr %memorys4, %at4 : tensor<4x!tile.ptr<i64>>, tensor<4xi32>
  %valuess4 = tile.splat %values : !tile.ptr<i64> -> tensor<4x!tile.ptr<i64>>
  %valuesp4 = tile.addptr %valuess4, %at4 : tensor<4x!tile.ptr<i64>>, tensor<4xi32>
  %olds4 = tile.splat %old : !tile.ptr<i64> -> tensor<4x!tile.ptr<i64>>
  %oldp4 = tile.addptr %olds4, %at4 : tensor<4x!tile.ptr<i64>>, tensor<4xi32>
  %v4 = tile.load %valuesp4 : tensor<4x!tile.ptr<i64>> -> tensor<4xi64>
  %o4 = tile.atomic_rmw maxs %memoryp4, %v4 : tensor<4x!tile.ptr<i64>>, tensor<4xi64> -> tensor<4xi64>
  tile.store %oldp4, %o4 : tensor<4x!tile.ptr<i64>>, tensor<4xi64>
  %shift5 = arith.constant dense<20> : tensor<4xi32>
  %at5 = arith.addi %lane, %shift5 : tensor<4xi32>
  %memorys5 = tile.splat %memory : !tile.ptr<i64> -> tensor<4x!tile.ptr<i64>>
  %memoryp5 = tile.addptr %memorys5, %at5 : tensor<4x!tile.ptr<i64>>, tensor<4xi32>
  %valuess5 = tile.splat %values : !tile.ptr<i64> -> tensor<4x!tile.ptr<i64>>
  %valuesp5 = tile.addptr %valuess5, %at5 : tensor<4x!tile.ptr<i64>>, tensor<4xi32>
  %olds5 = tile.splat %old : !tile.ptr<i64> -> tensor<4x!tile.ptr<i64>>
  %oldp5 = tile.addptr %olds5, %at5 : tensor<4x!tile.ptr<i64>>, tensor<4xi32>
  %v5 = tile.load %valuesp5 : tensor<4x!tile.ptr<i64>> -> tensor<4xi64>
  %o5 = tile.atomic_rmw maxu %memoryp5, %v5 : tensor<4x!tile.ptr<i64>>, tensor<4xi64> -> tensor<4xi64>
  tile.store %oldp5, %o5 : tensor<4x!tile.ptr<i64>>, tensor<4xi64>
  %shift6 = arith.constant dense<24> : tensor<4xi32>
  %at6 = arith.addi %lane, %shift6 : tensor<4xi32>
  %memorys6 = tile.splat %memory : !tile.ptr<i64> -> tensor<4x!tile.ptr<i64>>
  %memoryp6 = tile.addptr %memorys6, %at6 : tensor<4x!tile.ptr<i64>>, tensor<4xi32>
  %valuess6 = tile.splat %values : !tile.ptr<i64> -> tensor<4x!tile.ptr<i64>>
  %valuesp6 = tile.addptr %valuess6, %at6 : tensor<4x!tile.ptr<i64>>, tensor<4xi32>
  %olds6 = tile.splat %old : !tile.ptr<i64> -> tensor<4x!tile.ptr<i64>>
  %oldp6 = tile.addptr %olds6, %at6 : tensor<4x!tile.ptr<i64>>, tensor<4xi32>
  %v6 = tile.load %valuesp6 : tensor<4x!tile.ptr<i64>> -> tensor<4xi64>
  %o6 = tile.atomic_rmw mins %memoryp6, %v6 : tensor<4x!tile.ptr<i64>>, tensor<4xi64> -> tensor<4xi64>
  tile.store %oldp6, %o6 : tensor<4x!tile.ptr<i64>>, tensor<4xi64>
  %shift7 = arith.constant dense<28> : tensor<4xi32>
  %at7 = arith.addi %lane, %shift7 : tensor<4xi32>
  %memorys7 = tile.splat %memory : !tile.ptr<i64> -> tensor<4x!tile.ptr<i64>>
  %memoryp7 = tile.addptr %memorys7, %at7 : tensor<4x!tile.ptr<i64>>, tensor<4xi32>
  %valuess7 = tile.splat %values : !tile.ptr<i64> -> tensor<4x!tile.ptr<i64>>
  %valuesp7 = tile.addptr %valuess7, %at7 : tensor<4x!tile.ptr<i64>>, tensor<4xi32>
  %olds7 = tile.splat %old : !tile.ptr<i64> -> tensor<4x!tile.ptr<i64>>
  %oldp7 = tile.addptr %olds7, %at7 : tensor<4x!tile.ptr<i64>>, tensor<4xi32>
  %v7 = tile.load %valuesp7 : tensor<4x!tile.ptr<i64>> -> tensor<4xi64>
  %o7 = tile.atomic_rmw minu %memoryp7, %v7 : tensor<4x!tile.ptr<i64>>, tensor<4xi64> -> tensor<4xi64>
  tile.store %oldp7, %o7 : tensor<4x!tile.ptr<i64>>, tensor<4xi64>
  %shift8 = arith.constant dense<32> : tensor<4xi32>
  %at8 = arith.addi %lane, %shift8 : tensor<4xi32>
  %memorys8 = tile.splat %memory : !tile.ptr<i64> -> tensor<4x!tile.ptr<i64>>
  %memoryp8 = tile.addptr %memorys8, %at8 : tensor<4x!tile.ptr<i64>>, tensor<4xi32>
  %valuess8 = tile.splat %values : !tile.ptr<i64> -> tensor<4x!tile.ptr<i64>>
  %valuesp8 = tile.addptr %valuess8, %at8 : tensor<4x!tile.ptr<i64>>, tensor<4xi32>
  %olds8 = tile.splat %old : !tile.ptr<i64> -> tensor<4x!tile.ptr<i64>>
  %oldp8 = tile.addptr %olds8, %at8 : tensor<4x!tile.ptr<i64>>, tensor<4xi32>
  %v8 = tile.load %valuesp8 : tensor<4x!tile.ptr<i64>> -> tensor<4xi64>
  %o8 = tile.atomic_rmw xchg %memoryp8, %v8 : tensor<4x!tile.ptr<i64>>, tensor<4xi64> -> tensor<4xi64>
  tile.store %oldp8, %o8 : tensor<4x!tile.ptr<i64>>, tensor<4xi64>
  return
}

func.func @f32(%memory: !tile.ptr<f32>, %values: !tile.ptr<f32>, %old: !tile.ptr<f32>) attributes {tile.kernel} {
  %lane = tile.arange 0 : tensor<4xi32>
  %shift0 = arith.constant dense<0> : tensor<4xi32>
  %at0 = arith.addi %lane, %shift0 : tensor<4xi32>
  %memorys0 = tile.splat %memory : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %memoryp0 = tile.addptr %memorys0, %at0 : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %valuess0 = tile.splat %values : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %valuesp0 = tile.addptr %valuess0, %at0 : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %olds0 = tile.splat %old : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %oldp0 = tile.addptr %olds0, %at0 : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %v0 = tile.load %valuesp0 : tensor<4x!tile.ptr<f32>> -> tensor<4xf32>
  %o0 = tile.atomic_rmw addf %memoryp0, %v0 : tensor<4x!tile.ptr<f32>>, tensor<4xf32> -> tensor<4xf32>
  tile.store %oldp0, %o0 : tensor<4x!tile.ptr<f32>>, tensor<4xf32>
  %shift1 = arith.constant dense<4> : tensor<4xi32>
  %at1 = arith.addi %lane, %shift1 : tensor<4xi32>
  %memorys1 = tile.splat %memory : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %memoryp1 = tile.addptr %memorys1, %at1 : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %valuess1 = tile.splat %values : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %valuesp1 = tile.addptr %valuess1, %at1 : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %olds1 = tile.splat %old : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %oldp1 = tile.addptr %olds1, %at1 : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %v1 = tile.load %valuesp1 : tensor<4x!tile.ptr<f32>> -> tensor<4xf32>
  %o1 = tile.atomic_rmw maxf %memoryp1, %v1 : tensor<4x!tile.ptr<f32>>, tensor<4xf32> -> tensor<4xf32>
  tile.store %oldp1, %o1 : tensor<4x!tile.ptr<f32>>, tensor<4xf32>
  %shift2 = arith.constant dense<8> : tensor<4xi32>
  %at2 = arith.addi %lane, %shift2 : tensor<4xi32>
  %memorys2 = tile.splat %memory : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %memoryp2 = tile.addptr %memorys2, %at2 : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %valuess2 = tile.splat %values : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %valuesp2 = tile.addptr %valuess2, %at2 : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %olds2 = tile.splat %old : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %oldp2 = tile.addptr %olds2, %at2 : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %v2 = tile.load %valuesp2 : tensor<4x!tile.ptr<f32>> -> tensor<4xf32>
  %o2 = tile.atomic_rmw minf %memoryp2, %v2 : tensor<4x!tile.ptr<f32>>, tensor<4xf32> -> tensor<4xf32>
  tile.store %oldp2, %o2 : tensor<4x!tile.ptr<f32>>, tensor<4xf32>
  %shift3 = arith.constant dense<12> : tensor<4xi32>
  %at3 = arith.addi %lane, %shift3 : tensor<4xi32>
  %memorys3 = tile.splat %memory : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %memoryp3 = tile.addptr %memorys3, %at3 : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %valuess3 = tile.splat %values : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %valuesp3 = tile.addptr %valuess3, %at3 : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %olds3 = tile.splat %old : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %oldp3 = tile.addptr %olds3, %at3 : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %v3 = tile.load %valuesp3 : tensor<4x!tile.ptr<f32>> -> tensor<4xf32>
  %o3 = tile.atomic_rmw xchg %memoryp3, %v3 : tensor<4x!tile.ptr<f32>>, tensor<4xf32> -> tensor<4xf32>
  tile.store %oldp3, %o3 : tensor<4x!tile.ptr<f32>>, tensor<4xf32>
  return
}

func.func @f64(%memory: !tile.ptr<f64>, %values: !tile.ptr<f64>, %old: !tile.ptr<f64>) attributes {tile.kernel} {
  %lane = tile.arange 0 : tensor<4xi32>
  %shift0 = arith.constant dense<0> : tensor<4xi32>
  %at0 = arith.addi %lane, %shift0 : tensor<4xi32>
  %memorys0 = tile.splat %memory : !tile.ptr<f64> -> tensor<4x!tile.ptr<f64>>
  %memoryp0 = tile.addptr %memorys0, %at0 : tensor<4x!tile.ptr<f64>>, tensor<4xi32>
  %valuess0 = tile.splat %values : !tile.ptr<f64> -> tensor<4x!tile.ptr<f64>>
  %valuesp0 = tile.addptr %valuess0, %at0 : tensor<4x!tile.ptr<f64>>, tensor<4xi32>
  %olds0 = tile.splat %old : !tile.ptr<f64> -> tensor<4x!tile.ptr<f64>>
  %oldp0 = tile.addptr %olds0, %at0 : tensor<4x!tile.ptr<f64>>, tensor<4xi32>
  %v0 = tile.load %valuesp0 : tensor<4x!tile.ptr<f64>> -> tensor<4xf64>
  %o0 = tile.atomic_rmw addf %memoryp0, %v0 : tensor<4x!tile.ptr<f64>>, tensor<4xf64> -> tensor<4xf64>
  tile.store %oldp0, %o0 : tensor<4x!tile.ptr<f64>>, tensor<4xf64>
  %shift1 = arith.constant dense<4> : tensor<4xi32>
  %at1 = arith.addi %lane, %shift1 : tensor<4xi32>
  %memorys1 = tile.splat %memory : !tile.ptr<f64> -> tensor<4x!tile.ptr<f64>>
  %memoryp1 = tile.addptr %memorys1, %at1 : tensor<4x!tile.ptr<f64>>, tensor<4xi32>
  %valuess1 = tile.splat %values : !tile.ptr<f64> -> tensor<4x!tile.ptr<f64>>
  %valuesp1 = tile.addptr %valuess1, %at1 : tensor<4x!tile.ptr<f64>>, tensor<4xi32>
  %olds1 = tile.splat %old : !tile.ptr<f64> -> tensor<4x!tile.ptr<f64>>
  %oldp1 = tile.addptr %olds1, %at1 : tensor<4x!tile.ptr<f64>>, tensor<4xi32>
  %v1 = tile.load %valuesp1 : tensor<4x!tile.ptr<f64>> -> tensor<4xf64>
  %o1 = tile.atomic_rmw maxf %memoryp1, %v1 : tensor<4x!tile.ptr<f64>>, tensor<4xf64> -> tensor<4xf64>
  tile.store %oldp1, %o1 : tensor<4x!tile.ptr<f64>>, tensor<4xf64>
  %shift2 = arith.constant dense<8> : tensor<4xi32>
  %at2 = arith.addi %lane, %shift2 : tensor<4xi32>
  %memorys2 = tile.splat %memory : !tile.ptr<f64> -> tensor<4x!tile.ptr<f64>>
  %memoryp2 = tile.addptr %memorys2, %at2 : tensor<4x!tile.ptr<f64>>, tensor<4xi32>
  %valuess2 = tile.splat %values : !tile.ptr<f64> -> tensor<4x!tile.ptr<f64>>
  %valuesp2 = tile.addptr %valuess2, %at2 : tensor<4x!tile.ptr<f64>>, tensor<4xi32>
  %olds2 = tile.splat %old : !tile.ptr<f64> -> tensor<4x!tile.ptr<f64>>
  %oldp2 = tile.addptr %olds2, %at2 : tensor<4x!tile.ptr<f64>>, tensor<4xi32>
  %v2 = tile.load %valuesp2 : tensor<4x!tile.ptr<f64>> -> tensor<4xf64>
  %o2 = tile.atomic_rmw minf %memoryp2, %v2 : tensor<4x!tile.ptr<f64>>, tensor<4xf64> -> tensor<4xf64>
  tile.store %oldp2, %o2 : tensor<4x!tile.ptr<f64>>, tensor<4xf64>
  %shift3 = arith.constant dense<12> : tensor<4xi32>
  %at3 = arith.addi %lane, %shift3 : tensor<4xi32>
  %memorys3 = tile.splat %memory : !tile.ptr<f64> -> tensor<4x!tile.ptr<f64>>
  %memoryp3 = tile.addptr %memorys3, %at3 : tensor<4x!tile.ptr<f64>>, tensor<4xi32>
  %valuess3 = tile.splat %values : !tile.ptr<f64> -> tensor<4x!tile.ptr<f64>>
  %valuesp3 = tile.addptr %valuess3, %at3 : tensor<4x!tile.ptr<f64>>, tensor<4xi32>
  %olds3 = tile.splat %old : !tile.ptr<f64> -> tensor<4x!tile.ptr<f64>>
  %oldp3 = tile.addptr %olds3, %at3 : tensor<4x!tile.ptr<f64>>, tensor<4xi32>
  %v3 = tile.load %valuesp3 : tensor<4x!tile.ptr<f64>> -> tensor<4xf64>
  %o3 = tile.atomic_rmw xchg %memoryp3, %v3 : tensor<4x!tile.ptr<f64>>, tensor<4xf64> -> tensor<4xf64>
  tile.store %oldp3, %o3 : tensor<4x!tile.ptr<f64>>, tensor<4xf64>
  return
}

func.func @f16(%memory: !tile.ptr<f16>, %values: !tile.ptr<f16>, %old: !tile.ptr<f16>) attributes {tile.kernel} {
  %lane = tile.arange 0 : tensor<4xi32>
  %shift0 = arith.constant dense<0> : tensor<4xi32>
  %at0 = arith.addi %lane, %shift0 : tensor<4xi32>
  %memorys0 = tile.splat %memory : !tile.ptr<f16> -> tensor<4x!tile.ptr<f16>>
  %memoryp0 = tile.addptr %memorys0, %at0 : tensor<4x!tile.ptr<f16>>, tensor<4xi32>
  %valuess0 = tile.splat %values : !tile.ptr<f16> -> tensor<4x!tile.ptr<f16>>
  %valuesp0 = tile.addptr %valuess0, %at0 : tensor<4x!tile.ptr<f16>>, tensor<4xi32>
  %olds0 = tile.splat %old : !tile.ptr<f16> -> tensor<4x!tile.ptr<f16>>
  %oldp0 = tile.addptr %olds0, %at0 : tensor<4x!tile.ptr<f16>>, tensor<4xi32>
  %v0 = tile.load %valuesp0 : tensor<4x!tile.ptr<f16>> -> tensor<4xf16>
  %o0 = tile.atomic_rmw addf %memoryp0, %v0 : tensor<4x!tile.ptr<f16>>, tensor<4xf16> -> tensor<4xf16>
  tile.store %oldp0, %o0 : tensor<4x!tile.ptr<f16>>, tensor<4xf16>
  return
}

func.func @bf16(%memory: !tile.ptr<bf16>, %values: !tile.ptr<bf16>, %old: !tile.ptr<bf16>) attributes {tile.kernel} {
  %lane = tile.arange 0 : tensor<4xi32>
  %shift0 = arith.constant dense<0> : tensor<4xi32>
  %at0 = arith.addi %lane, %shift0 : tensor<4xi32>
  %memorys0 = tile.splat %memory : !tile.ptr<bf16> -> tensor<4x!tile.ptr<bf16>>
  %memoryp0 = tile.addptr %memorys0, %at0 : tensor<4x!tile.ptr<bf16>>, tensor<4xi32>
  %valuess0 = tile.splat %values : !tile.ptr<bf16> -> tensor<4x!tile.ptr<bf16>>
  %valuesp0 = tile.addptr %valuess0, %at0 : tensor<4x!tile.ptr<bf16>>, tensor<4xi32>
  %olds0 = tile.splat %old : !tile.ptr<bf16> -> tensor<4x!tile.ptr<bf16>>
  %oldp0 = tile.addptr %olds0, %at0 : tensor<4x!tile.ptr<bf16>>, tensor<4xi32>
  %v0 = tile.load %valuesp0 : tensor<4x!tile.ptr<bf16>> -> tensor<4xbf16>
  %o0 = tile.atomic_rmw addf %memoryp0, %v0 : tensor<4x!tile.ptr<bf16>>, tensor<4xbf16> -> tensor<4xbf16>
  tile.store %oldp0, %o0 : tensor<4x!tile.ptr<bf16>>, tensor<4xbf16>
  return
}
