# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    while tl.condition(n > 0, unroll=True):
        n -= 1
        tl.store(x_ptr + n, 1.0)

#> unknown_condition_hint.py:8:11: error: tl.condition has no parameter `unroll`
#>     while tl.condition(n > 0, unroll=True):
#>           ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: its parameters are arg1, disable_licm
