# signature: *i32,i32
import triton
import triton.language as tl


@triton.jit
def block(N: tl.constexpr):
    return tl.full((N,), 0, tl.int32)


@triton.jit
def kernel(x_ptr, n):
    size = 16
    tl.store(x_ptr + block(size), 1)

#> constexpr_parameter_of_a_helper.py:8:12: error: tl.full: `shape` must be a constexpr int, not int32 scalar
#>     return tl.full((N,), 0, tl.int32)
#>            ^~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: its value must be known at compile time: pass a literal or a tl.constexpr parameter
#> called from constexpr_parameter_of_a_helper.py:14
#>     tl.store(x_ptr + block(size), 1)
