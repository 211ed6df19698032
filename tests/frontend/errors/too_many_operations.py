# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    for k in tl.static_range(60000):
        tl.store(x_ptr + k, k * 0.5)
        tl.store(x_ptr - k, k * 0.5)

#> too_many_operations.py:10:18: error: the kernel is too large to compile: it has more than 262144 operations up to here, when helpers and static loops are copied to where they are used
#>         tl.store(x_ptr - k, k * 0.5)
#>                  ^
#> hint: use a plain `for ... in range(...)`, which is a loop at run time, or split the kernel
