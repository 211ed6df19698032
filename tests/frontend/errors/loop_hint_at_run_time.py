# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    for i in tl.range(n, num_stages=n):
        tl.store(x_ptr + i, 1.0)

#> loop_hint_at_run_time.py:8:14: error: `num_stages` of tl.range must be a constexpr, not int32 scalar
#>     for i in tl.range(n, num_stages=n):
#>              ^~~~~~~~~~~~~~~~~~~~~~~~~
