// RUN: nacre-opt %s --watch-accesses --split-input-file | FileCheck %s

// The effects and the place stand with each access. An atomic whose result is looked at acquires: that is told after it.
// CHECK-LABEL: func.func @locks
// CHECK: tile.check_access "load" %{{.*}} {argument = 1 : i32, effects = 2 : i32, place = {{.*}}}
// CHECK-NEXT: tile.load
// CHECK: tile.check_access "atomic_cas" %[[LOCK:.*]] {argument = 0 : i32, effects = 15 : i32, place = {{.*}}, writes = true}
// CHECK-NEXT: tile.atomic_cas
// CHECK-NEXT: tile.check_access "acquire" %[[LOCK]] {argument = 0 : i32, effects = 16 : i32, place = {{.*}}}
func.func @locks(%lock: !tile.ptr<i32>, %in: !tile.ptr<i32>, %zero: i32) attributes {tile.kernel} {
  %x = tile.load %in : !tile.ptr<i32> -> i32
  %old = tile.atomic_cas %lock, %zero, %x : !tile.ptr<i32>, i32
  tile.store %in, %old : !tile.ptr<i32>, i32
  return
}

// -----

// Nobody looks at what the sum was: nothing is acquired, so nothing need be released. A pointer made of a number is told.
// CHECK-LABEL: func.func @counts
// CHECK: tile.check_access "atomic" %{{.*}} {argument = 0 : i32, effects = 7 : i32, place = {{.*}}, writes = true}
// CHECK-NOT: "acquire"
// CHECK: tile.check_access "store" %{{.*}} {argument = -2 : i32, effects = 1 : i32, place = {{.*}}, writes = true}
func.func @counts(%counter: !tile.ptr<i32>, %one: i32, %n: i64) attributes {tile.kernel} {
  %old = tile.atomic_rmw addi %counter, %one : !tile.ptr<i32>, i32 -> i32
  %p = tile.int_to_ptr %n : i64 -> !tile.ptr<i32>
  tile.store %p, %one : !tile.ptr<i32>, i32
  return
}

// -----

// What is loaded one after the other stays together: the checks stand before the first, with the arithmetic that they need. A check of what
// was loaded cannot.
// CHECK-LABEL: func.func @together
// CHECK: tile.check_access "load"
// CHECK-NEXT: %[[P:.*]] = tile.addptr
// CHECK-NEXT: tile.check_access "load" %[[P]]
// CHECK-NEXT: %[[A:.*]] = tile.load
// CHECK-NEXT: %[[B:.*]] = tile.load %[[P]]
// CHECK-NEXT: %[[Q:.*]] = tile.addptr %{{.*}}, %[[B]]
// CHECK-NEXT: tile.check_access "load" %[[Q]]
// CHECK-NEXT: tile.check_access "store"
// CHECK-NEXT: tile.load %[[Q]]
// CHECK-NEXT: tile.store
// CHECK-NEXT: tile.check_access "load"
// CHECK-NEXT: tile.check_access "store"
// CHECK-NEXT: tile.load
// CHECK-NEXT: tile.store %{{.*}}, %[[A]]
// CHECK-NEXT: tile.check_access "store"
func.func @together(%x: !tile.ptr<i32>, %y: !tile.ptr<i32>, %n: i32) attributes {tile.kernel} {
  %a = tile.load %x : !tile.ptr<i32> -> i32
  %p = tile.addptr %y, %n : !tile.ptr<i32>, i32
  %b = tile.load %p : !tile.ptr<i32> -> i32
  %q = tile.addptr %y, %b : !tile.ptr<i32>, i32
  %c = tile.load %q : !tile.ptr<i32> -> i32
  tile.store %x, %c : !tile.ptr<i32>, i32
  %d = tile.load %p : !tile.ptr<i32> -> i32
  tile.store %x, %a : !tile.ptr<i32>, i32
  tile.store %x, %d : !tile.ptr<i32>, i32
  return
}
