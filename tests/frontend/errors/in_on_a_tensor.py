# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.load(x_ptr + tl.arange(0, 16))
    if 1.0 in x:
        tl.store(x_ptr, 1.0)

#> in_on_a_tensor.py:9:8: error: `in` is not defined on tensors
#>     if 1.0 in x:
#>        ^~~~~~~~
#> hint: compare with == and join with |
