# signature: *i32,i32
import triton
import triton.language as tl


@triton.jit
def pick(n):
    if n > 3:
        return n
    return 1.0


@triton.jit
def kernel(x_ptr, n):
    tl.store(x_ptr, pick(n))

#> helper_returns_two_types.py:10:5: error: `pick` returns fp32 scalar here but int32 scalar at line 9
#>     return 1.0
#>     ^~~~~~~~~~
#> hint: every return of a function must give the same type
#> called from helper_returns_two_types.py:15
#>     tl.store(x_ptr, pick(n))
