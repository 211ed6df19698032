# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    x = tl.make_tensor_descriptor(x_ptr, [n, n], [n, 1], [4, 16])
    x.store([0, 0], tl.zeros((8, 16), tl.float32))

#> descriptor_value_of_another_shape.py:9:5: error: tl.tensor_descriptor.store: shapes [4, 16] and [8, 16] do not go together: axis 0 has 4 and 8 elements
#>     x.store([0, 0], tl.zeros((8, 16), tl.float32))
#>     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: extents must be equal or 1; x[:, None] and x[None, :] insert an axis of 1
