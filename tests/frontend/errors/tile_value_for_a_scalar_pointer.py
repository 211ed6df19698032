# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, tl.zeros((16,), tl.float32))

#> tile_value_for_a_scalar_pointer.py:8:5: error: tl.store: `value` has shape [16], but `pointer` is a scalar
#>     tl.store(x_ptr, tl.zeros((16,), tl.float32))
#>     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: make a tensor of pointers, e.g. pointer + tl.arange(0, N)
