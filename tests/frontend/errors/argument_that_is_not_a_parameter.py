# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, 1.0)

#> argument_that_is_not_a_parameter.py:7:5: error: kernel `kernel` has no parameter `?1`
#> def kernel(x_ptr):
#>     ^~~~~~
