# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    x = tl.make_tensor_descriptor(x_ptr, [n, n], [n, 1], [4, 16])
    x.gather(tl.arange(0, 8), 0)

#> descriptor_gather_of_blocks.py:9:5: error: tl.tensor_descriptor.gather: needs a descriptor of two axes whose blocks have one row, found blocks of shape [4, 16]
#>     x.gather(tl.arange(0, 8), 0)
#>     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~
