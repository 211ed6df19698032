"""Launches: of NumPy arrays and torch tensors, grids in every form, warm-ups, compiled kernels, hooks."""

import numpy as np
import triton
import triton.language as tl
from triton.compiler import ASTSource


@triton.jit
def add(x_ptr, y_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    y = tl.load(y_ptr + offsets, mask=mask, other=0.0)
    tl.store(out_ptr + offsets, x + y, mask=mask)


@triton.jit(do_not_specialize=["count"], debug=True, repr=lambda specialization: "scaled")
def scale(x_ptr, count, factor, BLOCK: tl.constexpr = 128, ROUND: tl.constexpr = None):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, offsets < count)
    tl.store(x_ptr + offsets, x * factor, offsets < count)


@triton.jit
def typed(x_ptr: tl.const, out_ptr, stride: tl.int64, count: tl.int32, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * stride + tl.arange(0, BLOCK)
    for start in range(0, count, BLOCK):
        tl.store(out_ptr + offsets + start, tl.load(x_ptr + offsets + start, mask=offsets + start < count), mask=offsets + start < count)


def with_numpy() -> np.ndarray:
    x = np.ones(1000, np.float32)
    out = np.empty_like(x)
    add[(triton.cdiv(x.size, 256),)](x, x, out, x.size, BLOCK=256)
    add[lambda meta: (triton.cdiv(x.size, meta["BLOCK"]),)](x, x, out, x.size, BLOCK=256, num_warps=4, num_stages=2)
    add[4](x, x, out, x.size, 256)
    add[1, 1, 1](x, x, out, x.size, 1024)

    def grid(meta):
        return (triton.cdiv(x.size, meta["BLOCK"]), 1)

    options = {"BLOCK": 64, "num_warps": 8, "debug": True}
    add[grid](x, x, out, x.size, **options)
    scale[(8,)](out, out.size, 2.0)
    scale[(8,)](out, out.size, factor=np.float32(2.0), BLOCK=128, ROUND="rtz")
    typed[(1,)](x, out, x.strides[0], x.shape[0], BLOCK=128)
    add.run(x, x, out, x.size, grid=(4,), warmup=False, BLOCK=256)
    return out


def with_torch():
    import torch

    x = torch.rand(98432)
    out = torch.empty_like(x)
    compiled = add[(triton.cdiv(x.numel(), 1024),)](x, x, out, x.numel(), BLOCK=1024)
    print(compiled.asm["ttir"], compiled.n_regs, compiled.metadata.num_warps, compiled.metadata.shared)
    add[lambda META: (triton.cdiv(x.numel(), META["BLOCK"]),)](x, x, out, x.numel(), BLOCK=triton.next_power_of_2(x.shape[0]))
    warm = add.warmup(torch.float32, torch.float32, torch.float32, 128, BLOCK=128, grid=(1,))
    print(warm.name, warm.hash, len(warm.kernel))
    assert torch.equal(triton.reinterpret(out, tl.float32).base, out)


def ahead_of_time():
    signature = {"x_ptr": "*fp32", "y_ptr": "*fp32", "out_ptr": "*fp32", "count": "i32", "BLOCK": "constexpr"}
    source = ASTSource(fn=add, signature=signature, constexprs={"BLOCK": 128})
    compiled = triton.compile(source, options={"num_warps": 4})
    print(sorted(compiled.asm), compiled.metadata.name, compiled.metadata_group)
    print(add.src, add.cache_key, add.arg_names, [param.name for param in add.params if param.is_constexpr], add.fn.__name__)


def hooked():
    def tell(metadata):
        print(metadata.get()["name"])

    triton.knobs.runtime.launch_enter_hook.add(tell)
    with triton.knobs.runtime.scope():
        triton.knobs.runtime.num_threads = 2
        triton.knobs.compilation.dump_ir = True
        with_numpy()
    triton.knobs.runtime.launch_enter_hook = None
    print(triton.knobs.cache.dir, triton.__version__)
    try:
        with_numpy()
    except (triton.CompilationError, triton.OutOfResources) as error:
        print(error)
