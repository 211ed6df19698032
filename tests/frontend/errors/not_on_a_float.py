# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.load(x_ptr)
    if not x:
        tl.store(x_ptr, 1.0)

#> not_on_a_float.py:9:8: error: not needs an int1 tensor, not fp32 scalar
#>     if not x:
#>        ^~~~~
#> hint: write x == 0
