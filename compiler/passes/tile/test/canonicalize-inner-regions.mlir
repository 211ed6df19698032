// RUN: nacre-opt %s --canonicalize-inner-regions | FileCheck %s

// A short body is left as it is.
// CHECK-LABEL: func.func @short
// CHECK: scf.for
// CHECK:   arith.addi
func.func @short(%p: !tile.ptr<i32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.for %i = %zero to %n step %one : i32 {
    %sum = arith.addi %i, %zero : i32
    tile.store %p, %sum : !tile.ptr<i32>, i32
  }
  return
}

// A long one is simplified: adding zero 130 times leaves the index.
// CHECK-LABEL: func.func @long
// CHECK: scf.for %[[INDEX:.*]] =
// CHECK-NOT: arith.addi
// CHECK: tile.store %{{.*}}, %[[INDEX]]
func.func @long(%p: !tile.ptr<i32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.for %i = %zero to %n step %one : i32 {
    %s0 = arith.addi %i, %zero : i32
    %s1 = arith.addi %s0, %zero : i32
    %s2 = arith.addi %s1, %zero : i32
    %s3 = arith.addi %s2, %zero : i32
    %s4 = arith.addi %s3, %zero : i32
    %s5 = arith.addi %s4, %zero : i32
    %s6 = arith.addi %s5, %zero : i32
    %s7 = arith.addi %s6, %zero : i32
    %s8 = arith.addi %s7, %zero : i32
    %s9 = arith.addi %s8, %zero : i32
    %s10 = arith.addi %s9, %zero : i32
    %s11 = arith.addi %s10, %zero : i32
    %s12 = arith.addi %s11, %zero : i32
    %s13 = arith.addi %s12, %zero : i32
    %s14 = arith.addi %s13, %zero : i32
    %s15 = arith.addi %s14, %zero : i32
    %s16 = arith.addi %s15, %zero : i32
    %s17 = arith.addi %s16, %zero : i32
    %s18 = arith.addi %s17, %zero : i32
    %s19 = arith.addi %s18, %zero : i32
    %s20 = arith.addi %s19, %zero : i32
    %s21 = arith.addi %s20, %zero : i32
    %s22 = arith.addi %s21, %zero : i32
    %s23 = arith.addi %s22, %zero : i32
    %s24 = arith.addi %s23, %zero : i32
    %s25 = arith.addi %s24, %zero : i32
    %s26 = arith.addi %s25, %zero : i32
    %s27 = arith.addi %s26, %zero : i32
    %s28 = arith.addi %s27, %zero : i32
    %s29 = arith.addi %s28, %zero : i32
    %s30 = arith.addi %s29, %zero : i32
    %s31 = arith.addi %s30, %zero : i32
    %s32 = arith.addi %s31, %zero : i32
    %s33 = arith.addi %s32, %zero : i32
    %s34 = arith.addi %s33, %zero : i32
    %s35 = arith.addi %s34, %zero : i32
    %s36 = arith.addi %s35, %zero : i32
    %s37 = arith.addi %s36, %zero : i32
    %s38 = arith.addi %s37, %zero : i32
    %s39 = arith.addi %s38, %zero : i32
    %s40 = arith.addi %s39, %zero : i32
    %s41 = arith.addi %s40, %zero : i32
    %s42 = arith.addi %s41, %zero : i32
    %s43 = arith.addi %s42, %zero : i32
    %s44 = arith.addi %s43, %zero : i32
    %s45 = arith.addi %s44, %zero : i32
    %s46 = arith.addi %s45, %zero : i32
    %s47 = arith.addi %s46, %zero : i32
    %s48 = arith.addi %s47, %zero : i32
    %s49 = arith.addi %s48, %zero : i32
    %s50 = arith.addi %s49, %zero : i32
    %s51 = arith.addi %s50, %zero : i32
    %s52 = arith.addi %s51, %zero : i32
    %s53 = arith.addi %s52, %zero : i32
    %s54 = arith.addi %s53, %zero : i32
    %s55 = arith.addi %s54, %zero : i32
    %s56 = arith.addi %s55, %zero : i32
    %s57 = arith.addi %s56, %zero : i32
    %s58 = arith.addi %s57, %zero : i32
    %s59 = arith.addi %s58, %zero : i32
    %s60 = arith.addi %s59, %zero : i32
    %s61 = arith.addi %s60, %zero : i32
    %s62 = arith.addi %s61, %zero : i32
    %s63 = arith.addi %s62, %zero : i32
    %s64 = arith.addi %s63, %zero : i32
    %s65 = arith.addi %s64, %zero : i32
    %s66 = arith.addi %s65, %zero : i32
    %s67 = arith.addi %s66, %zero : i32
    %s68 = arith.addi %s67, %zero : i32
    %s69 = arith.addi %s68, %zero : i32
    %s70 = arith.addi %s69, %zero : i32
    %s71 = arith.addi %s70, %zero : i32
    %s72 = arith.addi %s71, %zero : i32
    %s73 = arith.addi %s72, %zero : i32
    %s74 = arith.addi %s73, %zero : i32
    %s75 = arith.addi %s74, %zero : i32
    %s76 = arith.addi %s75, %zero : i32
    %s77 = arith.addi %s76, %zero : i32
    %s78 = arith.addi %s77, %zero : i32
    %s79 = arith.addi %s78, %zero : i32
    %s80 = arith.addi %s79, %zero : i32
    %s81 = arith.addi %s80, %zero : i32
    %s82 = arith.addi %s81, %zero : i32
    %s83 = arith.addi %s82, %zero : i32
    %s84 = arith.addi %s83, %zero : i32
    %s85 = arith.addi %s84, %zero : i32
    %s86 = arith.addi %s85, %zero : i32
    %s87 = arith.addi %s86, %zero : i32
    %s88 = arith.addi %s87, %zero : i32
    %s89 = arith.addi %s88, %zero : i32
    %s90 = arith.addi %s89, %zero : i32
    %s91 = arith.addi %s90, %zero : i32
    %s92 = arith.addi %s91, %zero : i32
    %s93 = arith.addi %s92, %zero : i32
    %s94 = arith.addi %s93, %zero : i32
    %s95 = arith.addi %s94, %zero : i32
    %s96 = arith.addi %s95, %zero : i32
    %s97 = arith.addi %s96, %zero : i32
    %s98 = arith.addi %s97, %zero : i32
    %s99 = arith.addi %s98, %zero : i32
    %s100 = arith.addi %s99, %zero : i32
    %s101 = arith.addi %s100, %zero : i32
    %s102 = arith.addi %s101, %zero : i32
    %s103 = arith.addi %s102, %zero : i32
    %s104 = arith.addi %s103, %zero : i32
    %s105 = arith.addi %s104, %zero : i32
    %s106 = arith.addi %s105, %zero : i32
    %s107 = arith.addi %s106, %zero : i32
    %s108 = arith.addi %s107, %zero : i32
    %s109 = arith.addi %s108, %zero : i32
    %s110 = arith.addi %s109, %zero : i32
    %s111 = arith.addi %s110, %zero : i32
    %s112 = arith.addi %s111, %zero : i32
    %s113 = arith.addi %s112, %zero : i32
    %s114 = arith.addi %s113, %zero : i32
    %s115 = arith.addi %s114, %zero : i32
    %s116 = arith.addi %s115, %zero : i32
    %s117 = arith.addi %s116, %zero : i32
    %s118 = arith.addi %s117, %zero : i32
    %s119 = arith.addi %s118, %zero : i32
    %s120 = arith.addi %s119, %zero : i32
    %s121 = arith.addi %s120, %zero : i32
    %s122 = arith.addi %s121, %zero : i32
    %s123 = arith.addi %s122, %zero : i32
    %s124 = arith.addi %s123, %zero : i32
    %s125 = arith.addi %s124, %zero : i32
    %s126 = arith.addi %s125, %zero : i32
    %s127 = arith.addi %s126, %zero : i32
    %s128 = arith.addi %s127, %zero : i32
    %s129 = arith.addi %s128, %zero : i32
    tile.store %p, %s129 : !tile.ptr<i32>, i32
  }
  return
}
