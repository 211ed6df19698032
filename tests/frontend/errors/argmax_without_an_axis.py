# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, tl.argmax(tl.arange(0, 16)))

#> argmax_without_an_axis.py:8:21: error: `argmax` needs the argument `axis`
#>     tl.store(x_ptr, tl.argmax(tl.arange(0, 16)))
#>                     ^~~~~~~~~~~~~~~~~~~~~~~~~~~
