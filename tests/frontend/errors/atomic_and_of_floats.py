# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.atomic_and(x_ptr, 1.0)

#> atomic_and_of_floats.py:8:5: error: tl.atomic_and: memory of fp32 cannot be accessed this way; it must be an integer of 32 or 64 bits
#>     tl.atomic_and(x_ptr, 1.0)
#>     ^~~~~~~~~~~~~~~~~~~~~~~~~
