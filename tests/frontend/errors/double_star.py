# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    options = 3
    tl.store(x_ptr, 1.0, **options)

#> double_star.py:9:26: error: `**` arguments cannot be used in a kernel
#>     tl.store(x_ptr, 1.0, **options)
#>                          ^~~~~~~~~
#> hint: name each argument
