# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.load(x_ptr)
    breakpoint()
    tl.store(x_ptr, x)

#> breakpoint_in_a_compiled_kernel.py:9:5: error: `breakpoint` is not defined
#>     breakpoint()
#>     ^~~~~~~~~~
#> hint: it works where Python runs the kernel: set TRITON_INTERPRET=1, or decorate it with @triton.jit(interpret=True)
