# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    tl.load(tl.make_block_ptr(x_ptr, (n, n), (n, 1), (0, 0), (4, n), (1, 0)))

#> block_pointer_block_shape.py:8:13: error: tl.make_block_ptr: `block_shape` must be a constexpr int, not int32 scalar
#>     tl.load(tl.make_block_ptr(x_ptr, (n, n), (n, 1), (0, 0), (4, n), (1, 0)))
#>             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: its value must be known at compile time: pass a literal or a tl.constexpr parameter
