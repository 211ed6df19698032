# signature: *i32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    pointer = tl.make_block_ptr(x_ptr, (n,), (1,), (0,), (4,), (0,))
    tl.atomic_add(pointer, 1)

#> block_pointer_in_an_atomic.py:9:5: error: tl.atomic_add: `pointer` cannot be a block pointer here
#>     tl.atomic_add(pointer, 1)
#>     ^~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: block pointers are only loaded from and stored to
