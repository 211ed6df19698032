# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.topk(tl.arange(0, 16), 20)
    tl.store(x_ptr, tl.sum(x))

#> topk_of_too_many.py:8:9: error: tl.topk: static assertion failed: topk needs 0 < k <= the extent of the axis
#>     x = tl.topk(tl.arange(0, 16), 20)
#>         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~
