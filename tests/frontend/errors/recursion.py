# signature: *i32,i32
import triton
import triton.language as tl


@triton.jit
def even(n):
    return odd(n - 1)


@triton.jit
def odd(n):
    return even(n - 1)


@triton.jit
def kernel(x_ptr, n):
    tl.store(x_ptr, even(n))

#> recursion.py:13:12: error: recursion cannot be compiled: `even` calls `odd` calls `even`
#>     return even(n - 1)
#>            ^~~~~~~~~~~
#> hint: use a loop, or let a tl.constexpr argument end it
#> called from recursion.py:8
#>     return odd(n - 1)
#> called from recursion.py:18
#>     tl.store(x_ptr, even(n))
