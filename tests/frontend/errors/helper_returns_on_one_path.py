# signature: *i32,i32
import triton
import triton.language as tl


@triton.jit
def pick(n):
    if n > 3:
        return n


@triton.jit
def kernel(x_ptr, n):
    tl.store(x_ptr, pick(n))

#> helper_returns_on_one_path.py:9:9: error: `pick` returns int32 scalar here but nothing where it reaches its end
#>         return n
#>         ^~~~~~~~
#> hint: every return of a function must give the same type
#> called from helper_returns_on_one_path.py:14
#>     tl.store(x_ptr, pick(n))
