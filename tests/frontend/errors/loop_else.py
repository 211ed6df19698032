# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    for i in range(n):
        tl.store(x_ptr + i, 1.0)
    else:
        tl.store(x_ptr, 2.0)

#> loop_else.py:11:9: error: `else` after a loop cannot be used in a kernel
#>         tl.store(x_ptr, 2.0)
#>         ^~~~~~~~~~~~~~~~~~~~
#> hint: set a flag in the loop and test it afterwards
