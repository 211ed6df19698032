# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    for i in range(0, n, 0):
        tl.store(x_ptr + i, 1.0)

#> zero_step.py:8:14: error: the step of a range must not be zero
#>     for i in range(0, n, 0):
#>              ^~~~~~~~~~~~~~
