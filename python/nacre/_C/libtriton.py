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


ir = SimpleNamespace(context=context, load_dialects=load_dialects)
nvidia = SimpleNamespace(cublas=SimpleNamespace(CublasLt=CublasLt))
