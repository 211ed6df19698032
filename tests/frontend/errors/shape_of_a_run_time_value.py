# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    x = tl.zeros((n,), tl.float32)
    tl.store(x_ptr, tl.sum(x))

#> shape_of_a_run_time_value.py:8:9: error: tl.zeros: `shape` must be a constexpr int, not int32 scalar
#>     x = tl.zeros((n,), tl.float32)
#>         ^~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: its value must be known at compile time: pass a literal or a tl.constexpr parameter
