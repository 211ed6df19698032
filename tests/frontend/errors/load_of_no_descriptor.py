# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    tl.load_tensor_descriptor(x_ptr, [n, 0])

#> load_of_no_descriptor.py:8:5: error: tl.load_tensor_descriptor: `desc` must be a tensor descriptor, not pointer<fp32>
#>     tl.load_tensor_descriptor(x_ptr, [n, 0])
#>     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: make one with tl.make_tensor_descriptor, or pass a TensorDescriptor to the kernel
