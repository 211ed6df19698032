# signature: *fp32,i32
import triton
import triton.language as tl


# A loop carries the offsets that change and nothing else of a block pointer.
# CHECK-LABEL: func.func @kernel
# CHECK: scf.for {{.*}} iter_args(%{{[^,]*}}, %{{[^,]*}}) -> (i64, tensor<8x16xf32>)
# CHECK: tile.load
@triton.jit
def kernel(x_ptr, n):
    pointer = tl.make_block_ptr(x_ptr, (n, 16), (16, 1), (0, 0), (8, 16), (1, 0))
    total = tl.zeros((8, 16), tl.float32)
    for _ in range(n):
        total += tl.load(pointer, boundary_check=(0,))
        pointer = tl.advance(pointer, (8, 0))
    tl.store(x_ptr + tl.arange(0, 8)[:, None] * 16 + tl.arange(0, 16)[None, :], total)
