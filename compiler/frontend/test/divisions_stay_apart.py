# Division and square root as the language has them, correctly rounded and fast: three operations in tile IR, which no
# simplification makes one of.
# RUN: nacre compile %s --kernel kernel --signature "*fp32, fp32, fp32" --emit tile | FileCheck %s
import triton
import triton.language as tl
from triton.language.extra import libdevice


# CHECK: func.func @kernel(%{{.*}}: !tile.ptr<f32>, %[[X:.*]]: f32, %[[Y:.*]]: f32)
@triton.jit
def kernel(out, x, y):
    # CHECK-DAG: arith.divf %[[X]], %[[Y]] fastmath<arcp> : f32
    tl.store(out, tl.fdiv(x, y))
    # CHECK-DAG: arith.divf %[[X]], %[[Y]] : f32
    tl.store(out + 1, tl.math.div_rn(x, y))
    # CHECK-DAG: arith.divf %[[X]], %[[Y]] fastmath<arcp,afn> : f32
    tl.store(out + 2, libdevice.fast_dividef(x, y))
    # CHECK-DAG: math.sqrt %[[X]] fastmath<afn> : f32
    tl.store(out + 3, tl.sqrt(x))
    # CHECK-DAG: math.sqrt %[[X]] : f32
    tl.store(out + 4, tl.math.sqrt_rn(x))
