# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.cat(tl.arange(0, 4), tl.arange(0, 4)[None, :])
    tl.store(x_ptr, tl.sum(x))

#> cat_of_two_ranks.py:8:9: error: tl.cat: the tensors have shapes [4] and [1, 4], of different ranks
#>     x = tl.cat(tl.arange(0, 4), tl.arange(0, 4)[None, :])
#>         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
