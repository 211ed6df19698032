# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, 1j)

#> complex_number.py:8:21: error: the language has no complex numbers
#>     tl.store(x_ptr, 1j)
#>                     ^~
