# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, tl.sum(tl.histogram(tl.zeros((16,), tl.float32), 4)))

#> histogram_of_floats.py:8:28: error: tl.histogram: `input` must hold 32-bit integers, not fp32
#>     tl.store(x_ptr, tl.sum(tl.histogram(tl.zeros((16,), tl.float32), 4)))
#>                            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: convert it first: x.to(tl.int32)
