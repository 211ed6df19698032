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
