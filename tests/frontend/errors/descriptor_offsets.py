# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    tl.make_tensor_descriptor(x_ptr, [n, n], [n, 1], [4, 16]).load([0])

#> descriptor_offsets.py:8:5: error: tl.tensor_descriptor.load: `offsets` has 1 entry, but the array has 2 axes
#>     tl.make_tensor_descriptor(x_ptr, [n, n], [n, 1], [4, 16]).load([0])
#>     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
