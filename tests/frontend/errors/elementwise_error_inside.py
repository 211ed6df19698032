# signature: *i32
import triton
import triton.language as tl


@triton.jit
def wrong(x):
    while x > 1:
        x = halved(x)
    return x


@triton.jit
def kernel(x_ptr):
    offsets = tl.arange(0, 8)
    tl.store(x_ptr + offsets, tl.map_elementwise(wrong, offsets))

#> elementwise_error_inside.py:9:13: error: `halved` is not defined
#>         x = halved(x)
#>             ^~~~~~
#> called from elementwise_error_inside.py:16
#>     tl.store(x_ptr + offsets, tl.map_elementwise(wrong, offsets))
