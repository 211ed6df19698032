# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.arange(0, 16)
    tl.store(x_ptr, tl.sum(x[:, None, :]))

#> index_with_too_many_axes.py:9:28: error: too many indices: 2 for a tensor of rank 1
#>     tl.store(x_ptr, tl.sum(x[:, None, :]))
#>                            ^~~~~~~~~~~~~
#> hint: each index but None takes one axis; None inserts one
