# signature: *i32,i32
import triton
import triton.language as tl


@triton.jit
def halve(x):
    while x > 1:
        x //= 2
    return x


@triton.jit
def kernel(x_ptr, n):
    tl.store(x_ptr + tl.arange(0, 8), tl.map_elementwise(halve, tl.arange(0, 8)))

#> elementwise_loop.py:8:11: error: a function that is applied elementwise cannot loop a different number of times for each element
#>     while x > 1:
#>           ^~~~~
#> hint: loop a fixed number of times, and branch inside the loop
#> called from elementwise_loop.py:15
#>     tl.store(x_ptr + tl.arange(0, 8), tl.map_elementwise(halve, tl.arange(0, 8)))
