"""gemlite: products with weights of few bits, by four kinds of kernels; "GEMV" counts its GPUs, and takes no tensor of the host."""

import packages
import torch

from . import HALVES, Operator
from .stand_ins import stand_in, take_any_device


def operators():
    take_any_device()
    (packages.folder(packages.PACKAGES["gemlite"]) / "gemlite" / "configs").mkdir(exist_ok=True)  # of tuned GPUs; it lists them
    stand_in("tqdm", tqdm=lambda values, **_: values)
    from gemlite.core import TORCH_TO_DTYPE, GemLiteLinearTriton

    def make(kind):
        rows = (1, 5, 16, 40) if kind.startswith("GEMM") else (1,)

        def arguments(draw):
            bits, group = draw.choice(8, 4, 2), draw.choice(32, 64, 128)
            width, count = draw.choice(128, 256), draw.choice(32, 64, 128)
            return {"x": draw.tensor(draw.size(*rows), width, scale=0.1), "weight": draw.integers(0, 2**bits, count, width, dtype=torch.uint8),
                    "scales": draw.tensor(count, width // group, of=lambda x: x.abs() / 2**bits), "zeros": draw.tensor(count, width // group, of=lambda x: x.abs() * 2**bits / 4),
                    "bits": bits, "group": group}  # fmt: skip
        return arguments

    def call(kind):
        def product(x, weight, scales, zeros, bits, group):
            dtype = TORCH_TO_DTYPE[x.dtype]
            layer = GemLiteLinearTriton(bits, group_size=group, in_features=weight.shape[1], out_features=weight.shape[0], input_dtype=dtype, output_dtype=dtype,
                                        scaled_activations=False)  # fmt: skip
            layer.pack(weight, scales, zeros, bias=None)
            return layer.forward_manual(x, matmul_type=kind)
        return product

    def reference(x, weight, scales, zeros, bits, group):
        repeated = [value.repeat_interleave(group, 1) for value in (scales, zeros)]
        return x @ ((weight.double() - repeated[1]) * repeated[0]).T

    def unmasked(error, arguments):
        """What is read there is multiplied by zero: it is only seen where it is not finite."""
        if any(text in str(error) for text in ("out of bounds", "out-of-bounds", "not finite")):
            return "where SPLIT_K blocks are more than K has, those past its end load scales and zeros without a mask, past their end"
        return None

    return [Operator(kind.lower(), make(kind), call(kind), reference, HALVES, tolerance=2, theirs=unmasked if "SPLITK" in kind else lambda error, arguments: None)
            for kind in ("GEMM", "GEMM_SPLITK", "GEMV_SPLITK", "GEMV_REVSPLITK")]  # fmt: skip
