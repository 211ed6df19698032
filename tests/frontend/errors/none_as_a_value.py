# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, bias = None):
    tl.store(x_ptr, tl.load(x_ptr) + bias)

#> none_as_a_value.py:8:21: error: cannot use + on fp32 scalar and None
#>     tl.store(x_ptr, tl.load(x_ptr) + bias)
#>                     ^~~~~~~~~~~~~~~~~~~~~
#> hint: give it a value, or leave this branch out at compile time with `if x is not None`
