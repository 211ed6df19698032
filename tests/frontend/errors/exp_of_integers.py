# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, tl.sum(tl.sqrt(tl.arange(0, 16))))

#> exp_of_integers.py:8:28: error: tl.sqrt: Expected dtype fp32 or fp64 for `x` but got int32
#>     tl.store(x_ptr, tl.sum(tl.sqrt(tl.arange(0, 16))))
#>                            ^~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: convert it first: x.to(tl.float32)
