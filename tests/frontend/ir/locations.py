# signature: *fp32,i32
# options: --locations
import triton
import triton.language as tl


# Every operation knows its line, and an inlined one the call it came through.
# CHECK: tile.program_id 0 loc(#[[PID:.*]])
# CHECK: arith.mulf {{.*}} loc(#[[MUL:.*]])
# CHECK-DAG: #[[PID]] = loc("locations.py":[[# @LINE + 13]]:11)
# CHECK-DAG: #[[CALLEE:.*]] = loc("locations.py":[[# @LINE + 7]]:12)
# CHECK-DAG: #[[CALLER:.*]] = loc("locations.py":[[# @LINE + 13]]:32)
# CHECK-DAG: #[[MUL]] = loc(callsite(#[[CALLEE]] at #[[CALLER]]))


@triton.jit
def square(x):
    return x * x


@triton.jit
def kernel(x_ptr, n):
    pid = tl.program_id(0)
    x = tl.load(x_ptr + pid)
    tl.store(x_ptr + pid + n, (square(x)))
