# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, tl.arange(0, 16).item())

#> item_of_many_elements.py:8:21: error: tl.item: only a tensor of one element has an item, not int32 tensor of shape [16]
#>     tl.store(x_ptr, tl.arange(0, 16).item())
#>                     ^~~~~~~~~~~~~~~~~~~~~~~
#> hint: x[0] takes one element, tl.sum(x) and tl.max(x) make one of all
