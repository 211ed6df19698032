# signature: *fp32,*fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr):
    tl.store(x_ptr, y_ptr - x_ptr)

#> pointer_difference.py:8:21: error: invalid operands of type pointer<fp32> and pointer<fp32>: two pointers have no -
#>     tl.store(x_ptr, y_ptr - x_ptr)
#>                     ^~~~~~~~~~~~~
#> hint: convert both to tl.int64 first; the difference is then in bytes
