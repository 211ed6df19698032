# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr + tl.arange(0, 16), 1.0, mask=tl.arange(0, 8) < 4)

#> mask_of_another_shape.py:8:5: error: tl.store: shapes [16] and [8] do not go together: axis 0 has 16 and 8 elements
#>     tl.store(x_ptr + tl.arange(0, 16), 1.0, mask=tl.arange(0, 8) < 4)
#>     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: extents must be equal or 1; x[:, None] and x[None, :] insert an axis of 1
