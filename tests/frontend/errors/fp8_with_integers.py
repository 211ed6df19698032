# signature: *fp8e5,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    x = tl.load(x_ptr)
    tl.store(x_ptr, x + n)

#> fp8_with_integers.py:9:21: error: there is no common type for fp8e5 and int32
#>     tl.store(x_ptr, x + n)
#>                     ^~~~~
#> hint: convert the fp8 operand first, e.g. x.to(tl.float32)
