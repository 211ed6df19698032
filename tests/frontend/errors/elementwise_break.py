# signature: *i32,i32
import triton
import triton.language as tl


@triton.jit
def first(x):
    total = x
    for i in range(10):
        total += i
        if x > i:
            break
    return total


@triton.jit
def kernel(x_ptr, n):
    tl.store(x_ptr + tl.arange(0, 8), tl.map_elementwise(first, tl.arange(0, 8)))

#> elementwise_break.py:9:5: error: a function that is applied elementwise cannot leave a loop early
#>     for i in range(10):
#>     ^~~~~~~~~~~~~~~~~~~
#> hint: let the loop run to its end and choose the result afterwards
#> called from elementwise_break.py:18
#>     tl.store(x_ptr + tl.arange(0, 8), tl.map_elementwise(first, tl.arange(0, 8)))
