"""Helion: tiles of PyTorch that it compiles to kernels in the language. The operators are written here; each case draws one of Helion's configurations."""

import os

import torch

from . import Operator
from .stand_ins import stand_in


def operators():
    os.environ["HELION_AUTOTUNE_EFFORT"] = "none"
    stand_in("psutil")
    import helion
    import helion.language

    globals()["hl"] = helion.language  # Helion's kernels take no closures

    def config(draw, *blocks):
        return {"block_sizes": [draw.choice(*sizes) for sizes in blocks], "num_warps": draw.choice(1, 2, 4, 8), "num_stages": draw.choice(1, 2, 3),
                "indexing": draw.choice("pointer", "block_ptr", "tensor_descriptor")}  # fmt: skip

    def call(function):
        def run(config, **arguments):
            return helion.kernel(function, config=helion.Config(**config), static_shapes=True)(*arguments.values())
        return run

    def two(draw):
        shape = draw.size(1, 17, 64), draw.size(8, 64, 100)
        return {"x": draw.tensor(*shape), "y": draw.tensor(*shape), "config": config(draw, (1, 16, 32), (16, 64))}

    def rows(draw):
        return {"x": draw.tensor(draw.size(1, 5, 40), draw.size(16, 33, 128)), "config": config(draw, (1, 4, 16))}

    def columns(draw):
        return {"x": draw.tensor(draw.size(1, 17, 64), draw.size(16, 33, 100)), "config": config(draw, (16, 32), (8, 16, 64))}

    def matrices(draw):
        m, k, n = draw.size(16, 40, 70), draw.choice(32, 64, 80), draw.choice(32, 64, 96)
        return {"a": draw.tensor(m, k), "b": draw.tensor(k, n), "config": config(draw, (16, 32, 64), (16, 32, 64), (16, 32))}

    return [
        Operator("add", two, call(add), lambda x, y, config: x * 2 + y),
        Operator("softmax", rows, call(softmax), lambda x, config: x.softmax(-1), tolerance=2),
        Operator("column_sums", columns, call(column_sums), lambda x, config: x.sum(0), tolerance=2),
        Operator("product", matrices, call(product), lambda a, b, config: (a @ b).relu(), tolerance=2),
    ]


def add(x, y):
    out = torch.empty_like(x)
    for tile in hl.tile(out.size()):
        out[tile] = x[tile] * 2 + y[tile]
    return out


def softmax(x):
    out = torch.empty_like(x)
    for tile in hl.tile(x.size(0)):
        out[tile, :] = torch.softmax(x[tile, :].float(), dim=1).to(x.dtype)
    return out


def column_sums(x):
    out = x.new_empty([x.size(1)])
    for columns in hl.tile(x.size(1)):
        total = hl.zeros([columns], dtype=torch.float32)
        for rows in hl.tile(x.size(0)):
            total = total + x[rows, columns].float().sum(0)
        out[columns] = total.to(x.dtype)
    return out


def product(a, b):
    m, k = a.size()
    _, n = b.size()
    out = torch.empty([m, n], dtype=a.dtype, device=a.device)
    for rows, columns in hl.tile([m, n]):
        total = hl.zeros([rows, columns], dtype=torch.float32)
        for inner in hl.tile(k):
            total = torch.addmm(total, a[rows, inner], b[inner, columns])
        out[rows, columns] = torch.relu(total).to(a.dtype)
    return out
