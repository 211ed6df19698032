"""The blocks of Inductor's kernels on the CPU.

Inductor's own block sizes are meant for GPUs, several for each kernel, timed against each other in the first call. Here a kernel gets one:
rows that are reduced stay in the cache and are taken one at a time, the accumulators of columns stay in registers, a block has as many
elements as pay for a program, and there are enough programs for the threads. Where tuning is asked for (`mode="max-autotune"`, coordinate
descent), Inductor's own candidates are timed as ever; so they are under settings that know of no kernels with one block size.
"""

import hashlib
from pathlib import Path

import torch
from torch._inductor import config
from torch._inductor.choices import InductorChoices
from torch._inductor.codegen.triton import FixedTritonConfig, TritonKernel
from torch._inductor.compile_fx import compile_fx_inner
from torch._inductor.runtime.hints import ReductionHint
from torch._inductor.virtualized import V

from ..runtime.cache import triton_key
from . import _attention
from ._products import is_asked_for, is_ours, product

# Elements that pay for a program, and most of a block.
_LEAST, _MOST = 256, 4096
# Elements of a long row, or of columns side by side, that one step of a loop takes.
_STEP = 64
_LINE = 16
_PROGRAMS_OF_A_THREAD = 8
# Elements of a row that is kept as a whole.
_LONGEST_ROW = 2048


def compile_graph(*arguments, **keywords):
    """Inductor's compile of one graph, with blocks for the CPU."""
    _attention.register()
    with V.set_choices_handler(CpuChoices()):
        return compile_fx_inner(*arguments, **keywords)


def _power_of_two(value):
    """The largest one that is not above the value."""
    return 1 << max(int(value).bit_length() - 1, 0)


def _covering(value):
    """The smallest one that is not below the value."""
    return 1 << max(int(value) - 1, 0).bit_length()


class CpuChoices(InductorChoices):
    def uuid(self):
        """Part of the key of Inductor's cache: what is chosen here is part of the code that it keeps."""
        texts = hashlib.sha256()
        for path in sorted(Path(__file__).parent.glob("*.py")):
            texts.update(path.read_bytes())
        return f"nacre {triton_key()} {texts.hexdigest()} {torch.get_num_threads()}"

    def triton_kernel_kwargs(self, kernel_cls, features, groups, kernel_kwargs):
        kernel_kwargs = super().triton_kernel_kwargs(kernel_cls, features, groups, kernel_kwargs)
        if _is_on_cpu() and kernel_cls is TritonKernel and not _is_tuned() and "fixed_config" not in kernel_kwargs:
            blocks = self._blocks(features, groups[0], kernel_kwargs)
            kernel_kwargs = {**kernel_kwargs, "fixed_config": FixedTritonConfig({**blocks, "num_warps": 1, "num_stages": 1})}
        return kernel_kwargs

    def get_template_configs(self, kernel_inputs, templates, op_name, *arguments, **keywords):
        """Products that nobody asked to be tuned: one choice, ours or torch's."""
        if op_name in ("mm", "addmm") and is_asked_for(kernel_inputs.device()):
            ours = product(kernel_inputs, op_name)
            if ours is not None:
                return [ours]
        return super().get_template_configs(kernel_inputs, templates, op_name, *arguments, **keywords)

    @staticmethod
    def can_fuse(scheduler, node1, node2, shared_data_score):
        return InductorChoices.can_fuse(scheduler, node1, node2, _worth(node1, node2, shared_data_score))

    @staticmethod
    def can_fuse_horizontal(scheduler, node1, node2, shared_data_score):
        return InductorChoices.can_fuse_horizontal(scheduler, node1, node2, _worth(node1, node2, shared_data_score))

    @staticmethod
    def reduction_split_factor(device, reduction_numel_hint, numel_hint, inner_reduction):
        """Columns side by side keep the threads busy without a second kernel."""
        if device.type == "cpu" and not inner_reduction and numel_hint >= 2 * _STEP * torch.get_num_threads():
            return 1
        return InductorChoices.reduction_split_factor(device, reduction_numel_hint, numel_hint, inner_reduction)

    @staticmethod
    def should_use_persistent_reduction(features, cooperative_reduction):
        """Rows that stay in the cache are read once; also those that an index leads to."""
        known = InductorChoices.should_use_persistent_reduction(features, cooperative_reduction)
        if known or cooperative_reduction or not _is_on_cpu() or not config.triton.persistent_reductions:
            return known
        is_short = V.graph.sizevars.statically_known_leq(features.reduction_numel, _LONGEST_ROW)
        return is_short and _is_along_rows(features, {"x": features.numel, "r0_": features.reduction_numel})

    def _blocks(self, features, tiling, kernel_kwargs):
        sizes = {prefix: max(1, V.graph.sizevars.optimization_hint(size, fallback=_MOST)) for prefix, size in tiling.items()}
        axes = [prefix for prefix in ("x", "y", "z") if prefix in sizes]
        if not features.is_reduction():
            return _pointwise_blocks(sizes, axes)
        is_persistent = kernel_kwargs.get("override_persistent_reduction")
        if is_persistent is None:
            is_persistent = self.should_use_persistent_reduction(features, False)
        length = 1
        for prefix, size in sizes.items():
            length *= 1 if prefix in axes else _covering(size)
        blocks = {f"{axis.upper()}BLOCK": 1 for axis in axes}
        most = _programs_at_least(sizes["x"])
        if features.contains_op("sort"):
            step = _STEP  # of one row
        elif features.contains_op("scan"):
            step = _STEP
            if not _is_along_rows(features, tiling):  # columns side by side, a square at a time
                blocks["XBLOCK"] = min(_STEP, _covering(sizes["x"]), max(1, _MOST // length) if is_persistent else _STEP)
        elif "y" in sizes:  # memory is walked along rows here and across them there: a strip of them, as wide as a cache line
            step = _STEP
            blocks["YBLOCK"] = min(_LINE, _covering(sizes["y"]), max(1, _MOST // length) if is_persistent else _LINE)
        elif _is_along_rows(features, tiling):
            step = _STEP
            if is_persistent:
                blocks["XBLOCK"] = min(most, max(1, 4 * _LEAST // length))
        else:
            step = 1
            blocks["XBLOCK"] = min(max(most, 16), _covering(sizes["x"]), _MOST // length if is_persistent else 4 * _STEP)
        if not is_persistent:
            for prefix in sorted(set(sizes) - set(axes), reverse=True):  # the last one moves along memory
                blocks[f"{prefix.upper()}BLOCK"] = min(step, _covering(sizes[prefix]))
                step = 1
        return blocks


def _is_on_cpu():
    return is_ours(V.graph.get_current_device_or_throw())


def _worth(node1, node2, score):
    """What fusing two nodes saves, in Inductor's measure: elements that are not read again. Elementwise work on different parts of one buffer
    (queries, keys and values of one product) saves a launch, as it does in Inductor's C++."""
    nodes = (node1, node2)
    if any(node.is_reduction() or node.is_template() or node.is_extern() or node.is_foreach() for node in nodes):
        return score
    if not all(is_ours(node.get_device() or torch.device("meta")) for node in nodes):
        return score
    read = [{dependency.name for dependency in node.read_writes.reads} for node in nodes]
    return max(score, config.score_fusion_memory_threshold) if read[0] & read[1] else score


def lift_limit_of_grids():
    """A GPU's grid has at most 65,535 rows: indices beyond that are spread over two axes, and then masked. Not so on the CPU."""
    from torch._inductor.codegen import triton as codegen

    most_of_gpus = getattr(codegen, "get_max_y_grid", None)
    if most_of_gpus is not None:
        codegen.get_max_y_grid = lambda: (1 << 31) - 1 if _is_on_cpu() else most_of_gpus()


def _is_tuned():
    triton = config.triton
    return (config.max_autotune or config.max_autotune_pointwise or config.coordinate_descent_tuning or triton.multi_kernel
            or triton.force_cooperative_reductions or triton.use_block_ptr or getattr(triton, "use_tensor_descriptor", False))  # fmt: skip


def _programs_at_least(size):
    """The largest block along an axis that leaves every thread its share of programs."""
    return _power_of_two(max(1, size // (_PROGRAMS_OF_A_THREAD * torch.get_num_threads())))


def _pointwise_blocks(sizes, axes):
    if len(axes) == 1:
        block = min(max(_programs_at_least(sizes["x"]), _LEAST), _MOST)
        return {"XBLOCK": min(block, _covering(sizes["x"]))}
    # Inductor has several axes where memory is walked along more than one of them: squares, along the last two; longer where they are narrow.
    blocks = {f"{axis.upper()}BLOCK": 1 for axis in axes}
    blocks["XBLOCK"] = min(_STEP, _covering(sizes["x"]))
    most = max(min(_MOST // blocks["XBLOCK"], _programs_at_least(sizes["y"])), 4 * _LEAST // blocks["XBLOCK"], _STEP)
    if _STEP // 2 < sizes["x"] <= _STEP:  # programs follow each other along y: strips as wide as a cache line, all of which is used up at once
        most = _LINE
    blocks["YBLOCK"] = min(most, _covering(sizes["y"]))
    return blocks


def _is_along_rows(features, tiling):
    """Whether what is reduced lies side by side in memory."""
    hint = features.get_reduction_hint()
    if hint in (ReductionHint.OUTER, ReductionHint.OUTER_TINY):
        return False
    if hint == ReductionHint.INNER or set(tiling) != {"x", "r0_"}:
        return True
    across, along = features.memory_stats(tiling).looped.memory.dim
    return not across.bytes_per_thread_non_contiguous < along.bytes_per_thread_non_contiguous
