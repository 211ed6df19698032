"""The tutorial's attention beside cuDNN on a GPU, in one rotated loop, the L2 flushed between, medians compared.

    nacre run bench/gpu/attention.py [--hint] [--rounds N]

The ratio is cuDNN's time over ours: above 1 we are faster. Each row is of the faster one of its blocks. --hint asks for warps that only
load (`warp_specialize=True`) in all of them.
"""

import argparse
import itertools
import math
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from triton.tools.tensor_descriptor import TensorDescriptor

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "examples" / "tutorials"))
import t06_attention  # noqa: E402

KERNEL = t06_attention._attn_fwd.fn
BLOCKS = {64: [(64, 64, 4, 3), (128, 64, 4, 3)], 128: [(128, 128, 8, 2), (64, 64, 4, 3)]}  # M, N, warps, stages
ROWS_OF_BATCH, HEADS = 16384, 16


def launcher(q, k, v, causal, blocks, hint):
    """(a function that launches the kernel, its result)"""
    batch, heads, rows, size = q.shape
    block_m, block_n, warps, stages = blocks
    out, most = torch.empty_like(q), torch.empty(q.shape[:3], device=q.device)
    descriptors = [TensorDescriptor(tensor, [batch * heads * rows, size], [size, 1], [block, size])
                   for tensor, block in ((q, block_m), (k, block_n), (v, block_n), (out, block_m))]  # fmt: skip
    constants = {"N_CTX": rows, "HEAD_DIM": size, "BLOCK_M": block_m, "BLOCK_N": block_n, "STAGE": 3 if causal else 1, "warp_specialize": hint}
    arguments, grid = (1 / math.sqrt(size), most, batch, heads, *descriptors), (rows // block_m, batch * heads)
    options = {**constants, "num_warps": warps, "num_stages": stages}
    KERNEL.warmup(*arguments, grid=grid, **options)
    return lambda: KERNEL[grid](*arguments, **options), out


def milliseconds(functions, rounds):
    """The median of each."""
    flushed = torch.empty(64 << 20, dtype=torch.int32, device="cuda")
    times = [[] for _ in functions]
    for _ in range(rounds):
        for function, own in zip(functions, times):
            flushed.zero_()
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            function()
            end.record()
            end.synchronize()
            own.append(begin.elapsed_time(end))
    return [sorted(own)[len(own) // 2] for own in times]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hint", action="store_true")
    parser.add_argument("--rounds", type=int, default=11)
    options = parser.parse_args()
    ratios = []
    print("| head | rows | | cuDNN ms | ours ms | ratio | block, warps |\n|---|---|---|---|---|---|---|")
    for size, causal, rows in itertools.product((128, 64), (False, True), (1024, 4096, 16384)):
        q, k, v = (torch.randn(ROWS_OF_BATCH // rows, HEADS, rows, size, device="cuda", dtype=torch.float16) for _ in range(3))

        def peer(q=q, k=k, v=v, causal=causal):
            with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
                return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)

        with ThreadPoolExecutor(4) as pool:
            made = list(pool.map(lambda blocks: launcher(q, k, v, causal, blocks, options.hint), BLOCKS[size]))  # noqa: B023
        expected = peer()
        for launch, out in made:
            launch()
            torch.testing.assert_close(out, expected, rtol=2e-2, atol=2e-3)
        theirs, *ours = milliseconds([peer, *(launch for launch, _ in made)], options.rounds)
        best, (block_m, block_n, warps, _) = min(zip(ours, BLOCKS[size]))
        ratios.append(theirs / best)
        print(
            f"| {size} | {rows} | {'causal' if causal else 'full'} | {theirs:.3f} | {best:.3f} | {ratios[-1]:.2f} | {block_m}x{block_n}, {warps} |", flush=True
        )
    print(f"\n{len(ratios)} rows: geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}, least {min(ratios):.2f}")


if __name__ == "__main__":
    main()
