# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    with open("x") as file:
        tl.store(x_ptr, 1.0)

#> with_statement.py:8:5: error: with cannot be used in a kernel: no context manager has a meaning here
#>     with open("x") as file:
#>     ^~~~~~~~~~~~~~~~~~~~~~~
#> hint: the only one is scope(name) of triton.profiler.language
