# signature: *i32,i32
import triton
import triton.language as tl
import triton.profiler.language as pl


# Scopes of the profiler are told where they begin and end: at the end of `with`, and where a return or a continue leaves it.
# CHECK: tile.tell "enter_scope" "whole"
# CHECK: scf.for
# CHECK:   tile.tell "enter_scope" "round"
# CHECK:   scf.if
# CHECK:     tile.tell "exit_scope" "round"
# CHECK-NOT: tile.tell
# CHECK:   } else {
# CHECK:     tile.store
# CHECK:     tile.tell "exit_scope" "round"
# CHECK: scf.if
# CHECK:   tile.tell "exit_scope" "whole"
# CHECK-NOT: tile.tell
# CHECK: } else {
# CHECK:   tile.tell "start_event" "copy"
# CHECK:   tile.tell "end_event" "copy"
# CHECK:   tile.tell "exit_scope" "whole"
@triton.jit
def kernel(x_ptr, n):
    with pl.scope("whole"):
        for i in range(n):
            with pl.scope("round"):
                if i == 3:
                    continue
                tl.store(x_ptr + i, i)
        if n == 5:
            return
        event = pl.allocate_event("copy")
        pl.start_event(event)
        pl.end_event(event)
