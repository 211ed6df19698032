# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.zeros((16, 16), tl.float32)
    tl.store(x_ptr, tl.sum(tl.dot(x, x, input_precision='tf16')))

#> dot_precision_name.py:9:28: error: tl.dot: `input_precision` cannot be "tf16"
#>     tl.store(x_ptr, tl.sum(tl.dot(x, x, input_precision='tf16')))
#>                            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: use one of "tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"
