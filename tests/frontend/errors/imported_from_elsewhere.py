# signature: *i32
import triton
import triton.language as tl


from math import floor


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, floor(2.5))

#> imported_from_elsewhere.py:11:21: error: `floor` cannot be used in a kernel: it is imported from `math`, which only Python could load
#>     tl.store(x_ptr, floor(2.5))
#>                     ^~~~~
