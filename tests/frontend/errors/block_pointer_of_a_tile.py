# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    tl.load(tl.make_block_ptr(x_ptr + tl.arange(0, 4), (n,), (1,), (0,), (4,), (0,)))

#> block_pointer_of_a_tile.py:8:13: error: tl.make_block_ptr: `base` must be a scalar pointer, not pointer<fp32> tensor of shape [4]
#>     tl.load(tl.make_block_ptr(x_ptr + tl.arange(0, 4), (n,), (1,), (0,), (4,), (0,)))
#>             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
