# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    tl.load(tl.advance(x_ptr, (4,)))

#> advance_a_plain_pointer.py:8:13: error: tl.advance: `base` must be a block pointer, not pointer<fp32>
#>     tl.load(tl.advance(x_ptr, (4,)))
#>             ^~~~~~~~~~~~~~~~~~~~~~~
#> hint: make one with tl.make_block_ptr; a plain pointer moves with +
