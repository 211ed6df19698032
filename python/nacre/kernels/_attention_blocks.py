"""Block sizes of the attention kernels: functions of where they run, of the element type and of the sizes."""

from ._arrays import dtype_name
from ._blocks import cdiv, power_of_two, runs_on_host


def forward_blocks(q, queries, keys, size, value_size, group):
    """{BLOCK_M, BLOCK_N, num_warps, num_stages}."""
    widest = max(size, value_size)
    if runs_on_host(q):
        return {"BLOCK_M": min(64, power_of_two(queries)), "BLOCK_N": min(128 if widest <= 128 else 64, power_of_two(keys))}
    wide = dtype_name(q) in ("float32", "float64")
    rows = 64 if wide or widest > 128 else 128
    columns = 32 if wide or widest > 64 else 64
    return {"BLOCK_M": max(16, min(rows, power_of_two(queries))), "BLOCK_N": columns, "num_warps": 4 if widest <= 64 else 8, "num_stages": 2}


def backward_blocks(q, queries, keys, size, value_size):
    """{BLOCK_M, BLOCK_N, num_warps, num_stages} of the kernels of the gradients."""
    widest = max(size, value_size)
    if runs_on_host(q):
        block = 64
        return {"BLOCK_M": min(block, power_of_two(queries)), "BLOCK_N": min(block, power_of_two(keys))}
    block = 32 if widest > 64 or dtype_name(q) in ("float32", "float64") else 64
    return {"BLOCK_M": max(16, min(block, power_of_two(queries))), "BLOCK_N": block, "num_warps": 4, "num_stages": 1}


def keys_own_queries(q, programs):
    """Whether one program for each head of keys, which finds the gradients of its queries too, keeps the cores of a host at work."""
    return runs_on_host(q) and programs >= _LEAST_HEADS


_LEAST_HEADS = 8
# Programs that keep all cores at work, and the fewest keys that pay for a program.
_PROGRAMS = {True: 16, False: 264}
_LEAST_KEYS = {True: 512, False: 256}


def decoding_blocks(q, programs, keys, page, size, value_size):
    """({BLOCK_N, ...}, keys of a part, parts). `page`: rows of a page of keys, or None."""
    host = runs_on_host(q)
    block = 64 if max(size, value_size) <= (64 if host else 128) else 32
    if page is not None and page >= 16:
        whole = [candidate for candidate in (16, 32, 64) if candidate <= block and page % candidate == 0]
        block = max(whole, default=block)
    parts = max(1, min(cdiv(_PROGRAMS[host], max(programs, 1)), keys // _LEAST_KEYS[host]))
    span = cdiv(cdiv(max(keys, 1), parts), block) * block
    return {"BLOCK_N": block, "SUMMED_PRODUCTS": 2, "SUMMED_VALUES": 4, "num_warps": 4, "num_stages": 2}, span, cdiv(max(keys, 1), span)
