# signature: *i32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    return n + 1

#> kernel_returns_a_value.py:8:5: error: a kernel returns nothing, but this returns int32 scalar
#>     return n + 1
#>     ^~~~~~~~~~~~
#> hint: store results through a pointer argument
