# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    tl.static_assert(n > 0, 'n is positive')
    tl.store(x_ptr, n)

#> static_assert_of_a_value.py:8:5: error: tl.static_assert: `cond` must be a constexpr, not int1 scalar
#>     tl.static_assert(n > 0, 'n is positive')
#>     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: a run-time condition is checked by tl.device_assert
