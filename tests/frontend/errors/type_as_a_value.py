# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, tl.float32)

#> type_as_a_value.py:8:5: error: tl.store: expected a tensor or a number, not dtype
#>     tl.store(x_ptr, tl.float32)
#>     ^~~~~~~~~~~~~~~~~~~~~~~~~~~
