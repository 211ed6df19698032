// RUN: nacre-opt %s --split-input-file --verify-diagnostics

func.func @used_after(%x: i64) {
  %p = cpu.scratch 64
  // expected-error @below {{is followed by a use of the memory}}
  cpu.release %p
  // expected-note @below {{used here}}
  llvm.store %x, %p : i64, !llvm.ptr
  return
}

// -----

func.func @elsewhere(%c: i1) {
  %p = cpu.scratch 64
  scf.if %c {
    // expected-error @below {{ends a cpu.scratch of its own block that is not kept}}
    cpu.release %p
  }
  return
}

// -----

func.func @kept() {
  %p = cpu.scratch 64 kept
  // expected-error @below {{ends a cpu.scratch of its own block that is not kept}}
  cpu.release %p
  return
}

// -----

func.func @no_panels(%c: !llvm.ptr, %a: !llvm.ptr, %b: !llvm.ptr) {
  // expected-error @below {{has rows, panels and a word on tables for each product}}
  cpu.micro_kernel %c rows(%a, %a) panels(%b) {blocking = #cpu.blocking<batch = 1, m = 4, n = 8, k = 4, operand = f32, sum = f32, lanes = 8, panel = 8, rows = 4, engine = vectors>, tables = array<i1: false, false>}
  return
}

// -----

func.func @tables_of_batches(%c: !llvm.ptr, %a: !llvm.ptr, %b: !llvm.ptr) {
  // expected-error @below {{has tables of rows for one batch alone}}
  cpu.micro_kernel %c rows(%a) panels(%b) {blocking = #cpu.blocking<batch = 2, m = 4, n = 8, k = 4, operand = f32, sum = f32, lanes = 8, panel = 8, rows = 4, engine = vectors>, tables = array<i1: true>}
  return
}

// -----

func.func @ahead(%c: !llvm.ptr, %a: !llvm.ptr, %b: !llvm.ptr, %d: i64) {
  // expected-error @below {{has a distance ahead for each table, or for none}}
  cpu.micro_kernel %c rows(%a) panels(%b) ahead(%d) {blocking = #cpu.blocking<batch = 1, m = 4, n = 8, k = 4, operand = f32, sum = f32, lanes = 8, panel = 8, rows = 4, engine = vectors>, tables = array<i1: false>}
  return
}

// -----

// expected-error @below {{a panel has a power of two of columns, not 12}}
func.func @panel() attributes {b = #cpu.blocking<batch = 1, m = 4, n = 8, k = 4, operand = f32, sum = f32, lanes = 8, panel = 12, rows = 4, engine = vectors>} {
  return
}

// -----

#b = #cpu.blocking<batch = 1, m = 4, n = 8, k = 4, operand = f32, sum = f32, lanes = 8, panel = 8, rows = 4, engine = vectors>
func.func @other_sizes(%a: tensor<4x8xf32>) {
  // expected-error @below {{packs 'tensor<4x8xf32>', which is no operand of a product of these sizes}}
  %rows = cpu.rows %a {blocking = #b} : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

#b = #cpu.blocking<batch = 1, m = 4, n = 8, k = 4, operand = f32, sum = f32, lanes = 8, panel = 8, rows = 4, engine = vectors>
func.func @other_panels(%b: tensor<4x8xf16>) {
  // expected-error @below {{gives 'tensor<1x1x4x8xf32>'}}
  %panels = cpu.panels %b {blocking = #b} : tensor<4x8xf16> -> tensor<1x1x4x8xf16>
  return
}

// -----

#b = #cpu.blocking<batch = 1, m = 4, n = 8, k = 4, operand = f32, sum = f32, lanes = 8, panel = 8, rows = 4, engine = vectors>
func.func @key(%a: tensor<4x4xf32>, %i: i32) {
  // expected-error @below {{has a key and is not kept}}
  %rows = cpu.rows %a by(%i : i32) {blocking = #b} : tensor<4x4xf32> -> tensor<4x4xf32>
  return
}

// -----

#b = #cpu.blocking<batch = 1, m = 4, n = 8, k = 4, operand = f32, sum = f32, lanes = 8, panel = 8, rows = 4, engine = vectors>
func.func @sum(%c: tensor<4x8xf16>, %a: tensor<4x4xf32>, %b: tensor<1x1x4x8xf32>) {
  // expected-error @below {{sums to 'tensor<4x8xf16>', which is no product of these sizes}}
  %s = cpu.multiply %c rows(%a : tensor<4x4xf32>) panels(%b : tensor<1x1x4x8xf32>) {blocking = #b} : tensor<4x8xf16>
  return
}
