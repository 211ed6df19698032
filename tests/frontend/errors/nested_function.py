# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    def inner(x):
        return x + 1
    tl.store(x_ptr, inner(1.0))

#> nested_function.py:8:5: error: a function cannot be defined inside a kernel
#>     def inner(x):
#>     ^~~~~~~~~~~~~
#> hint: define it beside the kernel, with @triton.jit
