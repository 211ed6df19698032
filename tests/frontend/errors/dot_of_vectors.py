# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.zeros((16,), tl.float32)
    tl.store(x_ptr, tl.sum(tl.dot(x, x)))

#> dot_of_vectors.py:9:28: error: tl.dot: `input` must have at least two axes, not shape [16]
#>     tl.store(x_ptr, tl.sum(tl.dot(x, x)))
#>                            ^~~~~~~~~~~~
#> hint: insert an axis, e.g. x[None, :], or write tl.sum(a * b) for the product of two vectors
