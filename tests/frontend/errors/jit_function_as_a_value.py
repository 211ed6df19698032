# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def helper(a):
    return a


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, helper)

#> jit_function_as_a_value.py:13:5: error: tl.store: expected a tensor or a number, not jit function
#>     tl.store(x_ptr, helper)
#>     ^~~~~~~~~~~~~~~~~~~~~~~
#> hint: call the function: its result is a value
