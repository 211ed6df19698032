# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, tl.program_id(0) << tl.load(x_ptr))

#> shift_by_a_float.py:8:21: error: invalid operands of type int32 scalar and fp32 scalar: << needs integers
#>     tl.store(x_ptr, tl.program_id(0) << tl.load(x_ptr))
#>                     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: to work on a float's bits use x.to(tl.int32, bitcast=True)
