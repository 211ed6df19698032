# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    tl.make_tensor_descriptor(x_ptr, [n, n], [n, 1], [4, 16], padding_option="one").load([0, 0])

#> descriptor_padding.py:8:5: error: tl.make_tensor_descriptor: `padding_option` cannot be "one"
#>     tl.make_tensor_descriptor(x_ptr, [n, n], [n, 1], [4, 16], padding_option="one").load([0, 0])
#>     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: use one of "zero", "nan"
