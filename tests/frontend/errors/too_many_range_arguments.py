# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    for i in range(0, n, 1, 2):
        tl.store(x_ptr + i, 1.0)

#> too_many_range_arguments.py:8:14: error: range takes at most 3 arguments, but 4 were given
#>     for i in range(0, n, 1, 2):
#>              ^~~~~~~~~~~~~~~~~
#> hint: its parameters are arg1, arg2, step
