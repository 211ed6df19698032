# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.broadcast_to(tl.arange(0, 8)[:, None], (4, 16))
    tl.store(x_ptr, tl.sum(x))

#> broadcast_to_another_extent.py:8:9: error: tl.broadcast_to: cannot broadcast shape [8, 1] to [4, 16]: axis 0 has 8 elements, not 4 or 1
#>     x = tl.broadcast_to(tl.arange(0, 8)[:, None], (4, 16))
#>         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
