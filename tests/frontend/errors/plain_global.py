# signature: *i32
import triton
import triton.language as tl


SIZE = 16


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, SIZE)

#> plain_global.py:11:21: error: `SIZE` cannot be used in a kernel: it is a global of type int that may change; make it tl.constexpr(...)
#>     tl.store(x_ptr, SIZE)
#>                     ^~~~
