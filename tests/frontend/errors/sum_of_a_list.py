# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    tl.store(x_ptr, sum([n, 1]))

#> sum_of_a_list.py:8:21: error: `sum` is not defined
#>     tl.store(x_ptr, sum([n, 1]))
#>                     ^~~
#> hint: did you mean tl.sum? It adds up a tile; the values of a list are added with +
