# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.zeros((16, 0), tl.float32)
    tl.store(x_ptr, 0.0)

#> shape_with_a_zero.py:8:9: error: tl.zeros: `shape` must hold positive extents, not [16, 0]
#>     x = tl.zeros((16, 0), tl.float32)
#>         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~
