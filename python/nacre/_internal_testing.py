"""What tests written for Triton import to choose their types and devices and to make their data. Needs torch, NumPy and pytest."""

import contextlib
import os

import numpy as np
import pytest
import torch

from . import language as tl
from ._compile_warmup_state import is_compile_warmup
from ._testing_processes import ProcessResult, ReplenishingProcessPool, run_in_process, use_process_pool  # noqa: F401
from ._utils import type_canonicalisation_dict
from .runtime.driver import driver
from .runtime.jit import TensorWrapper, reinterpret

int_dtypes = ["int8", "int16", "int32", "int64"]
uint_dtypes = ["uint8", "uint16", "uint32", "uint64"]
integral_dtypes = int_dtypes + uint_dtypes
float_dtypes = ["float16", "float32", "float64"]
float_dtypes_with_bfloat16 = [*float_dtypes, "bfloat16"]
dtypes = integral_dtypes + float_dtypes
dtypes_with_bfloat16 = [*dtypes, "bfloat16"]
torch_float8_dtypes = ["float8_e4m3fn", "float8_e5m2"]
torch_dtypes = ["bool", *int_dtypes, "uint8", *float_dtypes, "bfloat16"]
tma_dtypes = sorted({*dtypes_with_bfloat16} - {"int64", "uint64", "float64"})


# Where tests run ------------------------------------------------------------------------------------------------------------


def is_interpreter():
    return os.environ.get("TRITON_INTERPRET", "0") == "1"


def get_current_target():
    """The target of the active driver; None where Python runs the kernels."""
    return None if is_interpreter() else driver.active.get_current_target()


def _backend():
    target = get_current_target()
    return None if target is None else target.backend


def _capability():
    return torch.cuda.get_device_capability() if is_cuda() else (0, 0)


def is_cuda():
    return _backend() == "cuda"


def is_hip():
    return _backend() == "hip"


def is_xpu():
    return _backend() == "xpu"


def is_ampere_or_newer():
    return _capability()[0] >= 8


def is_hopper_or_newer():
    return _capability()[0] >= 9


def is_hopper():
    return _capability()[0] == 9


def is_blackwell():
    return _capability()[0] in (10, 11)


def is_blackwell_ultra():
    return _capability() == (10, 3)


def is_rubin():
    return _capability() == (10, 7)


def is_sm12x():
    return _capability()[0] == 12


def _never():
    """There is no target of AMD's."""
    return False


is_hip_cdna = is_hip_cdna2 = is_hip_cdna3 = is_hip_cdna4 = is_hip_cdna3_or_newer = _never
is_hip_rdna = is_hip_rdna3 = is_hip_rdna4 = is_hip_rdna4m = is_hip_gfx1250 = _never


def get_hip_lds_size():
    return 65536


def supports_tma(byval_only=False):
    """Whether descriptors work: as memory accesses of their own kind only on some GPUs, as loads and stores everywhere else."""
    return not is_cuda() or is_hopper_or_newer()


def supports_ws():
    return is_interpreter() or is_hopper_or_newer()


def supports_clc():
    return _capability()[0] >= 10


def skip_if_unsupported_cluster_size(num_ctas):
    if is_cuda() and num_ctas > 1 and not is_hopper_or_newer():
        pytest.skip(f"the device has no clusters of {num_ctas} programs")


def tma_skip_msg(byval_only=False):
    return "needs a device with tensor descriptors"


requires_tma = pytest.mark.skipif(not supports_tma(), reason=tma_skip_msg())


def _fresh_knobs_impl(skipped_attr=None):
    """(begin, end): begin() gives the knobs as they are where no variable is set, but for the groups that are left out; end() puts back the
    variables, and the hooks and listeners that were set in between."""
    from . import knobs

    skipped = set(skipped_attr or ())
    groups = [group for name, group in vars(knobs).items() if isinstance(group, knobs.base_knobs) and name not in skipped]
    restored = contextlib.ExitStack()

    def begin():
        for group in groups:
            restored.enter_context(group.scope())
            for knob in group.knob_descriptors.values():
                for variable in knob.variables:
                    os.environ.pop(variable, None)
        knobs._core.knobs_changed()
        return knobs

    def end():
        restored.close()

    return begin, end


# Data -----------------------------------------------------------------------------------------------------------------------


def random_int(low, high, *, warmup_value=None, **kwargs):
    if is_compile_warmup():
        return low if warmup_value is None else warmup_value
    return int(torch.randint(low, high, size=(), **kwargs).item())


def random_float(*, warmup_value=0.5, **kwargs):
    if is_compile_warmup():
        return warmup_value
    return float(torch.rand((), **kwargs).item())


def numpy_random(shape, dtype_str, rs=None, low=None, high=None):
    """Random numbers of a type: integers over its whole range but never 0, floats around 0. The same at every call, unless another
    generator is given."""
    shape = (shape,) if isinstance(shape, int) else shape
    rs = np.random.RandomState(seed=17) if rs is None else rs
    if dtype_str in integral_dtypes:
        limits = np.iinfo(dtype_str)
        low = limits.min if low is None else max(low, limits.min)
        high = limits.max if high is None else min(high, limits.max)
        x = rs.randint(low, high, shape, dtype=dtype_str)
        x[x == 0] = 1
        return x
    if "float8" in dtype_str:
        return rs.randint(20, 40, shape, dtype=np.int8)
    if dtype_str in float_dtypes:
        return rs.normal(0, 1, shape).astype(dtype_str)
    if dtype_str == "bfloat16":  # as float32 whose lower half is zero
        return (rs.normal(0, 1, shape).astype(np.float32).view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
    if dtype_str in ("bool", "int1", "bool_"):
        return rs.normal(0, 1, shape) > 0.0
    raise RuntimeError(f"there are no random numbers of type {dtype_str}")


def to_triton(x, device, dst_type=None):
    """An array as a tensor that kernels take. dst_type: "bfloat16" for an array of float32, a float8 type for one of bytes."""
    name = x.dtype.name
    if name in uint_dtypes:
        return reinterpret(torch.tensor(x.astype(name[1:]), device=device), getattr(tl, name))
    tensor = torch.tensor(x, device=device)
    if dst_type and "float8" in dst_type:
        return reinterpret(tensor, getattr(tl, dst_type))
    return tensor.bfloat16() if name == "float32" and dst_type == "bfloat16" else tensor


def to_numpy(x):
    if isinstance(x, TensorWrapper):
        return x.base.cpu().numpy().astype(torch_dtype_name(x.dtype))
    if isinstance(x, torch.Tensor):
        return x.cpu().float().numpy() if x.dtype is torch.bfloat16 else x.cpu().numpy()
    raise ValueError(f"not a tensor of a kernel: {x}")


def unwrap_tensor(t):
    return t.base if isinstance(t, TensorWrapper) else t


def str_to_triton_dtype(x):
    return tl.str_to_ty(type_canonicalisation_dict[x], None)


def torch_dtype_name(dtype):
    if isinstance(dtype, tl.dtype):
        return dtype.name
    if isinstance(dtype, torch.dtype):
        return str(dtype).removeprefix("torch.")
    raise TypeError(f"neither a type of the language nor of torch: {type(dtype)}")


def default_alloc_fn(size, align, _):
    return torch.empty(size, dtype=torch.int8, device="cuda" if is_cuda() else "cpu")
