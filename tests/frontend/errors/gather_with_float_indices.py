# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.arange(0, 8)
    y = tl.gather(x, x.to(tl.float32), 0)
    tl.store(x_ptr, tl.sum(y))

#> gather_with_float_indices.py:9:9: error: tl.gather: `index` must hold integers, not fp32
#>     y = tl.gather(x, x.to(tl.float32), 0)
#>         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: convert it: index.to(tl.int32)
