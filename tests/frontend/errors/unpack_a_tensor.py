# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    a, b = tl.load(x_ptr + tl.arange(0, 2))
    tl.store(x_ptr, a + b)

#> unpack_a_tensor.py:8:5: error: fp32 tensor of shape [2] cannot be unpacked into several names
#>     a, b = tl.load(x_ptr + tl.arange(0, 2))
#>     ^~~~
#> hint: use tl.split for a tile whose last axis is 2
