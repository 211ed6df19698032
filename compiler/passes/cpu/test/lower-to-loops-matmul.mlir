// RUN: nacre-opt %s --canonicalize --cse --scalarize-carried --canonicalize --cse --pack-dots="vector-bytes=64 registers=32" --lower-to-loops="vector-bytes=64 registers=32" --lower-micro-kernels --place-scratch --kernel-entry | FileCheck %s

// The usual matmul, with wrapped rows and columns and pointers that a loop moves along: no gather, no tile of pointers in memory (only the addresses of rows).
// The k loop carries two offsets and nothing else; the accumulator is updated where it lies.
// CHECK-LABEL: func.func @matmul
// CHECK-NOT: masked.gather
// CHECK-NOT: vector<16x!llvm.ptr>
// CHECK: scf.for {{.*}} -> (i64, i64) : i32
// CHECK-NOT: masked.gather
// CHECK-NOT: vector<16x!llvm.ptr>
// A's next tile is asked for ahead of time.
// CHECK: llvm.intr.prefetch
// Sixteen accumulators in the innermost loop of the product, four steps along k at a time.
// CHECK: scf.for
// CHECK-COUNT-64: math.fma {{.*}} : vector<16xf32>
// CHECK-NOT: masked.gather
// CHECK: llvm.intr.masked.store
// CHECK: return
func.func @matmul(%arg0: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %arg1: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %arg2: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %arg3: i32 {tile.divisibility = 16 : i64}, %arg4: i32 {tile.divisibility = 16 : i64}, %arg5: i32 {tile.divisibility = 16 : i64}, %arg6: i32 {tile.divisibility = 16 : i64}, %arg7: i32 {tile.divisibility = 16 : i64}, %arg8: i32 {tile.divisibility = 16 : i64}) attributes {tile.kernel} {
  %0 = tile.program_id 0
  %c64_i32 = arith.constant 64 : i32
  %1 = arith.addi %arg3, %c64_i32 : i32
  %c1_i32 = arith.constant 1 : i32
  %2 = arith.subi %1, %c1_i32 : i32
  %c64_i32_0 = arith.constant 64 : i32
  %3 = arith.divsi %2, %c64_i32_0 : i32
  %c64_i32_1 = arith.constant 64 : i32
  %4 = arith.addi %arg4, %c64_i32_1 : i32
  %c1_i32_2 = arith.constant 1 : i32
  %5 = arith.subi %4, %c1_i32_2 : i32
  %c64_i32_3 = arith.constant 64 : i32
  %6 = arith.divsi %5, %c64_i32_3 : i32
  %c8_i32 = arith.constant 8 : i32
  %7 = arith.muli %6, %c8_i32 : i32
  %8 = arith.divsi %0, %7 : i32
  %c8_i32_4 = arith.constant 8 : i32
  %9 = arith.muli %8, %c8_i32_4 : i32
  %10 = arith.subi %3, %9 : i32
  %c8_i32_5 = arith.constant 8 : i32
  %11 = arith.minsi %10, %c8_i32_5 : i32
  %12 = arith.remsi %0, %7 : i32
  %13 = arith.remsi %12, %11 : i32
  %14 = arith.addi %9, %13 : i32
  %15 = arith.remsi %0, %7 : i32
  %16 = arith.divsi %15, %11 : i32
  %c64_i32_6 = arith.constant 64 : i32
  %17 = arith.muli %14, %c64_i32_6 : i32
  %18 = tile.arange 0 : tensor<64xi32>
  %19 = tile.splat %17 : i32 -> tensor<64xi32>
  %20 = arith.addi %19, %18 : tensor<64xi32>
  %21 = tile.splat %arg3 : i32 -> tensor<64xi32>
  %22 = arith.remsi %20, %21 : tensor<64xi32>
  %c64_i32_7 = arith.constant 64 : i32
  %23 = arith.muli %16, %c64_i32_7 : i32
  %24 = tile.arange 0 : tensor<64xi32>
  %25 = tile.splat %23 : i32 -> tensor<64xi32>
  %26 = arith.addi %25, %24 : tensor<64xi32>
  %27 = tile.splat %arg4 : i32 -> tensor<64xi32>
  %28 = arith.remsi %26, %27 : tensor<64xi32>
  %29 = tile.arange 0 : tensor<64xi32>
  %30 = tile.expand_dims %22 1 : tensor<64xi32> -> tensor<64x1xi32>
  %31 = tile.splat %arg6 : i32 -> tensor<64x1xi32>
  %32 = arith.muli %30, %31 : tensor<64x1xi32>
  %33 = tile.expand_dims %29 0 : tensor<64xi32> -> tensor<1x64xi32>
  %c1_i32_8 = arith.constant 1 : i32
  %cst = arith.constant dense<1> : tensor<1x64xi32>
  %34 = tile.broadcast %32 : tensor<64x1xi32> -> tensor<64x64xi32>
  %35 = tile.broadcast %33 : tensor<1x64xi32> -> tensor<64x64xi32>
  %36 = arith.addi %34, %35 : tensor<64x64xi32>
  %37 = tile.splat %arg0 : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %38 = tile.addptr %37, %36 : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  %39 = tile.expand_dims %29 1 : tensor<64xi32> -> tensor<64x1xi32>
  %40 = tile.splat %arg7 : i32 -> tensor<64x1xi32>
  %41 = arith.muli %39, %40 : tensor<64x1xi32>
  %42 = tile.expand_dims %28 0 : tensor<64xi32> -> tensor<1x64xi32>
  %c1_i32_9 = arith.constant 1 : i32
  %cst_10 = arith.constant dense<1> : tensor<1x64xi32>
  %43 = tile.broadcast %41 : tensor<64x1xi32> -> tensor<64x64xi32>
  %44 = tile.broadcast %42 : tensor<1x64xi32> -> tensor<64x64xi32>
  %45 = arith.addi %43, %44 : tensor<64x64xi32>
  %46 = tile.splat %arg1 : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %47 = tile.addptr %46, %45 : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  %cst_11 = arith.constant 0.000000e+00 : f32
  %cst_12 = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  %c64_i32_13 = arith.constant 64 : i32
  %48 = arith.addi %arg5, %c64_i32_13 : i32
  %c1_i32_14 = arith.constant 1 : i32
  %49 = arith.subi %48, %c1_i32_14 : i32
  %c64_i32_15 = arith.constant 64 : i32
  %50 = arith.divsi %49, %c64_i32_15 : i32
  %c0_i32 = arith.constant 0 : i32
  %c1_i32_16 = arith.constant 1 : i32
  %51:3 = scf.for %arg9 = %c0_i32 to %50 step %c1_i32_16 iter_args(%arg10 = %38, %arg11 = %cst_12, %arg12 = %47) -> (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>, tensor<64x64x!tile.ptr<f32>>)  : i32 {
    %78 = tile.expand_dims %29 0 : tensor<64xi32> -> tensor<1x64xi32>
    %c64_i32_21 = arith.constant 64 : i32
    %79 = arith.muli %arg9, %c64_i32_21 : i32
    %80 = arith.subi %arg5, %79 : i32
    %81 = tile.splat %80 : i32 -> tensor<1x64xi32>
    %82 = arith.cmpi slt, %78, %81 : tensor<1x64xi32>
    %cst_22 = arith.constant 0.000000e+00 : f32
    %83 = tile.broadcast %82 : tensor<1x64xi1> -> tensor<64x64xi1>
    %cst_23 = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %84 = tile.load %arg10 mask %83 : tensor<64x64xi1> other %cst_23 : tensor<64x64xf32> : tensor<64x64x!tile.ptr<f32>> -> tensor<64x64xf32>
    %85 = tile.expand_dims %29 1 : tensor<64xi32> -> tensor<64x1xi32>
    %c64_i32_24 = arith.constant 64 : i32
    %86 = arith.muli %arg9, %c64_i32_24 : i32
    %87 = arith.subi %arg5, %86 : i32
    %88 = tile.splat %87 : i32 -> tensor<64x1xi32>
    %89 = arith.cmpi slt, %85, %88 : tensor<64x1xi32>
    %cst_25 = arith.constant 0.000000e+00 : f32
    %90 = tile.broadcast %89 : tensor<64x1xi1> -> tensor<64x64xi1>
    %cst_26 = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %91 = tile.load %arg12 mask %90 : tensor<64x64xi1> other %cst_26 : tensor<64x64xf32> : tensor<64x64x!tile.ptr<f32>> -> tensor<64x64xf32>
    %92 = tile.dot %84, %91, %arg11 : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %c64_i32_27 = arith.constant 64 : i32
    %cst_28 = arith.constant dense<64> : tensor<64x64xi32>
    %93 = tile.addptr %arg10, %cst_28 : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
    %c64_i32_29 = arith.constant 64 : i32
    %94 = arith.muli %arg7, %c64_i32_29 : i32
    %95 = tile.splat %94 : i32 -> tensor<64x64xi32>
    %96 = tile.addptr %arg12, %95 : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
    scf.yield %93, %92, %96 : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>, tensor<64x64x!tile.ptr<f32>>
  }
  %c64_i32_17 = arith.constant 64 : i32
  %52 = arith.muli %14, %c64_i32_17 : i32
  %53 = tile.arange 0 : tensor<64xi32>
  %54 = tile.splat %52 : i32 -> tensor<64xi32>
  %55 = arith.addi %54, %53 : tensor<64xi32>
  %c64_i32_18 = arith.constant 64 : i32
  %56 = arith.muli %16, %c64_i32_18 : i32
  %57 = tile.arange 0 : tensor<64xi32>
  %58 = tile.splat %56 : i32 -> tensor<64xi32>
  %59 = arith.addi %58, %57 : tensor<64xi32>
  %60 = tile.expand_dims %55 1 : tensor<64xi32> -> tensor<64x1xi32>
  %61 = tile.splat %arg8 : i32 -> tensor<64x1xi32>
  %62 = arith.muli %61, %60 : tensor<64x1xi32>
  %63 = tile.splat %arg2 : !tile.ptr<f32> -> tensor<64x1x!tile.ptr<f32>>
  %64 = tile.addptr %63, %62 : tensor<64x1x!tile.ptr<f32>>, tensor<64x1xi32>
  %65 = tile.expand_dims %59 0 : tensor<64xi32> -> tensor<1x64xi32>
  %c1_i32_19 = arith.constant 1 : i32
  %cst_20 = arith.constant dense<1> : tensor<1x64xi32>
  %66 = tile.broadcast %64 : tensor<64x1x!tile.ptr<f32>> -> tensor<64x64x!tile.ptr<f32>>
  %67 = tile.broadcast %65 : tensor<1x64xi32> -> tensor<64x64xi32>
  %68 = tile.addptr %66, %67 : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  %69 = tile.expand_dims %55 1 : tensor<64xi32> -> tensor<64x1xi32>
  %70 = tile.splat %arg3 : i32 -> tensor<64x1xi32>
  %71 = arith.cmpi slt, %69, %70 : tensor<64x1xi32>
  %72 = tile.expand_dims %59 0 : tensor<64xi32> -> tensor<1x64xi32>
  %73 = tile.splat %arg4 : i32 -> tensor<1x64xi32>
  %74 = arith.cmpi slt, %72, %73 : tensor<1x64xi32>
  %75 = tile.broadcast %71 : tensor<64x1xi1> -> tensor<64x64xi1>
  %76 = tile.broadcast %74 : tensor<1x64xi1> -> tensor<64x64xi1>
  %77 = arith.andi %75, %76 : tensor<64x64xi1>
  tile.store %68, %51#1 mask %77 : tensor<64x64xi1> : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>
  return
}
