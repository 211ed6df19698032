# signature: *i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.load(x_ptr + tl.arange(0, 8))
    tl.store(x_ptr + tl.arange(0, 8), tl.inline_asm_elementwise("movl $1, $0", "=r,r,", [x], tl.int32, True, 1))

#> assembly_constraints.py:9:39: error: tl.inline_asm_elementwise: `constraints` "=r,r," is malformed
#>     tl.store(x_ptr + tl.arange(0, 8), tl.inline_asm_elementwise("movl $1, $0", "=r,r,", [x], tl.int32, True, 1))
#>                                       ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: in LLVM's notation the outputs come first, each with a =, then the inputs, then what else is overwritten: "=r,r,~{flags}"
