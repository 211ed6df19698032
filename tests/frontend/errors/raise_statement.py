# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    if n > 3:
        raise ValueError("too many")

#> raise_statement.py:9:9: error: raise cannot be used in a kernel: kernels have no exceptions
#>         raise ValueError("too many")
#>         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: use tl.static_assert while compiling, or tl.device_assert at run time
