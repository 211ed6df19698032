# signature: *u8
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.load(x_ptr)
    tl.store(x_ptr, tl.umulhi(x, x))

#> umulhi_of_bytes.py:9:21: error: tl.umulhi: the operands must be integers of 32 or 64 bits, not uint8
#>     tl.store(x_ptr, tl.umulhi(x, x))
#>                     ^~~~~~~~~~~~~~~
#> hint: convert them first, e.g. x.to(tl.uint32)
