# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, {1, 2})

#> set_literal.py:8:21: error: a set cannot be used in a kernel
#>     tl.store(x_ptr, {1, 2})
#>                     ^~~~~~
#> hint: use a tuple
