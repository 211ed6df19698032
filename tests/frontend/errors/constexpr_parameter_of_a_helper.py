# signature: *i32,i32
import triton
import triton.language as tl


@triton.jit
def block(N: tl.constexpr):
    return tl.arange(0, N)


@triton.jit
def kernel(x_ptr, n):
    size = 16
    tl.store(x_ptr + block(size), 1)

#> constexpr_parameter_of_a_helper.py:14:22: error: `block` needs a constexpr for `N`, not a run-time value: it is int32 scalar
#>     tl.store(x_ptr + block(size), 1)
#>                      ^~~~~~~~~~~
#> hint: pass a literal or a name annotated with tl.constexpr
