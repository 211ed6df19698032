# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, total)
    total = 1.0

#> used_before_assignment.py:8:21: error: `total` is used before it is assigned
#>     tl.store(x_ptr, total)
#>                     ^~~~~
#> hint: the function assigns it further on
