# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, count):
    offset = count * 2
    tl.store(x_ptr + ofset, 1.0)

#> misspelt_name.py:9:22: error: `ofset` is not defined
#>     tl.store(x_ptr + ofset, 1.0)
#>                      ^~~~~
#> hint: did you mean `offset`?
