# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def combine(a, b):
    return a + b + 0.5


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, tl.reduce(tl.arange(0, 16), 0, combine))

#> combine_function_changes_the_type.py:13:21: error: tl.reduce: `combine_fn` takes int32 and returns fp32
#>     tl.store(x_ptr, tl.reduce(tl.arange(0, 16), 0, combine))
#>                     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: both must be one type; convert the result
