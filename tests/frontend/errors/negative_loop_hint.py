# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    for i in tl.range(0, n, num_stages=-1):
        tl.store(x_ptr + i, 1.0)

#> negative_loop_hint.py:8:14: error: `num_stages` of tl.range must be a number that is not negative, not -1
#>     for i in tl.range(0, n, num_stages=-1):
#>              ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~
