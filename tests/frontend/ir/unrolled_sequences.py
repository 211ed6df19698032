# signature: *i32,i32
import triton
import triton.language as tl


# CHECK-NOT: scf
# CHECK-COUNT-3: tile.store %{{.*}}, %{{.*}} : !tile.ptr<i32>, i32
# CHECK-COUNT-2: tile.store
# CHECK-COUNT-2: tile.store
# CHECK-NOT: tile.store
SHIFTS = tl.constexpr((2, 4))


@triton.jit
def kernel(x_ptr, n):
    for i in tl.static_range(6, 0, -2):
        tl.static_assert(i % 2 == 0)
        tl.store(x_ptr + i, n)
    for i, shift in enumerate(SHIFTS):
        tl.store(x_ptr + i, n << shift)
    for a, b in zip([n, n + 1], (1, 2, 3)):
        tl.store(x_ptr + b, a)
