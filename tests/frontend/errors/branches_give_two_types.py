# signature: *i32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    if n > 3:
        y = 1
    else:
        y = 1.0
    tl.store(x_ptr, y)

#> branches_give_two_types.py:12:21: error: `y` has two types here: int32 scalar from line 9 and fp32 scalar from line 11
#>     tl.store(x_ptr, y)
#>                     ^
#> hint: both branches of the `if` at line 8 must give it one type
