# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    for x in tl.load(x_ptr + tl.arange(0, 16)):
        tl.store(x_ptr, x)

#> iterate_over_a_tensor.py:8:14: error: fp32 tensor of shape [16] cannot be iterated over
#>     for x in tl.load(x_ptr + tl.arange(0, 16)):
#>              ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: loop over offsets and load, or reduce the tile
