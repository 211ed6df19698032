# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    for i in tl.static_range(1000000):
        pass

#> unroll_too_often.py:8:14: error: tl.static_range unrolls more than 65536 times
#>     for i in tl.static_range(1000000):
#>              ^~~~~~~~~~~~~~~~~~~~~~~~
#> hint: use a plain `for ... in range(...)`, which is a loop at run time
