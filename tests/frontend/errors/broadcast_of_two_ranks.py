# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.arange(0, 16) + tl.zeros((4, 4), tl.int32)
    tl.store(x_ptr, tl.sum(x))

#> broadcast_of_two_ranks.py:8:9: error: shapes [16] and [4, 4] do not go together: axis 1 has 16 and 4 elements
#>     x = tl.arange(0, 16) + tl.zeros((4, 4), tl.int32)
#>         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: extents must be equal or 1; x[:, None] and x[None, :] insert an axis of 1
