// RUN: nacre-opt %s --split-input-file --place-scratch | FileCheck %s

// What is released makes room: the second takes its place where it fits, the third the first gap behind. What is kept lies beyond
// all others. Addresses are computed before the loop over the grid.
// CHECK: module attributes {cpu.scratch_bytes = 3136 : i64}
// CHECK-LABEL: func.func @reused(
// CHECK-SAME: %[[CONTEXT:.*]]: !llvm.ptr)
// CHECK: %[[FIELD:.*]] = llvm.getelementptr %[[CONTEXT]]
// CHECK: %[[ARENA:.*]] = llvm.load %[[FIELD]] {{.*}} -> !llvm.ptr
// CHECK: %[[OFFSET:.*]] = arith.constant 1024 : i64
// CHECK: %[[SECOND:.*]] = llvm.getelementptr %[[ARENA]][%[[OFFSET]]]
// CHECK: %[[BEYOND:.*]] = arith.constant 3072 : i64
// CHECK: %[[KEPT:.*]] = llvm.getelementptr %[[ARENA]][%[[BEYOND]]]
// CHECK: scf.forall
// CHECK-NEXT: llvm.load %[[ARENA]]
// CHECK-NEXT: llvm.load %[[SECOND]]
// CHECK-NEXT: llvm.load %[[ARENA]]
// CHECK-NEXT: llvm.store %{{.*}}, %[[KEPT]]
// CHECK-NOT: cpu.
module {
  func.func @reused(%context: !llvm.ptr) attributes {cpu.kernel} {
    %one = arith.constant 1 : i64
    %kept = cpu.scratch 8 kept
    %w = arith.constant 4 : index
    scf.forall (%i, %j, %k) in (%w, %w, %w) {
      %first = cpu.scratch 1000
      %first_read = llvm.load %first : !llvm.ptr -> i64
      %second = cpu.scratch 2000
      %second_read = llvm.load %second : !llvm.ptr -> i64
      cpu.release %first
      %third = cpu.scratch 1024
      %third_read = llvm.load %third : !llvm.ptr -> i64
      llvm.store %one, %kept : i64, !llvm.ptr
      cpu.release %second
      cpu.release %third
    }
    return
  }
}

// -----

// A loop's own memory is given back at the end of its body, and what stands after the loop has it.
// CHECK: module attributes {cpu.scratch_bytes = 640 : i64}
// CHECK-LABEL: func.func @nested(
module {
  func.func @nested(%n: i64, %context: !llvm.ptr) attributes {cpu.kernel} {
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %w = arith.constant 4 : index
    scf.forall (%i, %j, %k) in (%w, %w, %w) {
      scf.for %t = %zero to %n step %one : i64 {
        %inside = cpu.scratch 640
        %inside_read = llvm.load %inside : !llvm.ptr -> i64
        cpu.release %inside
      }
      %after = cpu.scratch 640
      %after_read = llvm.load %after : !llvm.ptr -> i64
    }
    return
  }
}

// -----

// CHECK: module attributes {cpu.scratch_bytes = 0 : i64}
// CHECK-LABEL: func.func @none(
// CHECK-NEXT: arith.constant
// CHECK-NEXT: scf.forall
module {
  func.func @none(%context: !llvm.ptr) attributes {cpu.kernel} {
    %w = arith.constant 4 : index
    scf.forall (%i, %j, %k) in (%w, %w, %w) {
    }
    return
  }
}

// -----

// Small memory that is loaded and stored at known offsets is a variable, which becomes registers; not so where an offset is
// known only at run time, or where the address goes elsewhere.
// CHECK: module attributes {cpu.scratch_bytes = 128 : i64}
// CHECK-LABEL: func.func @variables(
// CHECK: %[[SUM:.*]] = llvm.alloca %{{.*}} x i8 {alignment = 64 : i64}
// CHECK: scf.forall
// CHECK: llvm.store %{{.*}}, %[[SUM]] :
// CHECK: %[[HIGH:.*]] = llvm.getelementptr %[[SUM]]
// CHECK: llvm.load %[[HIGH]]
// CHECK-NOT: alloca
module {
  func.func @variables(%n: i64, %p: !llvm.ptr, %context: !llvm.ptr) attributes {cpu.kernel} {
    %one = arith.constant 1 : i64
    %zero = arith.constant dense<0.0> : vector<32xf32>
    %c64 = arith.constant 64 : i64
    %w = arith.constant 4 : index
    scf.forall (%i, %j, %k) in (%w, %w, %w) {
      %sum = cpu.scratch 128
      llvm.store %zero, %sum : vector<32xf32>, !llvm.ptr
      %high = llvm.getelementptr %sum[%c64] : (!llvm.ptr, i64) -> !llvm.ptr, i8
      %half = llvm.load %high : !llvm.ptr -> vector<16xf32>
      llvm.store %half, %p : vector<16xf32>, !llvm.ptr
      cpu.release %sum
      %anywhere = cpu.scratch 64
      %some = llvm.getelementptr %anywhere[%n] : (!llvm.ptr, i64) -> !llvm.ptr, i8
      llvm.store %one, %some : i64, !llvm.ptr
      %read = llvm.load %some : !llvm.ptr -> i64
      %told = cpu.scratch 64
      llvm.store %told, %p : !llvm.ptr, !llvm.ptr
      cpu.release %anywhere
      cpu.release %told
    }
    return
  }
}

// -----

// What is stored and never read is left out with its stores; not so where somebody else is told the address, or where it is kept.
// CHECK: module attributes {cpu.scratch_bytes = 128 : i64}
// CHECK-LABEL: func.func @unread(
// CHECK: scf.forall
// CHECK-NEXT: scf.for
// CHECK-NEXT: }
// CHECK-NEXT: llvm.store %{{.*}}, %{{.*}} : !llvm.ptr, !llvm.ptr
// CHECK-NEXT: llvm.store %{{.*}}, %{{.*}} : i64, !llvm.ptr
// CHECK-NEXT: }
module {
  func.func @unread(%n: i64, %p: !llvm.ptr, %context: !llvm.ptr) attributes {cpu.kernel} {
    %one = arith.constant 1 : i64
    %zero = arith.constant 0 : i64
    %kept = cpu.scratch 8 kept
    %w = arith.constant 4 : index
    scf.forall (%i, %j, %k) in (%w, %w, %w) {
      %unread = cpu.scratch 4096
      scf.for %t = %zero to %n step %one : i64 {
        %place = llvm.getelementptr %unread[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i64
        llvm.store %one, %place : i64, !llvm.ptr
      }
      cpu.release %unread
      %told = cpu.scratch 64
      llvm.store %told, %p : !llvm.ptr, !llvm.ptr
      cpu.release %told
      llvm.store %one, %kept : i64, !llvm.ptr
    }
    return
  }
}
