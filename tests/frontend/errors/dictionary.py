# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    table = {"a": 1}
    tl.store(x_ptr, table["a"])

#> dictionary.py:8:13: error: a dict cannot be used in a kernel
#>     table = {"a": 1}
#>             ^~~~~~~~
#> hint: use a tuple, or separate variables
