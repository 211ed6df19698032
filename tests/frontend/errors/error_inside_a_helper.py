# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def add(x, y):
    return x + y


@triton.jit
def sum_of(x):
    return add(x, tl.zeros((7,), tl.float32))


@triton.jit
def kernel(x_ptr, n):
    tl.store(x_ptr, sum_of(tl.zeros((4,), tl.float32)))

#> error_inside_a_helper.py:8:12: error: shapes [4] and [7] do not go together: axis 0 has 4 and 7 elements
#>     return x + y
#>            ^~~~~
#> hint: extents must be equal or 1; x[:, None] and x[None, :] insert an axis of 1
#> called from error_inside_a_helper.py:13
#>     return add(x, tl.zeros((7,), tl.float32))
#> called from error_inside_a_helper.py:18
#>     tl.store(x_ptr, sum_of(tl.zeros((4,), tl.float32)))
