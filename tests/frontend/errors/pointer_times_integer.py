# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr * 2, 0.0)

#> pointer_times_integer.py:8:14: error: cannot use * on pointer<fp32> and the int 2
#>     tl.store(x_ptr * 2, 0.0)
#>              ^~~~~~~~~
#> hint: a pointer takes + offset and - offset
