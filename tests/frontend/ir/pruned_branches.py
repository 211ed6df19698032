# signature: *fp32,None,'double'
import triton
import triton.language as tl


# CHECK-NOT: scf.if
# CHECK: arith.constant 2.0
# CHECK: arith.mulf
# CHECK-NOT: arith.addf
@triton.jit
def kernel(x_ptr, BIAS: tl.constexpr, MODE: tl.constexpr):
    x = tl.load(x_ptr)
    if BIAS is not None:
        x += tl.load(BIAS)
    if MODE == "double" and (BIAS is None or BIAS.never_looked_at):
        x = x * 2
    elif MODE == "wrong":
        x = tl.no_such_function(x)
    y = x if MODE != "wrong" else never_defined
    tl.store(x_ptr, y)
