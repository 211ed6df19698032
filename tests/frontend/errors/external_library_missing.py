# signature: *fp32
import triton
import triton.language as tl
from triton.language import core


@core.extern
def half(x, _semantic=None):
    return core.extern_elementwise("halves", "/nowhere/halves.bc", [x], {(tl.float32,): ("half", tl.float32)}, is_pure=True, _semantic=_semantic)


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, half(tl.load(x_ptr)))

#> external_library_missing.py:9:12: error: tl.extern_elementwise: cannot read the library `/nowhere/halves.bc`: No such file or directory
#>     return core.extern_elementwise("halves", "/nowhere/halves.bc", [x], {(tl.float32,): ("half", tl.float32)}, is_pure=True, _semantic=_semantic)
#>            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> called from external_library_missing.py:14
#>     tl.store(x_ptr, half(tl.load(x_ptr)))
