# signature: *fp8e5,*i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr):
    tl.store(y_ptr, tl.load(x_ptr).to(tl.int32))

#> fp8_to_integer.py:8:21: error: tl.to: cannot convert fp8e5 to int32
#>     tl.store(y_ptr, tl.load(x_ptr).to(tl.int32))
#>                     ^~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: convert to fp32 first: x.to(tl.float32)
