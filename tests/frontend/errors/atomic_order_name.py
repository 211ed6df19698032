# signature: *i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.atomic_add(x_ptr, 1, sem='strong')

#> atomic_order_name.py:8:5: error: tl.atomic_add: `sem` cannot be "strong"
#>     tl.atomic_add(x_ptr, 1, sem='strong')
#>     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: use one of "relaxed", "acquire", "release", "acq_rel"
