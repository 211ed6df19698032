# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    tl.load(tl.make_block_ptr(x_ptr, (n, n), (n, 1), (0, 0), (4, 4), (1, 1)))

#> block_pointer_order.py:8:13: error: tl.make_block_ptr: `order` must name each of the 2 axes once, found [1, 1]
#>     tl.load(tl.make_block_ptr(x_ptr, (n, n), (n, 1), (0, 0), (4, 4), (1, 1)))
#>             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
