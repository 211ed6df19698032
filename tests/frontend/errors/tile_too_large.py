# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.zeros((2048, 2048), tl.float32)
    tl.store(x_ptr, tl.sum(x))

#> tile_too_large.py:8:9: error: tl.zeros: a tensor of shape [2048, 2048] has more elements than a tensor may have (1048576)
#>     x = tl.zeros((2048, 2048), tl.float32)
#>         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
