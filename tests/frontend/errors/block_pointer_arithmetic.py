# signature: *i32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    pointer = tl.make_block_ptr(x_ptr, (n,), (1,), (0,), (4,), (0,))
    tl.load(pointer + 4)

#> block_pointer_arithmetic.py:9:13: error: cannot use + on block_ptr and the int 4
#>     tl.load(pointer + 4)
#>             ^~~~~~~~~~~
#> hint: a block pointer moves with tl.advance(pointer, offsets)
