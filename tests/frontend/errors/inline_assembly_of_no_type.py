# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    a = tl.load(x_ptr + tl.arange(0, 16))
    tl.inline_asm_elementwise("", "=r,r", [a], tl.void, True, 1)

#> inline_assembly_of_no_type.py:9:5: error: tl.inline_asm_elementwise: `dtype` must be the type of an element, not void
#>     tl.inline_asm_elementwise("", "=r,r", [a], tl.void, True, 1)
#>     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: for instance tl.float32
