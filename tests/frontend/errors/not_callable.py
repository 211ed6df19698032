# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.load(x_ptr)
    tl.store(x_ptr, x(1))

#> not_callable.py:9:21: error: fp32 scalar cannot be called
#>     tl.store(x_ptr, x(1))
#>                     ^~~~
