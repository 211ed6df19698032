# signature: *i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.load(x_ptr + tl.arange(0, 8))
    tl.store(x_ptr + tl.arange(0, 8), tl.inline_asm_elementwise("movl $1, $0", "=w,r", [x], tl.int32, True, 1))

#> assembly_register.py:9:39: error: tl.inline_asm_elementwise: `w` in `constraints` is no kind of register or operand of the tests' machine
#>     tl.store(x_ptr + tl.arange(0, 8), tl.inline_asm_elementwise("movl $1, $0", "=w,r", [x], tl.int32, True, 1))
#>                                       ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: use r for an integer register, x for a vector register
