# signature: *i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.load(x_ptr)
    tl.store(x_ptr, tl.inline_asm_elementwise("movl $2, $0", "=r,r", [x], tl.int32, True, 1))

#> assembly_operand_number.py:9:21: error: tl.inline_asm_elementwise: `asm` uses $2, but there are 2 operands, from $0 on
#>     tl.store(x_ptr, tl.inline_asm_elementwise("movl $2, $0", "=r,r", [x], tl.int32, True, 1))
#>                     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: outputs come first, then inputs, in the order of `constraints`
