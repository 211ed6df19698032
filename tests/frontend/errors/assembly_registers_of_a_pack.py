# signature: *i8
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.load(x_ptr + tl.arange(0, 8))
    tl.store(x_ptr + tl.arange(0, 8), tl.inline_asm_elementwise("movl $2, $0", "=r,=r,r", [x], tl.int8, True, pack=4))

#> assembly_registers_of_a_pack.py:9:39: error: tl.inline_asm_elementwise: `constraints` has 2 outputs, but `dtype` takes 1 register with a pack of 4
#>     tl.store(x_ptr + tl.arange(0, 8), tl.inline_asm_elementwise("movl $2, $0", "=r,=r,r", [x], tl.int8, True, pack=4))
#>                                       ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: elements of under 32 bits share registers of 32 bits; the others take one each
