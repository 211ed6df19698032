# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.zeros((16,), tl.float16)
    tl.store(x_ptr, tl.sum(tl.exp(x)))

#> exp_of_half.py:9:28: error: tl.exp: Expected dtype fp32 or fp64 for `x` but got fp16
#>     tl.store(x_ptr, tl.sum(tl.exp(x)))
#>                            ^~~~~~~~~
#> hint: convert it first: x.to(tl.float32)
