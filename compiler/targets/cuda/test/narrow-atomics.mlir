// Elements of 16 bits are exchanged by themselves, not with the word around them, which may reach beyond the array; one that
// is replaced while nobody asks what it was is a store.
// RUN: nacre-opt %s --run add --engine simulate --args 'i16[3]={5,6,7}' | FileCheck %s --check-prefix=ADD
// RUN: nacre-opt %s --run add --engine simulate --show-stage ptx --args 'i16[3]={5,6,7}' | FileCheck %s --check-prefix=PTX
// RUN: nacre-opt %s --run set --engine simulate --show-stage ptx --args 'i8[3]={5,6,7},i16[3]=0' | FileCheck %s --check-prefix=SET

// ADD: argument 0
// ADD-NEXT: [ 5 6 11
// PTX: ld.relaxed.gpu.global.b16
// PTX: atom.acq_rel.gpu.global.cas.b16
func.func @add(%x: !tile.ptr<i16>) attributes {tile.kernel} {
  %two = arith.constant 2 : i32
  %four = arith.constant 4 : i16
  %p = tile.addptr %x, %two : !tile.ptr<i16>, i32
  %old = tile.atomic_rmw addi %p, %four : !tile.ptr<i16>, i16 -> i16
  return
}

// SET: st.release.gpu.global.b8
// SET: st.relaxed.sys.global.b16
func.func @set(%x: !tile.ptr<i8>, %y: !tile.ptr<i16>) attributes {tile.kernel} {
  %four = arith.constant 4 : i8
  %five = arith.constant 5 : i16
  %a = tile.atomic_rmw xchg %x, %four : !tile.ptr<i8>, i8 -> i8
  %b = tile.atomic_rmw xchg %y, %five {order = #tile<order relaxed>, scope = #tile<scope sys>} : !tile.ptr<i16>, i16 -> i16
  return
}
