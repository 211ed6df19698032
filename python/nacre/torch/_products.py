"""Matrix products in the language, on the CPU: what follows a product elementwise becomes part of its kernel.

torch's own `mm` and `addmm` leave a product in memory for the next kernel to read, and `addmm` writes the bias there first. A product in the
language keeps a block of the right operand in the cache while programs move along the rows, and ends a block with all that is done to its
elements. Which is taken is decided here, from the sizes alone: `blocks` says how a product is cut, or that it is left to torch.

Legal wherever sizes and strides are known numbers and everything is float32: the language's `dot` of float32 rounds as torch's does, each
product and sum once, in another order. `max_autotune_gemm_backends` without TRITON leaves all of them to torch.
"""

import itertools

import torch
from torch._inductor import config
from torch._inductor.ir import BaseView, StorageBox, TensorBox
from torch._inductor.kernel.mm_common import addmm_epilogue, mm_grid
from torch._inductor.lowering import expand
from torch._inductor.select_algorithm import TritonTemplate, realize_inputs
from torch._inductor.utils import _use_autotune_backend

# Multiplications that pay for a kernel of their own.
_LEAST_WORK = 1 << 24
# Of the blocks' elements, the part that may lie beyond the matrices.
_MOST_PADDING = 0.06
_ROWS = 32
# Widths of blocks, and what each costs beside the widest, as a part of the time: operands are packed more often.
_COLUMNS = {256: 0.0, 128: 0.01, 64: 0.03}
_DEPTHS = {256: 0.0, 128: 0.02, 64: 0.05, 32: 0.06}
# Elements of the right operand that a program walks: they stay in a core's own cache from one program to the next.
_MOST_KEPT = 1 << 18
# Rows of a left operand that lies transposed are gathered; beyond this depth that costs more than is won.
_DEEPEST_TRANSPOSED = 1024
_PROGRAMS_OF_A_THREAD = 4

_SOURCE = r"""
{{def_kernel("A", "B")}}
    M: tl.constexpr = {{size("A", 0)}}
    N: tl.constexpr = {{size("B", 1)}}
    K: tl.constexpr = {{size("A", 1)}}
    # Programs move along the rows: their block of B stays in the cache.
    programs_along_m: tl.constexpr = (M + BLOCK_M - 1) // BLOCK_M
    pid = tl.program_id(0).to(INDEX_DTYPE)
    rm = pid % programs_along_m * BLOCK_M + tl.arange(0, BLOCK_M).to(INDEX_DTYPE)
    rn = pid // programs_along_m * BLOCK_N + tl.arange(0, BLOCK_N).to(INDEX_DTYPE)
    idx_m = rm[:, None]
    idx_n = rn[None, :]
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for first in range(0, K, BLOCK_K):
        rk = first + tl.arange(0, BLOCK_K).to(INDEX_DTYPE)
        a_at = A + idx_m * {{stride("A", 0)}} + rk[None, :] * {{stride("A", 1)}}
        b_at = B + rk[:, None] * {{stride("B", 0)}} + idx_n * {{stride("B", 1)}}
        {% if EVEN_K %}
        a = tl.load(a_at, mask=idx_m < M, other=0.0)
        b = tl.load(b_at, mask=idx_n < N, other=0.0)
        {% else %}
        a = tl.load(a_at, mask=(idx_m < M) & (rk[None, :] < K), other=0.0)
        b = tl.load(b_at, mask=(rk[:, None] < K) & (idx_n < N), other=0.0)
        {% endif %}
        acc = tl.dot(a, b, acc, input_precision="ieee")
    mask = (idx_m < M) & (idx_n < N)
    {{store_output(("idx_m", "idx_n"), "acc", "mask", val_shape=("BLOCK_M", "BLOCK_N"))}}
"""

# Layers that repeat have products that differ in the names of their buffers alone: their text is made once.
_template = TritonTemplate(name="cpu_mm", grid=mm_grid, source=_SOURCE, cache_codegen_enabled_for_template=True)


def is_ours(device):
    """Whether what Inductor writes for that device is compiled here, and runs on a CPU."""
    return config.cpu_backend == "triton" and device.type == "cpu"


def is_asked_for(device):
    """Whether kernels of the language are to take the place of torch's own on that device, with blocks chosen here."""
    is_tuned = config.max_autotune or config.max_autotune_gemm
    return is_ours(device) and not is_tuned and _use_autotune_backend("TRITON")


def are_numbers(values):
    return all(getattr(value, "is_Integer", isinstance(value, int)) for value in values)


def blocks(m, n, k, is_transposed, threads):
    """Rows, columns and depth of a product's blocks, or None where it is torch's. `is_transposed`: of the left operand."""
    if m * n * k < _LEAST_WORK or (is_transposed and k > _DEEPEST_TRANSPOSED):
        return None

    def padded(size, block):
        return -(-size // block) * block

    def cost(columns, depth):
        padding = padded(m, _ROWS) * padded(n, columns) * padded(k, depth) / (m * n * k)
        return padding, padding + _COLUMNS[columns] + _DEPTHS[depth]

    found = None
    for columns, depth in itertools.product(_COLUMNS, _DEPTHS):
        padding, price = cost(columns, depth)
        programs = -(-m // _ROWS) * -(-n // columns)
        if padding > 1 + _MOST_PADDING or columns * k > _MOST_KEPT or programs < _PROGRAMS_OF_A_THREAD * threads:
            continue
        if found is None or price < found[0]:
            found = price, (_ROWS, columns, depth)
    return found[1] if found else None


def boxed(node):
    """A realized node as lowerings take it."""
    if isinstance(node, TensorBox):
        return node
    return TensorBox(node) if isinstance(node, (StorageBox, BaseView)) else TensorBox.create(node)


def product(inputs, name):
    """The choice that computes `mm` or `addmm` of Inductor's inputs here; None where it is left to torch."""
    left, right = inputs.mat1mat2()
    if not are_numbers([*left.get_size(), *right.get_size(), *left.get_stride(), *right.get_stride()]):
        return None
    if any(node.get_dtype() != torch.float32 for node in inputs.nodes()) or inputs.out_dtype() != torch.float32:
        return None
    if name == "addmm" and inputs.get_scalar("beta") == 0:  # what is added is not to be looked at, not even where it is NaN
        return None
    strides = [tuple(map(int, node.get_stride())) for node in (left, right)]
    if any(1 not in pair for pair in strides):
        return None
    m, n, k = map(int, inputs.mnk_symbolic())
    cut = blocks(m, n, k, strides[0][1] != 1, torch.get_num_threads())
    if cut is None:
        return None
    rows, columns, depth = cut
    settings = {"BLOCK_M": rows, "BLOCK_N": columns, "BLOCK_K": depth, "EVEN_K": k % depth == 0, "ACC_TYPE": "tl.float32"}
    nodes = list(inputs.nodes())
    layout = inputs.output_layout(flexible=False)
    if name == "addmm":
        alpha, beta = inputs.get_scalar("alpha"), inputs.get_scalar("beta")
        nodes[0] = realize_inputs(expand(boxed(nodes[0]), layout.size))
        settings |= {"epilogue_fn": addmm_epilogue(torch.float32, alpha, beta), "prefix_args": 1,
                     "epilogue_fn_hash": f"addmm {alpha} {beta}"}  # fmt: skip
    return _template.generate(tuple(nodes), layout, num_stages=1, num_warps=1, generate_with_caching=True, **settings)
