"""xformers: its kernels in Triton, each imported by its own module."""

import packages
import torch

from . import FLOATS, HALVES, Operator
from .stand_ins import bare_packages, take_any_device


def operators():
    bare_packages(packages.folder(packages.PACKAGES["xformers"]), "xformers", "xformers.triton", "xformers.ops", "xformers.ops._triton")
    take_any_device()
    from xformers.ops._triton.k_index_select_cat import index_select_cat_fwd
    from xformers.ops._triton.k_scaled_index_add import scaled_index_add_fwd
    from xformers.ops._triton.rmsnorm_kernels import _rms_norm_add_forward, _rms_norm_forward

    def normed(draw):
        width = draw.choice(16, 64, 100, 256)
        return {"x": draw.tensor(draw.choice(1, 5, 16), width), "weight": draw.choice(None, draw.tensor(width))}

    def added(draw):
        arguments = normed(draw)
        return {**arguments, "y": draw.tensor(*arguments["x"].shape)}

    def norm(x, weight):
        x = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6)
        return x if weight is None else x * weight

    def norm_of_sum(x, weight, y):
        total = x.clone()
        return _rms_norm_add_forward(total, y, weight, 1e-6), total

    def selected(draw):
        rows, width = draw.choice(8, 20), draw.choice(16, 64, 100)
        return {"source": draw.tensor(rows, width), "index": draw.integers(0, rows, draw.choice(1, 5, 8))}

    def selection(source, index):
        out = source.new_empty(index.shape[0], source.shape[1])
        index_select_cat_fwd(out, source, index)
        return out

    def indexed(draw):
        rows, others, width = draw.choice(8, 20), draw.choice(1, 5), draw.choice(16, 64)
        return {"x": draw.tensor(rows, draw.choice(3, 8), width), "index": torch.arange(others, device=draw.device) * (rows // others),
                "scaling": draw.tensor(width)}  # fmt: skip

    def indexed_sum(x, index, scaling):
        source = x[index].contiguous() * 2
        total = x.clone()
        scaled_index_add_fwd(total, index, source, scaling, 0.5)
        return total

    def expected_sum(x, index, scaling):
        return x.index_add(0, index, x[index] * 2 * scaling, alpha=0.5)

    return [
        Operator("rms_norm", normed, lambda x, weight: _rms_norm_forward(x, weight, 1e-6), norm),
        Operator("rms_norm_add", added, norm_of_sum, lambda x, weight, y: (norm(x + y, weight), x + y)),
        Operator("index_select_cat", selected, selection, lambda source, index: source[index], FLOATS),
        Operator("scaled_index_add", indexed, indexed_sum, expected_sum, HALVES),
    ]
