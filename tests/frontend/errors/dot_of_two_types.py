# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.dot(tl.zeros((16, 16), tl.float16), tl.zeros((16, 16), tl.float32))
    tl.store(x_ptr, tl.sum(x))

#> dot_of_two_types.py:8:9: error: tl.dot: the operands have different types, fp16 and fp32
#>     x = tl.dot(tl.zeros((16, 16), tl.float16), tl.zeros((16, 16), tl.float32))
#>         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: convert one of them, e.g. x.to(tl.float16)
