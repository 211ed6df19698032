# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr + 1.5, 0.0)

#> pointer_plus_float.py:8:14: error: invalid operands of type pointer<fp32> and the float 1.5: a pointer's offset must be an integer
#>     tl.store(x_ptr + 1.5, 0.0)
#>              ^~~~~~~~~~~
#> hint: convert it: offset.to(tl.int32)
