# signature: *i32,i32
import triton
import triton.language as tl


@triton.jit
def write(x, pointer):
    if x > 1:
        tl.store(pointer, x)
    return x


@triton.jit
def kernel(x_ptr, n):
    tl.map_elementwise(write, tl.arange(0, 8), x_ptr + tl.arange(0, 8))

#> elementwise_store_in_a_branch.py:8:5: error: a branch on single elements cannot touch memory, print or assert
#>     if x > 1:
#>     ^~~~~~~~~
#> hint: load before tl.map_elementwise and store after it
#> called from elementwise_store_in_a_branch.py:15
#>     tl.map_elementwise(write, tl.arange(0, 8), x_ptr + tl.arange(0, 8))
