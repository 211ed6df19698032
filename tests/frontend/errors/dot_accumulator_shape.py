# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.dot(tl.zeros((16, 16), tl.float32), tl.zeros((16, 16), tl.float32), tl.zeros((16, 8), tl.float32))
    tl.store(x_ptr, tl.sum(x))

#> dot_accumulator_shape.py:8:9: error: tl.dot: `acc` has shape [16, 8], but the product has [16, 16]
#>     x = tl.dot(tl.zeros((16, 16), tl.float32), tl.zeros((16, 16), tl.float32), tl.zeros((16, 8), tl.float32))
#>         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
