# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.dot(tl.zeros((16, 8), tl.float32), tl.zeros((16, 8), tl.float32))
    tl.store(x_ptr, tl.sum(x))

#> dot_inner_sizes_differ.py:8:9: error: tl.dot: shapes [16, 8] and [16, 8] cannot be multiplied
#>     x = tl.dot(tl.zeros((16, 8), tl.float32), tl.zeros((16, 8), tl.float32))
#>         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: the shapes are [M, K] and [K, N], with equal leading axes
