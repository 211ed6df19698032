# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.load(x_ptr)
    tl.store(x_ptr, x.length)

#> unknown_attribute.py:9:23: error: fp32 scalar has no attribute `length`
#>     tl.store(x_ptr, x.length)
#>                       ^~~~~~
