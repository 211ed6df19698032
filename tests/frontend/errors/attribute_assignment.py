# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.zeros((16,), tl.float32)
    x.shape = (4, 4)

#> attribute_assignment.py:9:5: error: an attribute cannot be assigned in a kernel
#>     x.shape = (4, 4)
#>     ^~~~~~~
