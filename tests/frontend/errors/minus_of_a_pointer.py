# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.store(-x_ptr, 0.0)

#> minus_of_a_pointer.py:8:14: error: cannot negate pointer<fp32>
#>     tl.store(-x_ptr, 0.0)
#>              ^~~~~~
#> hint: a pointer takes + offset and - offset
