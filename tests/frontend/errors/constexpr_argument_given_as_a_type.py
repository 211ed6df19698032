# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def helper(x, SIZE: tl.constexpr = 4):
    return x + SIZE


@triton.jit
def kernel(x_ptr, n):
    tl.store(x_ptr, helper(n, SIZE=n + 1))

#> constexpr_argument_given_as_a_type.py:13:21: error: `helper` needs a constexpr for `SIZE`, not a run-time value: it is int32 scalar
#>     tl.store(x_ptr, helper(n, SIZE=n + 1))
#>                     ^~~~~~~~~~~~~~~~~~~~~
#> hint: pass a literal or a name annotated with tl.constexpr
