# signature: *i32,i32
import triton
import triton.language as tl


@triton.jit
def halve(x):
    while x > 1:
        x //= 2
    return x


@triton.jit
def write(x, pointer):
    if x > 1:
        tl.store(pointer, x)
    return x


@triton.jit
def exchanged(a, b):
    return b, a


# An element that goes its own way is a scalar of a region; the others stay tiles.
# CHECK-LABEL: func.func @kernel
# CHECK: tile.map %{{.*}} pack 1 {
# CHECK-NEXT: ^bb0(%[[X:.*]]: i32):
# CHECK: scf.while (%{{.*}} = %[[X]]) : (i32) -> i32
# CHECK: tile.yield %{{.*}} : i32
# CHECK-NEXT: } : (tensor<8xi32>) -> tensor<8xi32>
# CHECK: tile.map %{{.*}}, %{{.*}} pack 1 {
# CHECK: scf.if
# CHECK-NEXT: tile.store %{{.*}}, %{{.*}} : !tile.ptr<i32>, i32
# CHECK: tile.map %{{.*}} pack 2 {
# CHECK-NEXT: ^bb0(%[[A:.*]]: i32, %[[B:.*]]: i32):
# CHECK-NEXT: tile.yield %[[B]], %[[A]] : i32, i32
# CHECK-NEXT: } : (tensor<8xi32>) -> tensor<8xi32>
@triton.jit
def kernel(x_ptr, n):
    offsets = tl.arange(0, 8)
    tl.store(x_ptr + offsets, tl.map_elementwise(halve, offsets))
    tl.map_elementwise(write, offsets, x_ptr + offsets)
    (pairs,) = tl.map_elementwise(exchanged, offsets, pack=2)
    tl.store(x_ptr + offsets, pairs)
