"""Attention in the language, on the CPU: torch's `_scaled_dot_product_flash_attention_for_cpu`, forward, as one kernel.

A program takes a block of queries of one head through all keys, a block at a time, with the running maximum and sum of each row's softmax;
scores never reach memory. What follows elementwise and lies the same way becomes part of the kernel. The backward pass is torch's own: it is
handed the logarithm of each row's sum, which is stored only where someone reads it.

Legal where sizes and strides are known numbers, everything is float32, heads are as many for keys as for queries, and nothing is dropped
out; everything else is torch's. A row of which every score is masked is zero, and so is its logarithm, as torch
makes them.
"""

import math

import torch
from torch._inductor.ir import ExternKernel, FixedLayout
from torch._inductor.lowering import empty_strided, expand, lowerings
from torch._inductor.select_algorithm import SymbolicGridFn, TritonTemplate
from torch._inductor.virtualized import V

from ._products import are_numbers, boxed, is_asked_for

_OPERATION = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default
_HEADS = (16, 32, 64, 128)  # sizes that blocks can have
# Multiplications that pay for a kernel of their own.
_LEAST_WORK = 1 << 20
# Sizes of blocks of queries and of keys, and what each costs beside the best, as a part of the time.
_QUERIES = {64: 0.0, 32: 0.03}
_KEYS = {256: 0.0, 128: 0.01, 64: 0.05, 32: 0.15}

_SOURCE = r"""
{{def_kernel(*NAMES)}}
    ROWS: tl.constexpr = {{size("Q", 2)}}
    KEYS: tl.constexpr = {{size("K", 2)}}
    HEAD: tl.constexpr = {{size("Q", 3)}}
    HEADS: tl.constexpr = {{size("Q", 1)}}
    first = tl.program_id(0).to(INDEX_DTYPE) * BLOCK_M
    batch_and_head = tl.program_id(1).to(INDEX_DTYPE)
    batch = batch_and_head // HEADS
    head = batch_and_head % HEADS
    rm = first + tl.arange(0, BLOCK_M).to(INDEX_DTYPE)
    rd = tl.arange(0, HEAD).to(INDEX_DTYPE)
    idx_m = rm[:, None]
    idx_d = rd[None, :]
    is_row = idx_m < ROWS
    q_of = Q + batch * {{stride("Q", 0)}} + head * {{stride("Q", 1)}}
    k_of = K + batch * {{stride("K", 0)}} + head * {{stride("K", 1)}}
    v_of = V + batch * {{stride("V", 0)}} + head * {{stride("V", 1)}}
    q = tl.load(q_of + idx_m * {{stride("Q", 2)}} + idx_d, mask=is_row, other=0.0) * SCALE
    largest = tl.full([BLOCK_M], float("-inf"), tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, HEAD], tl.float32)
    {% if IS_CAUSAL %}
    end = tl.minimum(first + BLOCK_M, KEYS)
    {% else %}
    end = KEYS
    {% endif %}
    for start in range(0, end, BLOCK_N):
        rn = start + tl.arange(0, BLOCK_N).to(INDEX_DTYPE)
        k = tl.load(k_of + rn[:, None] * {{stride("K", 2)}} + idx_d, mask=rn[:, None] < KEYS, other=0.0)
        v = tl.load(v_of + rn[:, None] * {{stride("V", 2)}} + idx_d, mask=rn[:, None] < KEYS, other=0.0)
        scores = tl.dot(q, k.T, input_precision="ieee")
        {% if HAS_MASK %}
        added = MASK + batch * {{stride("MASK", 0)}} + head * {{stride("MASK", 1)}}
        added = added + idx_m * {{stride("MASK", 2)}} + rn[None, :] * {{stride("MASK", 3)}}
        scores += tl.load(added, mask=is_row & (rn[None, :] < KEYS), other=0.0)
        {% endif %}
        {% if IS_CAUSAL %}
        scores = tl.where((rn[None, :] <= idx_m) & (rn[None, :] < KEYS), scores, float("-inf"))
        {% elif not IS_EVEN %}
        scores = tl.where(rn[None, :] < KEYS, scores, float("-inf"))
        {% endif %}
        new = tl.maximum(largest, tl.max(scores, 1))
        {% if HAS_MASK %}
        reference = tl.where(new == float("-inf"), 0.0, new)
        {% else %}
        reference = new
        {% endif %}
        weights = tl.exp(scores - reference[:, None])
        shrink = tl.exp(largest - reference)
        total = total * shrink + tl.sum(weights, 1)
        acc = tl.dot(weights, v, acc * shrink[:, None], input_precision="ieee")
        largest = new
    {% if HAS_MASK %}
    total = tl.where(total == 0.0, 1.0, total)
    largest = tl.where(largest == float("-inf"), 0.0, largest)
    {% endif %}
    acc = acc / total[:, None]
    {% if HAS_SUMS %}
    sums = LSE + batch * {{stride("LSE", 0)}} + head * {{stride("LSE", 1)}} + rm * {{stride("LSE", 2)}}
    tl.store(sums, largest + tl.log(total), mask=rm < ROWS)
    {% endif %}
    mask = is_row & (idx_d < HEAD)
    {{store_output(("batch", "head", "idx_m", "idx_d"), "acc", "mask", val_shape=("BLOCK_M", "HEAD"))}}
"""


@SymbolicGridFn
def _grid(batch, heads, rows, head, meta, *, cdiv):
    return (cdiv(rows, meta["BLOCK_M"]), batch * heads, 1)


# The arguments of a kernel depend on what it has to do with a mask and with sums: a template for each.
_templates = {
    (has_mask, has_sums): TritonTemplate(
        name="cpu_attention" + "_mask" * has_mask + "_sums" * has_sums,
        grid=_grid,
        source=_SOURCE.replace("*NAMES", ", ".join(f'"{name}"' for name in ("Q", "K", "V", *["MASK"] * has_mask, *["LSE"] * has_sums))),
    )
    for has_mask in (False, True)
    for has_sums in (False, True)
}


def blocks(rows, keys):
    """Queries and keys of a block: little beyond the matrices, and as large as pays."""

    def cheapest(size, prices):
        return min(prices, key=lambda block: -(-size // block) * block * (1 + prices[block]))

    return cheapest(rows, _QUERIES), cheapest(keys, _KEYS)


def _is_taken(query, key, value, dropout, mask):
    parts = [query, key, value]
    if not is_asked_for(query.get_device()) or dropout != 0.0:
        return False
    if any(part.get_dtype() != torch.float32 for part in (*parts, *([mask] if mask is not None else []))):
        return False
    if not all(are_numbers(part.get_size()) and are_numbers(part.get_stride()) and part.get_stride()[-1] == 1 for part in parts):
        return False
    if mask is not None and not are_numbers(mask.get_size()):
        return False
    batch, heads, rows, size = map(int, query.get_size())
    keys = int(key.get_size()[2])
    if any([*map(int, part.get_size())] != [batch, heads, keys, size] for part in (key, value)):
        return False
    return size in _HEADS and keys > 0 and batch * heads * rows * keys * size >= _LEAST_WORK


def _is_read(node, index):
    return any(user.args[1] == index and user.users for user in node.users)


def _lower(query, key, value, dropout_p=0.0, is_causal=False, *, attn_mask=None, scale=None):
    parts = [ExternKernel.realize_input(part) for part in (query, key, value)]
    if not _is_taken(*parts, dropout_p, attn_mask):
        return _torchs(query, key, value, dropout_p, is_causal, attn_mask=attn_mask, scale=scale)
    output, sums = V.current_node.meta["val"]
    has_sums, has_mask = _is_read(V.current_node, 1), attn_mask is not None
    rows, keys, size = int(parts[0].get_size()[2]), int(parts[1].get_size()[2]), int(parts[0].get_size()[3])
    row_block, key_block = blocks(rows, keys)
    if has_mask:
        parts.append(ExternKernel.realize_input(expand(boxed(attn_mask), [*parts[0].get_size()[:2], rows, keys])))
    kept = empty_strided([*sums.size()], [*sums.stride()], dtype=torch.float32, device=query.get_device())
    if has_sums:
        kept.realize()
        parts.append(kept)
    layout = FixedLayout(query.get_device(), torch.float32, [*query.get_size()], [*output.stride()])
    choice = _templates[has_mask, has_sums].generate(
        parts, layout, num_stages=1, num_warps=1, call_sizes=query.get_size(), mutated_inputs=[kept] if has_sums else None,
        BLOCK_M=row_block, BLOCK_N=key_block, SCALE=1 / math.sqrt(size) if scale is None else float(scale), IS_CAUSAL=bool(is_causal),
        IS_EVEN=keys % key_block == 0, HAS_MASK=has_mask, HAS_SUMS=has_sums, ACC_TYPE="tl.float32")  # fmt: skip
    return choice.output_node(), kept


def register():
    """Puts our lowering before torch's, which it asks wherever the kernel is not ours, or not this backend's."""
    global _torchs
    if lowerings[_OPERATION] is not _lower:
        _torchs = lowerings[_OPERATION]
        lowerings[_OPERATION] = _lower


_torchs = None
