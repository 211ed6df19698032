# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    f = lambda x: x + 1
    tl.store(x_ptr, f(1.0))

#> lambda.py:8:9: error: a lambda cannot be used in a kernel
#>     f = lambda x: x + 1
#>         ^~~~~~~~~~~~~~~
#> hint: write a function with @triton.jit and name it here
