# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    tl.make_tensor_descriptor(x_ptr, [n, n], [1, n], [4, 16]).load([0, 0])

#> descriptor_of_a_strided_axis.py:8:5: error: tl.make_tensor_descriptor: the last of `strides` must be the constexpr 1, not int32 scalar
#>     tl.make_tensor_descriptor(x_ptr, [n, n], [1, n], [4, 16]).load([0, 0])
#>     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: the last axis of a descriptor lies in memory without gaps
