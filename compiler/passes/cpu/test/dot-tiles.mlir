// RUN: nacre-opt %s --pack-dots="vector-bytes=64 registers=32 bf16-dot bf16-tiles" --lower-to-loops="vector-bytes=64 registers=32" --lower-micro-kernels | FileCheck %s
// RUN: nacre-opt %s --pack-dots="vector-bytes=64 registers=32 bf16-dot" --lower-to-loops="vector-bytes=64 registers=32" --lower-micro-kernels | FileCheck %s --check-prefix=VECTORS

// A product of bf16 on tile registers: 32 x 32 blocks of the result, then the 16 columns that are left. Eight registers are
// configured, used and released.
// CHECK-LABEL: func.func @product
// CHECK: "llvm.x86.ldtilecfg"
// CHECK-COUNT-4: "llvm.x86.tilezero"
// CHECK: scf.for
// CHECK-COUNT-3: "llvm.x86.tileloadd64"
// CHECK-COUNT-2: "llvm.x86.tdpbf16ps"
// CHECK: "llvm.x86.tileloadd64"
// CHECK-COUNT-2: "llvm.x86.tdpbf16ps"
// CHECK-COUNT-4: "llvm.x86.tilestored64"
// CHECK-COUNT-2: "llvm.x86.tilezero"
// CHECK-COUNT-2: "llvm.x86.tdpbf16ps"
// CHECK-COUNT-2: "llvm.x86.tilestored64"
// CHECK: "llvm.x86.tilerelease"

// VECTORS-NOT: tdpbf16ps
// VECTORS: "llvm.x86.avx512bf16.dpbf16ps.512"
func.func @product(%arg0: !tile.ptr<bf16> {tile.divisibility = 16 : i64}, %arg1: !tile.ptr<bf16> {tile.divisibility = 16 : i64}, %arg2: !tile.ptr<f32> {tile.divisibility = 16 : i64}) attributes {tile.kernel} {
  %cst = arith.constant dense<0.000000e+00> : tensor<32x48xf32>
  %cst_0 = arith.constant dense<48> : tensor<32x1xi32>
  %cst_1 = arith.constant dense<48> : tensor<64x1xi32>
  %cst_2 = arith.constant dense<64> : tensor<32x1xi32>
  %0 = tile.arange 0 : tensor<32xi32>
  %1 = tile.arange 0 : tensor<48xi32>
  %2 = tile.arange 0 : tensor<64xi32>
  %3 = tile.expand_dims %0 1 : tensor<32xi32> -> tensor<32x1xi32>
  %4 = arith.muli %3, %cst_2 : tensor<32x1xi32>
  %5 = tile.splat %arg0 : !tile.ptr<bf16> -> tensor<32x1x!tile.ptr<bf16>>
  %6 = tile.addptr %5, %4 : tensor<32x1x!tile.ptr<bf16>>, tensor<32x1xi32>
  %7 = tile.expand_dims %2 0 : tensor<64xi32> -> tensor<1x64xi32>
  %8 = tile.broadcast %6 : tensor<32x1x!tile.ptr<bf16>> -> tensor<32x64x!tile.ptr<bf16>>
  %9 = tile.broadcast %7 : tensor<1x64xi32> -> tensor<32x64xi32>
  %10 = tile.addptr %8, %9 : tensor<32x64x!tile.ptr<bf16>>, tensor<32x64xi32>
  %11 = tile.load %10 : tensor<32x64x!tile.ptr<bf16>> -> tensor<32x64xbf16>
  %12 = tile.expand_dims %2 1 : tensor<64xi32> -> tensor<64x1xi32>
  %13 = arith.muli %12, %cst_1 : tensor<64x1xi32>
  %14 = tile.splat %arg1 : !tile.ptr<bf16> -> tensor<64x1x!tile.ptr<bf16>>
  %15 = tile.addptr %14, %13 : tensor<64x1x!tile.ptr<bf16>>, tensor<64x1xi32>
  %16 = tile.expand_dims %1 0 : tensor<48xi32> -> tensor<1x48xi32>
  %17 = tile.broadcast %15 : tensor<64x1x!tile.ptr<bf16>> -> tensor<64x48x!tile.ptr<bf16>>
  %18 = tile.broadcast %16 : tensor<1x48xi32> -> tensor<64x48xi32>
  %19 = tile.addptr %17, %18 : tensor<64x48x!tile.ptr<bf16>>, tensor<64x48xi32>
  %20 = tile.load %19 : tensor<64x48x!tile.ptr<bf16>> -> tensor<64x48xbf16>
  %21 = arith.muli %3, %cst_0 : tensor<32x1xi32>
  %22 = tile.splat %arg2 : !tile.ptr<f32> -> tensor<32x1x!tile.ptr<f32>>
  %23 = tile.addptr %22, %21 : tensor<32x1x!tile.ptr<f32>>, tensor<32x1xi32>
  %24 = tile.broadcast %23 : tensor<32x1x!tile.ptr<f32>> -> tensor<32x48x!tile.ptr<f32>>
  %25 = tile.broadcast %16 : tensor<1x48xi32> -> tensor<32x48xi32>
  %26 = tile.addptr %24, %25 : tensor<32x48x!tile.ptr<f32>>, tensor<32x48xi32>
  %27 = tile.dot %11, %20, %cst : tensor<32x64xbf16>, tensor<64x48xbf16> -> tensor<32x48xf32>
  tile.store %26, %27 : tensor<32x48x!tile.ptr<f32>>, tensor<32x48xf32>
  return
}
