"""What every example shares: run a kernel beside PyTorch, check the result, time both, print one line.

`compare` raises when the largest error passes the tolerance, so an example that ends quietly is right.
"""

import time
from dataclasses import dataclass

import torch
import triton


def _device():
    """Where kernels run: what the compiler at hand drives."""
    try:
        return triton.runtime.driver.active.get_active_torch_device()
    except RuntimeError:  # Triton without a GPU has no driver, and can only interpret
        return torch.device("cpu")


DEVICE = _device()


@dataclass
class Row:
    name: str
    error: float
    first_ms: float  # the first call: compiles, or reads the cache
    ours_ms: float
    torch_ms: float


rows: list[Row] = []  # every comparison of this process, for the summary of run_all.py


def _synchronize():
    if DEVICE.type == "cuda":
        torch.cuda.synchronize()


def best_time_ms(function, seconds=0.15):
    """The smallest time of a call, in milliseconds, over about `seconds` of calls (at least three)."""
    best = float("inf")
    end = time.perf_counter() + seconds
    runs = 0
    while runs < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        function()
        _synchronize()
        best = min(best, time.perf_counter() - start)
        runs += 1
    return best * 1e3


def largest_error(actual, expected):
    if actual.shape != expected.shape:
        raise AssertionError(f"shape {tuple(actual.shape)} where {tuple(expected.shape)} is expected")
    if actual.numel() == 0:
        return 0.0
    difference = (actual.double() - expected.double()).abs().max().item()
    return float("inf") if difference != difference else difference  # NaN is an error without bound


def compare(name, ours, theirs, tolerance):
    """Calls both functions, checks ours against theirs, times them and prints the line."""
    start = time.perf_counter()
    actual = ours()
    _synchronize()
    first_ms = (time.perf_counter() - start) * 1e3
    error = largest_error(actual, theirs())
    if error > tolerance:
        raise AssertionError(f"{name}: largest error {error:.3g} is over {tolerance:.3g}")
    row = Row(name, error, first_ms, best_time_ms(ours), best_time_ms(theirs))
    rows.append(row)
    print(
        f"{name:<44} max error {row.error:8.2e}   first call {row.first_ms:7.1f} ms   "
        f"ours {row.ours_ms:8.3f} ms   torch {row.torch_ms:8.3f} ms",
        flush=True,
    )
    return row
