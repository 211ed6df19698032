# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr + tl.arange(0, 16), tl.zeros((4, 16), tl.float32))

#> value_wider_than_the_pointers.py:8:5: error: tl.store: `value` of shape [4, 16] does not fit pointers of shape [16]
#>     tl.store(x_ptr + tl.arange(0, 16), tl.zeros((4, 16), tl.float32))
#>     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
