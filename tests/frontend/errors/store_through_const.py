# signature: *kfp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, 1.0)

#> store_through_const.py:8:5: error: tl.store: cannot write through a const pointer
#>     tl.store(x_ptr, 1.0)
#>     ^~~~~~~~~~~~~~~~~~~~
