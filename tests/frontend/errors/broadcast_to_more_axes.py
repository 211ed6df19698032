# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.broadcast_to(tl.arange(0, 8), (4, 8))
    tl.store(x_ptr, tl.sum(x))

#> broadcast_to_more_axes.py:8:9: error: tl.broadcast_to: cannot broadcast shape [8] to [4, 8]: the ranks differ
#>     x = tl.broadcast_to(tl.arange(0, 8), (4, 8))
#>         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: add axes first, e.g. x[:, None]
