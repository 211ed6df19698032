# signature: *i8
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.load(x_ptr)
    tl.store(x_ptr, x + 1000)

#> literal_out_of_range.py:9:21: error: the number 1000 is out of range for int8 (-128 to 127)
#>     tl.store(x_ptr, x + 1000)
#>                     ^~~~~~~~
#> hint: convert the tensor to a wider type first, e.g. x.to(tl.int64)
