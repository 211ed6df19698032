# signature: *fp32
# kernel: kernal
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, 1.0)

#> no_such_kernel.py: error: there is no function `kernal`
#> hint: the file defines kernel
