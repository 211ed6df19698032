# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    try:
        tl.store(x_ptr, 1.0)
    except ValueError:
        pass

#> try_statement.py:8:5: error: try cannot be used in a kernel: kernels have no exceptions
#>     try:
#>     ^~~~
