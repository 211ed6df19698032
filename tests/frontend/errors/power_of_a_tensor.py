# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.load(x_ptr)
    tl.store(x_ptr, x ** 2)

#> power_of_a_tensor.py:9:21: error: ** is not defined on tensors
#>     tl.store(x_ptr, x ** 2)
#>                     ^~~~~~
#> hint: write x * x, tl.exp2(y * tl.log2(x)), or tl.extra.libdevice.pow(x, y)
