# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    yield x_ptr

#> yield_expression.py:8:5: error: a kernel cannot hold this: yield expression
#>     yield x_ptr
#>     ^~~~~~~~~~~
