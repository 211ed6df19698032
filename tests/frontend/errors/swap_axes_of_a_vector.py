# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, tl.sum(tl.arange(0, 16).T))

#> swap_axes_of_a_vector.py:8:28: error: x.T needs a tensor with two axes, not int32 tensor of shape [16]
#>     tl.store(x_ptr, tl.sum(tl.arange(0, 16).T))
#>                            ^~~~~~~~~~~~~~~~~~
#> hint: use tl.permute
