# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    tl.load(tl.make_block_ptr(x_ptr, (n, n), (n, 1), (0,), (4, 4), (1, 0)))

#> block_pointer_rank.py:8:13: error: tl.make_block_ptr: `offsets` has 1 entry, but the array has 2 axes
#>     tl.load(tl.make_block_ptr(x_ptr, (n, n), (n, 1), (0,), (4, 4), (1, 0)))
#>             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
