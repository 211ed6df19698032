// Every operation, printed and read back.
// RUN: nacre-opt %s | nacre-opt | FileCheck %s
// RUN: nacre-opt %s -mlir-print-op-generic | nacre-opt | FileCheck %s

// CHECK-LABEL: func.func @grid
func.func @grid() attributes {tile.kernel} {
  // CHECK: tile.program_id 0
  %0 = tile.program_id 0
  // CHECK: tile.num_programs 2
  %1 = tile.num_programs 2
  // CHECK: tile.clock : i64
  %2 = tile.clock : i64
  // CHECK: tile.processor : i32
  %3 = tile.processor : i32
  return
}

// CHECK-LABEL: func.func @shapes
// CHECK-SAME: tile.divisibility = 16
func.func @shapes(%scalar: f32 {tile.divisibility = 16 : i64}, %row: tensor<8xf32>, %square: tensor<4x8xf32>, %pairs: tensor<4x2xf32>, %pair: tensor<2xi32>) {
  // CHECK: tile.arange 3 : tensor<5xi32>
  %0 = tile.arange 3 : tensor<5xi32>
  // CHECK: tile.splat %{{.*}} : f32 -> tensor<3x5xf32>
  %1 = tile.splat %scalar : f32 -> tensor<3x5xf32>
  // CHECK: tile.expand_dims %{{.*}} 0 : tensor<8xf32> -> tensor<1x8xf32>
  %2 = tile.expand_dims %row 0 : tensor<8xf32> -> tensor<1x8xf32>
  // CHECK: tile.broadcast %{{.*}} : tensor<1x8xf32> -> tensor<4x8xf32>
  %3 = tile.broadcast %2 : tensor<1x8xf32> -> tensor<4x8xf32>
  // CHECK: tile.reshape %{{.*}} : tensor<4x8xf32> -> tensor<2x16xf32>
  %4 = tile.reshape %square : tensor<4x8xf32> -> tensor<2x16xf32>
  // CHECK: tile.permute %{{.*}} [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  %5 = tile.permute %square [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  // CHECK: tile.concatenate %{{.*}}, %{{.*}} 0 : tensor<4x8xf32>, tensor<1x8xf32> -> tensor<5x8xf32>
  %6 = tile.concatenate %square, %2 0 : tensor<4x8xf32>, tensor<1x8xf32> -> tensor<5x8xf32>
  // CHECK: tile.join %{{.*}}, %{{.*}} : tensor<8xf32> -> tensor<8x2xf32>
  %7 = tile.join %row, %row : tensor<8xf32> -> tensor<8x2xf32>
  // CHECK: tile.split %{{.*}} : tensor<4x2xf32> -> tensor<4xf32>
  %8:2 = tile.split %pairs : tensor<4x2xf32> -> tensor<4xf32>
  // CHECK: tile.split %{{.*}} : tensor<2xi32> -> i32
  %9:2 = tile.split %pair : tensor<2xi32> -> i32
  // CHECK: tile.extract %{{.*}} [3, 7] : tensor<4x8xf32> -> f32
  %10 = tile.extract %square [3, 7] : tensor<4x8xf32> -> f32
  // CHECK: tile.gather %{{.*}}[%{{.*}}] 0 : tensor<8xf32>, tensor<2xi32> -> tensor<2xf32>
  %11 = tile.gather %row[%pair] 0 : tensor<8xf32>, tensor<2xi32> -> tensor<2xf32>
  return
}

// CHECK-LABEL: func.func @conversions
func.func @conversions(%x: tensor<8xf32>, %half: f16, %pointer: !tile.ptr<f32>, %address: i64) {
  // CHECK: tile.fp_cast %{{.*}} : tensor<8xf32> -> tensor<8xf8E4M3FN>
  %0 = tile.fp_cast %x : tensor<8xf32> -> tensor<8xf8E4M3FN>
  // CHECK: tile.fp_cast %{{.*}} round rtz : f16 -> !tile.f8E4B15
  %1 = tile.fp_cast %half round rtz : f16 -> !tile.f8E4B15
  // CHECK: tile.bitcast %{{.*}} : tensor<8xf32> -> tensor<8xi32>
  %2 = tile.bitcast %x : tensor<8xf32> -> tensor<8xi32>
  // CHECK: tile.bitcast %{{.*}} : !tile.ptr<f32> -> !tile.ptr<i8>
  %3 = tile.bitcast %pointer : !tile.ptr<f32> -> !tile.ptr<i8>
  // CHECK: tile.ptr_to_int %{{.*}} : !tile.ptr<f32> -> i64
  %4 = tile.ptr_to_int %pointer : !tile.ptr<f32> -> i64
  // CHECK: tile.int_to_ptr %{{.*}} : i64 -> !tile.ptr<f16, 3>
  %5 = tile.int_to_ptr %address : i64 -> !tile.ptr<f16, 3>
  // CHECK: tile.int_to_ptr %{{.*}} : i64 -> !tile.ptr<f16, const>
  %6 = tile.int_to_ptr %address : i64 -> !tile.ptr<f16, const>
  // CHECK: tile.int_to_ptr %{{.*}} : i64 -> !tile.ptr<f16, 3, const>
  %7 = tile.int_to_ptr %address : i64 -> !tile.ptr<f16, 3, const>
  return
}

// CHECK-LABEL: func.func @memory
func.func @memory(%pointer: !tile.ptr<f32>, %pointers: tensor<8x!tile.ptr<f32>>, %offsets: tensor<8xi32>, %mask: tensor<8xi1>,
                  %values: tensor<8xf32>, %number: f32, %counters: tensor<8x!tile.ptr<i32>>) {
  // CHECK: tile.addptr %{{.*}}, %{{.*}} : tensor<8x!tile.ptr<f32>>, tensor<8xi32>
  %0 = tile.addptr %pointers, %offsets : tensor<8x!tile.ptr<f32>>, tensor<8xi32>
  // CHECK: tile.load %{{.*}} : !tile.ptr<f32> -> f32
  %1 = tile.load %pointer : !tile.ptr<f32> -> f32
  // CHECK: tile.load %{{.*}} mask %{{.*}} : tensor<8xi1> other %{{.*}} : tensor<8xf32> : tensor<8x!tile.ptr<f32>> -> tensor<8xf32>
  %2 = tile.load %0 mask %mask : tensor<8xi1> other %values : tensor<8xf32> : tensor<8x!tile.ptr<f32>> -> tensor<8xf32>
  // CHECK: tile.load %{{.*}} {cache = #tile<cache cg>, eviction = #tile<eviction evict_first>, isVolatile = true}
  %3 = tile.load %0 {cache = #tile<cache cg>, eviction = #tile<eviction evict_first>, isVolatile = true} : tensor<8x!tile.ptr<f32>> -> tensor<8xf32>
  // CHECK: tile.store %{{.*}}, %{{.*}} mask %{{.*}} : tensor<8xi1> : tensor<8x!tile.ptr<f32>>, tensor<8xf32>
  tile.store %0, %2 mask %mask : tensor<8xi1> : tensor<8x!tile.ptr<f32>>, tensor<8xf32>
  // CHECK: tile.store %{{.*}}, %{{.*}} : !tile.ptr<f32>, f32
  tile.store %pointer, %number : !tile.ptr<f32>, f32
  // CHECK: tile.atomic_rmw addf %{{.*}}, %{{.*}} mask %{{.*}} : tensor<8xi1> {order = #tile<order relaxed>, scope = #tile<scope cta>}
  %4 = tile.atomic_rmw addf %0, %values mask %mask : tensor<8xi1> {order = #tile<order relaxed>, scope = #tile<scope cta>}
    : tensor<8x!tile.ptr<f32>>, tensor<8xf32> -> tensor<8xf32>
  // CHECK: tile.atomic_cas %{{.*}}, %{{.*}}, %{{.*}} : tensor<8x!tile.ptr<i32>>, tensor<8xi32>
  %5 = tile.atomic_cas %counters, %offsets, %offsets : tensor<8x!tile.ptr<i32>>, tensor<8xi32>
  // CHECK: tile.barrier
  tile.barrier
  return
}

// CHECK-LABEL: func.func @dots
func.func @dots(%small: tensor<4x8xf8E5M2>, %other: tensor<8x16xf8E4M3FN>, %a: tensor<4x8xf16>, %b: tensor<8x16xf16>, %c: tensor<4x16xf32>, %batch: tensor<3x4x4xf32>) {
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x8xf16>, tensor<8x16xf16> -> tensor<4x16xf32>
  %0 = tile.dot %a, %b, %c : tensor<4x8xf16>, tensor<8x16xf16> -> tensor<4x16xf32>
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} precision ieee : tensor<3x4x4xf32>, tensor<3x4x4xf32> -> tensor<3x4x4xf32>
  %1 = tile.dot %batch, %batch, %batch precision ieee : tensor<3x4x4xf32>, tensor<3x4x4xf32> -> tensor<3x4x4xf32>
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} {maxImpreciseAcc = 32 : i32} : tensor<4x8xf8E5M2>, tensor<8x16xf8E4M3FN> -> tensor<4x16xf32>
  %2 = tile.dot %small, %other, %c {maxImpreciseAcc = 32 : i32} : tensor<4x8xf8E5M2>, tensor<8x16xf8E4M3FN> -> tensor<4x16xf32>
  return
}

// CHECK-LABEL: func.func @reductions
func.func @reductions(%x: tensor<4x8xf32>, %i: tensor<4x8xi32>, %row: tensor<8xi32>, %mask: tensor<8xi1>) {
  // CHECK: tile.reduce %{{.*}}, %{{.*}} axis 1 {
  // CHECK: tile.yield %{{.*}}, %{{.*}} : f32, i32
  // CHECK: } : (tensor<4x8xf32>, tensor<4x8xi32>) -> (tensor<4xf32>, tensor<4xi32>)
  %0:2 = tile.reduce %x, %i axis 1 {
  ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
    %greater = arith.cmpf ogt, %a, %b : f32
    %value = arith.select %greater, %a, %b : f32
    %index = arith.select %greater, %ai, %bi : i32
    tile.yield %value, %index : f32, i32
  } : (tensor<4x8xf32>, tensor<4x8xi32>) -> (tensor<4xf32>, tensor<4xi32>)
  // CHECK: tile.reduce %{{.*}} axis 0 {
  // CHECK: } : (tensor<8xi32>) -> i32
  %1 = tile.reduce %row axis 0 {
  ^bb0(%a: i32, %b: i32):
    %sum = arith.addi %a, %b : i32
    tile.yield %sum : i32
  } : (tensor<8xi32>) -> i32
  // CHECK: tile.scan %{{.*}} axis 0 {
  // CHECK: } {reverse = true} : (tensor<8xi32>) -> tensor<8xi32>
  %2 = tile.scan %row axis 0 {
  ^bb0(%a: i32, %b: i32):
    %sum = arith.addi %a, %b : i32
    tile.yield %sum : i32
  } {reverse = true} : (tensor<8xi32>) -> tensor<8xi32>
  // CHECK: tile.histogram %{{.*}} mask %{{.*}} : tensor<8xi1> : tensor<8xi32> -> tensor<16xi32>
  %3 = tile.histogram %row mask %mask : tensor<8xi1> : tensor<8xi32> -> tensor<16xi32>
  // CHECK: tile.map %{{.*}} pack 2 {
  // CHECK: } : (tensor<8xi32>) -> tensor<8xi32>
  %4 = tile.map %row pack 2 {
  ^bb0(%a: i32, %b: i32):
    tile.yield %b, %a : i32, i32
  } : (tensor<8xi32>) -> tensor<8xi32>
  return
}

// CHECK-LABEL: func.func @debugging
func.func @debugging(%x: tensor<8xf32>, %n: i32, %mask: tensor<8xi1>, %condition: i1, %pointers: tensor<8x!tile.ptr<f32>>) {
  // CHECK: tile.tell "arithmetic" "div int32" %{{.*}}, %{{.*}} : i32, i32 {isSigned = array<i1: true, true>}
  tile.tell "arithmetic" "div int32" %n, %n : i32, i32 {isSigned = array<i1: true, true>}
  // CHECK: tile.check_access "load" %{{.*}} mask %{{.*}} : tensor<8xi1> {argument = 0 : i32} : tensor<8x!tile.ptr<f32>>
  tile.check_access "load" %pointers mask %mask : tensor<8xi1> {argument = 0 : i32} : tensor<8x!tile.ptr<f32>>
  // CHECK: tile.print "x" %{{.*}}, %{{.*}} : tensor<8xf32>, i32 {hex = true, isSigned = array<i1: true, false>}
  tile.print "x" %x, %n : tensor<8xf32>, i32 {hex = true, isSigned = array<i1: true, false>}
  // CHECK: tile.print "here" {isSigned = array<i1>}
  tile.print "here" {isSigned = array<i1>}
  // CHECK: tile.assert %{{.*}}, "all" : tensor<8xi1>
  tile.assert %mask, "all" : tensor<8xi1>
  // CHECK: tile.assume %{{.*}}
  tile.assume %condition
  // CHECK: tile.hint %{{.*}} divisibility [16] : i32
  %0 = tile.hint %n divisibility [16] : i32
  // CHECK: tile.inline_asm "bswap $0" "=r,0" %{{.*}} : i32 {isPure = true, pack = 1 : i32} -> i32
  %1 = tile.inline_asm "bswap $0" "=r,0" %n : i32 {isPure = true, pack = 1 : i32} -> i32
  // CHECK: tile.external_call "twice" of "/lib.bc" "0123" %{{.*}} : tensor<8xf32> {isPure = true, isSigned = array<i1: false, false>} -> tensor<8xf32>
  %2 = tile.external_call "twice" of "/lib.bc" "0123" %x : tensor<8xf32> {isPure = true, isSigned = array<i1: false, false>} -> tensor<8xf32>
  return
}

// CHECK-LABEL: func.func @descriptors
// CHECK-SAME: {tile.field_divisibility = array<i64: 16, 1, 1, 8>, tile.fields = [!tile.ptr<f16>, i32, 1, i64], tile.padding = #tile<padding nan>}
func.func @descriptors(%given: !tile.descriptor<tensor<4x8xf16>> {tile.fields = [!tile.ptr<f16>, i32, 1 : i64, i64],
                       tile.field_divisibility = array<i64: 16, 1, 1, 8>, tile.padding = #tile<padding nan>},
                       %base: !tile.ptr<f32>, %i: i64, %x: tensor<4x8xf16>, %rows: tensor<2xi32>, %y: tensor<2x8xf32>) {
  // CHECK: tile.make_descriptor %{{.*}} shape[%{{.*}}, %{{.*}}] strides[%{{.*}}] padding nan : !tile.ptr<f32> -> !tile.descriptor<tensor<1x8xf32>>
  %made = tile.make_descriptor %base shape[%i, %i] strides[%i] padding nan : !tile.ptr<f32> -> !tile.descriptor<tensor<1x8xf32>>
  // CHECK: tile.descriptor_base %{{.*}} : !tile.descriptor<tensor<4x8xf16>> -> !tile.ptr<f16>
  %0 = tile.descriptor_base %given : !tile.descriptor<tensor<4x8xf16>> -> !tile.ptr<f16>
  // CHECK: tile.descriptor_extent %{{.*}} 1 : !tile.descriptor<tensor<4x8xf16>>
  %1 = tile.descriptor_extent %given 1 : !tile.descriptor<tensor<4x8xf16>>
  // CHECK: tile.descriptor_stride %{{.*}} 0 : !tile.descriptor<tensor<4x8xf16>>
  %2 = tile.descriptor_stride %given 0 : !tile.descriptor<tensor<4x8xf16>>
  // CHECK: tile.descriptor_load %{{.*}}[%{{.*}}, %{{.*}}] padding nan {cache = #tile<cache cg>} : !tile.descriptor<tensor<4x8xf16>> -> tensor<4x8xf16>
  %3 = tile.descriptor_load %given[%i, %1] padding nan {cache = #tile<cache cg>} : !tile.descriptor<tensor<4x8xf16>> -> tensor<4x8xf16>
  // CHECK: tile.descriptor_store %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}} : !tile.descriptor<tensor<4x8xf16>>, tensor<4x8xf16>
  tile.descriptor_store %given[%i, %2], %x : !tile.descriptor<tensor<4x8xf16>>, tensor<4x8xf16>
  // CHECK: tile.descriptor_reduce addf %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}} : !tile.descriptor<tensor<4x8xf16>>, tensor<4x8xf16>
  tile.descriptor_reduce addf %given[%i, %i], %x : !tile.descriptor<tensor<4x8xf16>>, tensor<4x8xf16>
  // CHECK: tile.descriptor_gather %{{.*}}[%{{.*}}, %{{.*}}] : !tile.descriptor<tensor<1x8xf32>>, tensor<2xi32> -> tensor<2x8xf32>
  %4 = tile.descriptor_gather %made[%rows, %i] : !tile.descriptor<tensor<1x8xf32>>, tensor<2xi32> -> tensor<2x8xf32>
  // CHECK: tile.descriptor_scatter %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}} : !tile.descriptor<tensor<1x8xf32>>, tensor<2xi32>, tensor<2x8xf32>
  tile.descriptor_scatter %made[%rows, %i], %y : !tile.descriptor<tensor<1x8xf32>>, tensor<2xi32>, tensor<2x8xf32>
  return
}

// CHECK-LABEL: func.func @scaled_dots
func.func @scaled_dots(%a: tensor<16x32xi8>, %s: tensor<16x2xi8>, %b: tensor<64x8xbf16>, %c: tensor<16x8xf32>) {
  // CHECK: tile.dot_scaled e2m1 %{{.*}} scale %{{.*}} : tensor<16x2xi8>, bf16 %{{.*}}, %{{.*}} : tensor<16x32xi8>, tensor<64x8xbf16> -> tensor<16x8xf32>
  %0 = tile.dot_scaled e2m1 %a scale %s : tensor<16x2xi8>, bf16 %b, %c : tensor<16x32xi8>, tensor<64x8xbf16> -> tensor<16x8xf32>
  return
}
