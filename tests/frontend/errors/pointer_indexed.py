# signature: *fp32,*fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, out_ptr):
    i = tl.arange(0, 4)
    tl.store(out_ptr + i, x_ptr[i])

#> pointer_indexed.py:9:27: error: pointer<fp32> cannot be indexed: it is a pointer, not an array
#>     tl.store(out_ptr + i, x_ptr[i])
#>                           ^~~~~~~~
#> hint: tl.load(pointer + offsets) reads what it points to, tl.store writes it
