# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr * 2, 0.0)

#> pointer_times_integer.py:8:14: error: invalid operands of type pointer<fp32> and the int 2: a pointer has no *
#>     tl.store(x_ptr * 2, 0.0)
#>              ^~~~~~~~~
#> hint: a pointer takes + offset and - offset; an array arrives as a pointer: read from it with tl.load, or pass a number, such as x.item()
