# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, tl.load(12))

#> load_from_a_number.py:8:21: error: tl.load: `pointer` must be a pointer or a tensor of pointers, not the int 12
#>     tl.store(x_ptr, tl.load(12))
#>                     ^~~~~~~~~~~
