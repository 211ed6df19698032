# signature: *u8
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.load(x_ptr)
    tl.store(x_ptr, x + -1)

#> negative_literal_with_unsigned.py:9:21: error: the negative number -1 cannot be uint8
#>     tl.store(x_ptr, x + -1)
#>                     ^~~~~~
#> hint: convert the tensor to a signed type first, e.g. x.to(tl.int32)
