# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    tl.store(x_ptr + tl.arange(0, n), 1.0)

#> arange_of_a_value.py:8:22: error: tl.arange: `end` must be a constexpr int, not int32 scalar
#>     tl.store(x_ptr + tl.arange(0, n), 1.0)
#>                      ^~~~~~~~~~~~~~~
#> hint: its value must be known at compile time: pass a literal or a tl.constexpr parameter
