"""Names that scripts, packages and test suites written for Triton import, beyond the documented ones, and what they do. What needs a
GPU is not there."""

import importlib
import warnings
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import nacre
import nacre.language as tl

NAMES = {
    "nacre": "AsyncCompileMode FutureKernel",
    "nacre._utils": "BITWIDTH_DICT TRITON_MAX_TENSOR_NUMEL apply_with_path canonicalize_dtype canonicalize_ptr_dtype find_paths_if "
    "get_iterable_path get_primitive_bitwidth is_iterable is_namedtuple is_power_of_two prewarm_deprecation_warnings set_iterable_path "
    "type_canonicalisation_dict validate_block_shape warn_once",
    "nacre.backends.compiler": "BaseBackend GPUTarget Language",
    "nacre.backends.driver": "Benchmarker DriverBase",
    "nacre.compiler": "LazyDict get_cache_key max_shared_mem",
    "nacre.compiler.compiler": "BaseBackend GPUTarget Language LazyDict get_cache_key get_cache_manager get_dump_manager get_override_manager "
    "max_shared_mem triton_key",
    "nacre.knobs": "AutotuneListener CompilationListener InitHandleHook JITHook JITHookCompileInfo LaunchHook NvidiaTool PipelineStagesHook "
    "autotuning_knobs base_knobs build_knobs cache_knobs compilation_knobs getenv getenv_bool language_knobs nvidia_knobs proton_knobs "
    "runtime_knobs setenv",
    "nacre.language": "semantic",
    "nacre.language.core": "JITCallable atomic_poll builtin builtin_max builtin_min check_bit_width dot_scaled get_primitive_bitwidth is_builtin "
    "is_negative_zero validate_block_shape warn_once",
    "nacre.language.semantic": "IncompatibleTypeErrorImpl TensorTy TritonSemantic",
    "nacre.language.extra.cuda.gdc": "gdc_launch_dependents gdc_wait",
    "nacre.language.extra.cuda.utils": "globaltimer num_threads num_warps smid",
    "nacre.language.extra.cuda.libdevice": "abs ceil cos div_rn erf exp exp2 floor fma log log2 rsqrt sin sqrt sqrt_rn tanh",
    "nacre.language.extra.hip": "libdevice num_threads num_warps smid utils",
    "nacre.language.extra.hip.libdevice": "exp tanh rsqrt",
    "nacre.language.extra.hip.utils": "num_threads num_warps smid",
    "nacre.runtime": "RemoteCacheBackend",
    "nacre.runtime._allocation": "Allocator Buffer NullAllocator has_profile_allocator set_allocator set_profile_allocator",
    "nacre.runtime._async_compile": "AsyncCompileMode FutureKernel active_mode",
    "nacre.runtime.autotuner": "AutotunerError get_cache_manager triton_key",
    "nacre.runtime.cache": "get_cache_key make_so_cache_key",
    "nacre.runtime.driver": "DriverBase",
    "nacre.runtime.jit": "BaseBackend BoundConstexprFunction GLUON_MODULE TRITON_MODULE convert_to_tuple_if_list find_paths_if get_cache_key "
    "get_def_col_number get_def_line_number get_full_name get_iterable_path is_namedtuple type_canonicalisation_dict",
}


@pytest.mark.parametrize("module", NAMES)
def test_the_names_are_there(module):
    found = importlib.import_module(module)
    assert [name for name in NAMES[module].split() if not hasattr(found, name)] == []


def test_what_needs_a_gpu_is_not_there():
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("nacre.experimental.gluon")
    with pytest.raises(AttributeError, match="no attribute 'convert_custom_float8'"):
        tl.extra.cuda.convert_custom_float8  # noqa: B018


# ---- helpers


def test_nested_arguments():
    from nacre import _utils

    nested = (1, [2, (3, 4)], 5)
    assert _utils.find_paths_if(nested, lambda path, leaf: leaf > 2) == [(1, 1, 0), (1, 1, 1), (2,)]
    assert _utils.get_iterable_path(nested, (1, 1, 1)) == 4
    _utils.set_iterable_path(nested, (1, 0), 7)
    assert nested[1][0] == 7
    assert _utils.is_namedtuple(namedtuple("P", "a")) and not _utils.is_namedtuple(tuple)


def test_names_of_types():
    from nacre import _utils

    assert _utils.canonicalize_dtype(tl.float32) == "fp32" and _utils.canonicalize_dtype("torch.bfloat16") == "bf16"
    assert _utils.canonicalize_ptr_dtype(np.dtype("int8"), True) == "*ki8"
    for name in tl.dtype.SINT_TYPES + tl.dtype.FP_TYPES + ["uint8", "uint16", "uint32", "uint64", "int1"]:
        assert _utils.get_primitive_bitwidth(name) == tl.str_to_ty(_utils.type_canonicalisation_dict[name]).primitive_bitwidth, name


def test_shapes_of_blocks():
    from nacre._utils import validate_block_shape

    assert validate_block_shape([4, 8]) == 32
    with pytest.raises(ValueError, match="Shape element 1 must be a power of 2"):
        validate_block_shape([4, 6])
    with pytest.raises(ValueError, match="exceeds triton maximum tensor numel"):
        validate_block_shape([1 << 20, 2])


def test_a_warning_is_given_once():
    from nacre._utils import warn_once

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            warn_once("said in a test")
    assert len(caught) == 1


def test_allocators():
    from nacre.runtime import _allocation

    with pytest.raises(RuntimeError, match="set_allocator"):
        _allocation.NullAllocator()(16, 16, None)
    assert not _allocation.has_profile_allocator()
    _allocation.set_profile_allocator(lambda size, alignment, stream: size)
    try:
        assert _allocation.has_profile_allocator() and _allocation._profile_allocator(8, 16, None) == 8
    finally:
        _allocation.set_profile_allocator(None)
    assert not _allocation.has_profile_allocator()
    before = _allocation._allocator.get()
    nacre.set_allocator(len)
    assert _allocation._allocator.get() is len
    nacre.set_allocator(before)


def test_variables_are_set_through_knobs(monkeypatch):
    from nacre import knobs

    monkeypatch.delenv("TRITON_PRINT_AUTOTUNING", raising=False)
    knobs.setenv("TRITON_PRINT_AUTOTUNING", "1")
    assert knobs.autotuning.print is True and knobs.getenv("TRITON_PRINT_AUTOTUNING") == "1" and knobs.getenv_bool("TRITON_PRINT_AUTOTUNING")
    knobs.setenv("TRITON_PRINT_AUTOTUNING", None)
    assert knobs.autotuning.print is False
    assert knobs.cache.get_triton_dir("x").endswith("x") and isinstance(knobs.runtime, knobs.runtime_knobs)


def test_places_of_definitions():
    from nacre.runtime import jit

    assert jit.get_def_line_number(["@decorated\n", "def f():\n"], 10) == 11
    assert jit.get_def_col_number("    @decorated\n    def f(): pass\n") == 4
    assert jit.convert_to_tuple_if_list([1, [2, (3, [4])]]) == (1, (2, (3, (4,))))
    assert jit.get_full_name(test_places_of_definitions).endswith(".test_places_of_definitions")


def test_attributes_of_types_and_tensors():
    block = tl.block_type(tl.float16, [4, 8])
    assert block.nbytes == 64 and block.with_element_ty(tl.int32) == tl.block_type(tl.int32, [4, 8])
    assert tl.float32.with_element_ty(tl.int8) == tl.int8
    assert fill_kernel.parse().body[0].name == "fill_kernel" and not fill_kernel.is_gluon()
    wrapped = nacre.TensorWrapper(np.zeros(4, np.int8), tl.float8e5).new_empty((2, 3))
    assert wrapped.shape == (2, 3) and wrapped.dtype == tl.float8e5


# ---- functions of the language


@tl.core.builtin
def halved(x, _semantic=None):
    return tl.exp2(tl.log2(x, _semantic=_semantic) - 1, _semantic=_semantic)


@nacre.jit
def builtin_kernel(x_ptr):
    offsets = tl.arange(0, 4)
    tl.store(x_ptr + offsets, halved(tl.load(x_ptr + offsets)))


@nacre.jit
def places_kernel(x_ptr):
    tl.extra.cuda.gdc.gdc_wait()
    warps = tl.extra.cuda.utils.num_warps() + tl.extra.hip.num_warps() + tl.extra.hip.utils.num_warps()
    tl.store(x_ptr, warps - 3 * tl.extra.cuda.num_warps() + tl.extra.hip.libdevice.tanh(0.0) + 1)


@pytest.fixture(params=["compiled", "interpreted"])
def engine(request):
    nacre.runtime.driver.active.set_interpret_mode(request.param == "interpreted")
    yield request.param
    nacre.runtime.driver.active.set_interpret_mode(False)


def test_a_builtin_of_the_users(engine):
    assert tl.core.is_builtin(halved) and tl.core.is_builtin(tl.exp) and not tl.core.is_builtin(len)
    x = np.array([2, 4, 8, 16], np.float32)
    builtin_kernel[(1,)](x)
    np.testing.assert_allclose(x, [1, 2, 4, 8])


def test_modules_of_vendors(engine):
    x = np.zeros(1, np.float32)
    places_kernel[(1,)](x)
    assert x[0] == 1


def test_the_semantic_is_the_builtins(engine):
    semantic = tl.semantic.TritonSemantic()
    assert semantic.add is tl.add and semantic.tensor is tl.tensor
    assert "invalid operands of type" in str(tl.semantic.IncompatibleTypeErrorImpl(tl.float32, tl.int32))


# ---- compiling in the background


@nacre.jit
def fill_kernel(x_ptr, VALUE: tl.constexpr):
    tl.store(x_ptr, VALUE)


@nacre.jit
def wrong_kernel(x_ptr, VALUE: tl.constexpr):
    tl.store(x_ptr, unknown)  # noqa: F821


def test_kernels_are_compiled_in_the_background():
    x = np.zeros(1, np.float32)
    with ThreadPoolExecutor(2) as executor, nacre.AsyncCompileMode(executor):
        kernels = [fill_kernel.warmup(x, VALUE=value) for value in (3, 4, 3)]
        assert all(isinstance(kernel, nacre.FutureKernel) for kernel in kernels)
        assert kernels[0] is kernels[2] and kernels[0] is not kernels[1]
        assert "tile." in kernels[0].asm["tile"]
        with pytest.raises(RuntimeError, match="active"), nacre.AsyncCompileMode(executor):
            pass
    kernels[1].result()[(1,)](x, 4)
    assert x[0] == 4
    assert not isinstance(fill_kernel.warmup(x, VALUE=5), nacre.FutureKernel)


def test_an_error_in_the_background_is_raised_at_the_end():
    x = np.zeros(1, np.float32)
    with ThreadPoolExecutor(1) as executor:
        with pytest.raises(nacre.CompilationError, match="unknown"), nacre.AsyncCompileMode(executor):
            wrong_kernel.warmup(x, VALUE=1)
        with nacre.AsyncCompileMode(executor, ignore_errors=True):
            future = wrong_kernel.warmup(x, VALUE=2)
    assert future.kernel is None


# ---- what Triton's tests import


def test_the_helpers_of_tritons_tests():
    torch = pytest.importorskip("torch")
    from nacre import _internal_testing as testing

    assert testing.get_current_target().backend == "cpu" and not testing.is_cuda() and not testing.is_hip_cdna() and not testing.is_xpu()
    assert testing.supports_tma() and not testing.supports_clc()
    testing.skip_if_unsupported_cluster_size(2)
    for name in [*testing.dtypes_with_bfloat16, "bool"]:
        x = testing.numpy_random(64, name)
        assert (x == testing.numpy_random((64,), name)).all()
        tensor = testing.to_triton(x, "cpu", dst_type=name)
        np.testing.assert_array_equal(testing.to_numpy(tensor), x)
        if name in testing.integral_dtypes:
            assert (x != 0).all() and testing.str_to_triton_dtype(name) == getattr(tl, name)
    eighth = testing.to_triton(testing.numpy_random(8, "float8e5"), "cpu", "float8e5")
    assert eighth.dtype == tl.float8e5 and testing.unwrap_tensor(eighth).dtype == torch.int8
    assert testing.torch_dtype_name(torch.float16) == "float16" == testing.torch_dtypes[-4]
    assert testing.default_alloc_fn(16, 16, None).numel() == 16 and 1 <= testing.random_int(1, 9) < 9


@nacre.jit
def counting(x, START, B: tl.constexpr = 16):
    tl.store(x + tl.arange(0, B), tl.arange(0, B) + START)


def launched(kernel, **options):
    x = np.zeros(16, np.int32)
    kernel[(1,)](x, 3, **options)
    return x.tolist()


def test_options_of_other_targets_are_taken():
    for options in ({"arch": None}, {"waves_per_eu": 2, "kpack": 2, "matrix_instr_nonkdim": 16}, {"ptx_options": "-O1"}):
        assert launched(counting, **options) == list(range(3, 19))
    with pytest.raises(KeyError, match="no launch option named 'wave_per_eu'"):
        launched(counting, wave_per_eu=2)


def test_parameters_without_a_default():
    import inspect

    assert [param.default for param in counting.params] == [inspect.Parameter.empty, inspect.Parameter.empty, 16]


def test_a_kernel_takes_over_the_text_and_place_of_another():
    @nacre.jit
    def copy(x, START, B: tl.constexpr = 16):
        pass

    copy.raw_src = ["@nacre.jit\n", "def copy(x, START, B: tl.constexpr = 16):\n", "    tl.store(x + tl.arange(0, B), tl.arange(0, B) - START)\n"]
    copy.starting_line_number, copy.def_file_col_number, copy.file_name = 7, 4, "elsewhere.py"
    assert (copy.def_file_line_number, copy.starting_line_number, copy.def_file_col_number, copy.file_name) == (7, 7, 4, "elsewhere.py")
    assert launched(copy) == list(range(-3, 13))
    with pytest.raises(ValueError, match="the lines hold no `def`"):
        copy.raw_src = ["x = 1\n"]


def test_a_function_whose_signature_stands_for_a_text():
    import inspect

    def empty():
        pass

    empty.__signature__ = inspect.signature(counting.fn)
    empty.__name__ = "counting"
    kernel = nacre.JITFunction(empty)
    kernel._unsafe_update_src(counting.src)
    assert kernel.arg_names == ["x", "START", "B"] and [param.is_constexpr for param in kernel.params] == [False, False, True]
    assert launched(kernel) == list(range(3, 19))
