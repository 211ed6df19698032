# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, 0.0, mask=tl.arange(0, 16) < 4)

#> tile_mask_for_a_scalar_pointer.py:8:5: error: tl.store: `mask` has shape [16], but `pointer` is a scalar
#>     tl.store(x_ptr, 0.0, mask=tl.arange(0, 16) < 4)
#>     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: make a tensor of pointers, e.g. pointer + tl.arange(0, N)
