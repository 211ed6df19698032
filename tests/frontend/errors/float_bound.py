# signature: *fp32,fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    for i in range(n):
        tl.store(x_ptr + i, 1.0)

#> float_bound.py:8:14: error: the end of a range must be an integer scalar, not fp32 scalar
#>     for i in range(n):
#>              ^~~~~~~~
#> hint: convert it: n.to(tl.int32)
