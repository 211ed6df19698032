# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.load(x_ptr + tl.arange(0, 16))
    if x > 0:
        tl.store(x_ptr, 1.0)

#> condition_with_many_elements.py:9:8: error: a condition must be a scalar, not int1 tensor of shape [16]
#>     if x > 0:
#>        ^~~~~
#> hint: reduce it first, e.g. tl.max(x, axis=0), or choose per element with tl.where
