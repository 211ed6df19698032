# signature: *fp32,16
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK % 32 == 0, "BLOCK must be a multiple of 32")
    tl.store(x_ptr, 1.0)

#> static_assert_fails.py:8:5: error: static assertion failed: BLOCK must be a multiple of 32
#>     tl.static_assert(BLOCK % 32 == 0, "BLOCK must be a multiple of 32")
#>     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
