"""What other programs ask of the compiler's bindings. torch.compile: a context to make a kernel's IR in; ours needs none. Benchmarks that compare with
cuBLAS: its product of matrices, which is torch's here."""

from types import SimpleNamespace


class context:
    """Stands for the compiler's context."""


def load_dialects(context):
    """There is nothing to load."""


class CublasLt:
    """cuBLAS as torch calls it. The workspace is torch's own."""

    def __init__(self, workspace):
        del workspace

    def matmul(self, a, b, c):
        """c = a @ b.T, a is [M, K], b is [N, K], c is [M, N], all of one type; accumulated as the matrix instructions do."""
        import torch

        if a.dtype.itemsize > 1:
            torch.matmul(a, b.T, out=c)
        elif a.is_cuda:
            one = torch.ones((), device=a.device)
            c.copy_(torch._scaled_mm(a, b.T, scale_a=one, scale_b=one, out_dtype=c.dtype, use_fast_accum=True))
        else:
            c.copy_(a.float() @ b.float().T)


class _Nvidia(SimpleNamespace):
    """cuBLAS, and memory of GPUs for programs without torch."""

    def __getattr__(self, name):
        from ..backends.nvidia import driver_library

        if name in ("copy_device_to_host", "copy_host_to_device", "device_free", "device_malloc", "synchronize"):
            return getattr(driver_library, name)
        raise AttributeError(f"the bindings of NVIDIA's target have no {name!r}")


def __getattr__(name):
    from .. import knobs
    from ..runtime import cache, jit

    for module, names in ((knobs, ("getenv", "getenv_bool")), (cache, ("get_cache_invalidating_env_vars",)), (jit, ("native_specialize_impl",))):
        if name in names:
            return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


ir = SimpleNamespace(context=context, load_dialects=load_dialects)
nvidia = _Nvidia(cublas=SimpleNamespace(CublasLt=CublasLt))
