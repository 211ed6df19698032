# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    a, b = tl.split(tl.zeros((4, 8), tl.float32))
    tl.store(x_ptr, tl.sum(a))

#> split_of_a_long_axis.py:8:12: error: tl.split: the last axis must have 2 elements, but the shape is [4, 8]
#>     a, b = tl.split(tl.zeros((4, 8), tl.float32))
#>            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: reshape first, e.g. x.reshape(M, N // 2, 2)
