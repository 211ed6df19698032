# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, tl.fma(1.0, 2.0))

#> missing_operand.py:8:21: error: tl.fma needs the argument `z`
#>     tl.store(x_ptr, tl.fma(1.0, 2.0))
#>                     ^~~~~~~~~~~~~~~~
#> hint: its parameters are x, y, z
