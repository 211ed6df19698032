# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    a = tl.load(x_ptr)
    for k in tl.static_range(40000):
        a = a * 0.5 + k
    tl.store(x_ptr, a)

#> chain_too_long.py:10:13: error: this is computed by a chain of more than 65536 operations
#>         a = a * 0.5 + k
#>             ^
#> hint: use a plain `for ... in range(...)`, which is a loop at run time, or split the kernel
