# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, tl.sum(tl.squeeze(tl.zeros((4, 8), tl.float32), 0)))

#> squeeze_of_a_long_axis.py:8:28: error: tl.squeeze: axis 0 of shape [4, 8] has more than one element
#>     tl.store(x_ptr, tl.sum(tl.squeeze(tl.zeros((4, 8), tl.float32), 0)))
#>                            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
