# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, tl.program_id(3))

#> program_id_axis.py:8:21: error: tl.program_id: `axis` must be 0, 1 or 2, not 3
#>     tl.store(x_ptr, tl.program_id(3))
#>                     ^~~~~~~~~~~~~~~~
