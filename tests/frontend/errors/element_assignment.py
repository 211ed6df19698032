# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.zeros((16,), tl.float32)
    x[3] = 1.0
    tl.store(x_ptr + tl.arange(0, 16), x)

#> element_assignment.py:9:5: error: an element cannot be assigned: tiles and tuples are values, not storage
#>     x[3] = 1.0
#>     ^~~~
#> hint: build a new one with tl.where, or write to memory with tl.store
