# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    global total
    total = 1

#> global_statement.py:8:5: error: a kernel cannot assign global or nonlocal names
#>     global total
#>     ^~~~~~~~~~~~
