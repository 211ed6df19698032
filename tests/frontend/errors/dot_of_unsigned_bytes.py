# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.zeros((16, 16), tl.uint8)
    tl.store(x_ptr, tl.sum(tl.dot(x, x)))

#> dot_of_unsigned_bytes.py:9:28: error: tl.dot: integer operands must be int8, not uint8
#>     tl.store(x_ptr, tl.sum(tl.dot(x, x)))
#>                            ^~~~~~~~~~~~
#> hint: convert them, x.to(tl.int8), or compute in a float: x.to(tl.float32)
