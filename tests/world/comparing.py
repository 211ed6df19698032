"""When a result is right."""

import torch

# What the root mean square of the error may be, as a part of the reference's; the worst element may be ten times as far off.
TOLERANCES = {torch.float32: 2e-3, torch.float16: 5e-3, torch.bfloat16: 3e-2, torch.float64: 1e-6}


class Wrong(Exception):
    pass


def compare(name, got, expected, tolerance):
    if got.shape != expected.shape:
        raise Wrong(f"{name}: shape {tuple(got.shape)}, expected {tuple(expected.shape)}")
    if not expected.is_floating_point():
        different = int((got.to(expected.dtype) != expected).sum())
        if different:
            raise Wrong(f"{name}: {different} of {got.numel()} integers differ")
        return
    got, expected = got.detach().double(), expected.detach()
    not_finite = ~torch.isfinite(got) & torch.isfinite(expected)
    if not_finite.any():
        raise Wrong(f"{name}: {int(not_finite.sum())} of {got.numel()} values are not finite")
    both = torch.isfinite(expected)
    error, expected = (got - expected)[both], expected[both]
    if not error.numel():
        return
    size = max(float(expected.square().mean().sqrt()), 1e-4)
    mean, worst = float(error.square().mean().sqrt()) / size, float(error.abs().max()) / max(size, float(expected.abs().max()))
    if mean > tolerance or worst > 10 * tolerance:
        raise Wrong(f"{name}: error {mean:.2g} on average, {worst:.2g} at worst; allowed {tolerance:.2g}")
