# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, *rest):
    tl.store(x_ptr, 1.0)

#> kernel_with_variadic_parameters.py:7:20: error: a kernel cannot have `*` or `**` parameters
#> def kernel(x_ptr, *rest):
#>                    ^~~~
