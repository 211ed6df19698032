# signature: *i32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    if n > 3:
        y = 1
    tl.store(x_ptr, y)

#> bound_in_one_branch.py:10:21: error: `y` is bound only where the condition at line 8 is true, so it cannot be used after it
#>     tl.store(x_ptr, y)
#>                     ^
#> hint: bind it before the `if`, or in both branches
