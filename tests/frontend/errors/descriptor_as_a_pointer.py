# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    tl.load(tl.make_tensor_descriptor(x_ptr, [n, n], [n, 1], [4, 16]))

#> descriptor_as_a_pointer.py:8:5: error: tl.load: `pointer` cannot be a tensor descriptor
#>     tl.load(tl.make_tensor_descriptor(x_ptr, [n, n], [n, 1], [4, 16]))
#>     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: use its methods, for instance desc.load(offsets)
