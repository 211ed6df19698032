# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    size = n
    del size
    tl.store(x_ptr, size)

#> used_after_delete.py:10:21: error: `size` is used after it was deleted at line 9
#>     tl.store(x_ptr, size)
#>                     ^~~~
