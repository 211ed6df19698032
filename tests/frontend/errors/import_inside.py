# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    import math
    tl.store(x_ptr, math.pi)

#> import_inside.py:8:5: error: a module cannot be imported inside a kernel
#>     import math
#>     ^~~~~~~~~~~
#> hint: import it at the top of the file
