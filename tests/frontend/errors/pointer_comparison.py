# signature: *fp32,*fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr):
    if x_ptr < y_ptr:
        tl.store(x_ptr, 0.0)

#> pointer_comparison.py:8:8: error: cannot compare pointer<fp32> with pointer<fp32>
#>     if x_ptr < y_ptr:
#>        ^~~~~~~~~~~~~
#> hint: convert pointers to tl.int64 first
