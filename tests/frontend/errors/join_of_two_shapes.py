# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.join(tl.arange(0, 4), tl.arange(0, 8))
    tl.store(x_ptr, tl.sum(x))

#> join_of_two_shapes.py:8:9: error: tl.join: shapes [4] and [8] do not go together: axis 0 has 4 and 8 elements
#>     x = tl.join(tl.arange(0, 4), tl.arange(0, 8))
#>         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: extents must be equal or 1; x[:, None] and x[None, :] insert an axis of 1
