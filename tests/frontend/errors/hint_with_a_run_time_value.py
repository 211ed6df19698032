# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    tl.store(x_ptr + tl.multiple_of(n, n), 0.0)

#> hint_with_a_run_time_value.py:8:22: error: tl.multiple_of: `values` must be a constexpr int, not int32 scalar
#>     tl.store(x_ptr + tl.multiple_of(n, n), 0.0)
#>                      ^~~~~~~~~~~~~~~~~~~~
#> hint: its value must be known at compile time: pass a literal or a tl.constexpr parameter
