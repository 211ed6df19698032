# signature: *i32
import triton
import triton.language as tl
from triton.language import core


@core.extern
def half(x, _semantic=None):
    return core.extern_elementwise("halves", "halves.bc", [x], {
        (core.dtype("fp32"),): ("halff", core.dtype("fp32")),
        (core.dtype("fp64"),): ("half", core.dtype("fp64")),
    }, is_pure=True, _semantic=_semantic)


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, half(tl.load(x_ptr)))

#> external_function_types.py:9:12: error: tl.extern_elementwise: the library has no function for (int32)
#>     return core.extern_elementwise("halves", "halves.bc", [x], {
#>            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: arg_type_symbol_dict has (fp32), (fp64); convert the arguments with .to(...)
#> called from external_function_types.py:17
#>     tl.store(x_ptr, half(tl.load(x_ptr)))
