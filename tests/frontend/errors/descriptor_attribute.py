# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    x = tl.make_tensor_descriptor(x_ptr, [n, n], [n, 1], [4, 16])
    x.fetch([0, 0])

#> descriptor_attribute.py:9:7: error: tensor_descriptor has no attribute `fetch`
#>     x.fetch([0, 0])
#>       ^~~~~
