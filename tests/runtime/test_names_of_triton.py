"""Names that scripts, packages and test suites written for Triton import, beyond the documented ones, and what they do. What needs a
GPU is not there."""

import importlib
import warnings
from collections import namedtuple
from concurrent.futures import Future, ThreadPoolExecutor

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
    "nacre.runtime.autotuner": "AutotunerError builtins get_cache_invalidating_env_vars get_cache_manager hashlib json triton_key",
    "nacre.runtime.cache": "get_cache_key make_so_cache_key",
    "nacre.runtime.driver": "DriverBase",
    "nacre.runtime.jit": "BaseBackend BoundConstexprFunction GLUON_MODULE TRITON_MODULE compute_cache_key serialize_specialization_data convert_to_tuple_if_list find_paths_if get_cache_key "
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


class Waiting:
    """An executor that runs nothing until it is told to."""

    def __init__(self):
        self.tasks = []

    def submit(self, function):
        future = Future()
        self.tasks.append(lambda: future.set_result(function()))
        return future


def test_caches_show_what_is_being_compiled():
    @nacre.jit
    def kernel(x_ptr, VALUE: tl.constexpr):
        tl.store(x_ptr, VALUE)

    x, executor = np.zeros(1, np.float32), Waiting()
    with nacre.AsyncCompileMode(executor):
        for value in (1, 2, 1):
            kernel.warmup(x, VALUE=value)
        assert len(kernel.device_caches[0][0]) == len(executor.tasks) == 2
        for task in executor.tasks:
            task()
            assert len(kernel.device_caches[0][0]) == 2
    assert len(kernel.device_caches[0][0]) == 2


def test_an_error_in_the_block_does_not_wait_for_compiles():
    with pytest.raises(ZeroDivisionError), nacre.AsyncCompileMode(Waiting()):
        fill_kernel.warmup(np.zeros(1, np.float32), VALUE=11)
        1 / 0


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


def test_fresh_knobs_of_tritons_tests(monkeypatch):
    pytest.importorskip("torch")
    from nacre import _internal_testing as testing

    monkeypatch.setenv("TRITON_KERNEL_DUMP", "1")
    begin, end = testing._fresh_knobs_impl(skipped_attr={"nvidia"})
    knobs = begin()
    assert not knobs.compilation.dump_ir
    knobs.compilation.listener, knobs.cache.dir = print, "elsewhere"
    end()
    assert nacre.knobs.compilation.listener is None and nacre.knobs.compilation.dump_ir and nacre.knobs.cache.dir != "elsewhere"


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


def test_a_kernel_takes_over_the_place_of_another():
    @nacre.jit
    def copy(x, START, B: tl.constexpr = 16):
        tl.store(x + tl.arange(0, B), tl.arange(0, B) - START)

    assert copy.raw_src[0].startswith("def copy(")
    lines = ["@nacre.jit\n", "def original(x, START, MORE, B: tl.constexpr = 16):\n", "    pass\n"]
    copy.raw_src = lines
    copy.starting_line_number, copy.def_file_col_number, copy.file_name = 7, 4, "elsewhere.py"
    assert (copy.def_file_line_number, copy.starting_line_number, copy.def_file_col_number, copy.file_name) == (7, 7, 4, "elsewhere.py")
    assert copy.raw_src == lines and copy.src.startswith("def copy(") and launched(copy) == list(range(-3, 13))


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


def test_what_is_told_of_the_target_on_the_host():
    info = tl.target_info
    assert info.current_target() == nacre.runtime.driver.active.get_current_target()
    for name in ("is_cuda", "is_hip", "is_hip_cdna3", "is_hip_cdna4", "is_hip_gfx1250"):
        assert getattr(info, name)() is False, name
    assert info.cuda_capability_geq(9) is False and info.cuda_capability_geq(tl.constexpr(8), minor=6) is False

    class Hopper(type(nacre.runtime.driver.active)):
        def get_current_target(self):
            return nacre.backends.compiler.GPUTarget("cuda", 90, 32)

    nacre.runtime.driver.set_active(Hopper())
    try:
        assert info.is_cuda() and info.cuda_capability_geq(9, 0) and info.cuda_capability_geq(tl.constexpr(8), minor=6)
        assert not info.cuda_capability_geq(10)
    finally:
        nacre.runtime.driver.reset_active()


@nacre.constexpr_function
def version_of_the_target():
    target = tl.target_info.current_target()
    return 3 if target.backend == "hip" else 7


@nacre.jit
def version_kernel(x_ptr):
    tl.store(x_ptr, version_of_the_target())


def test_a_constexpr_function_asks_for_the_target():
    x = np.zeros(1, np.int32)
    version_kernel[(1,)](x)
    assert x[0] == version_of_the_target() == 7


def test_what_names_a_compile(monkeypatch):
    from nacre.runtime import jit
    from nacre.runtime.cache import get_cache_invalidating_env_vars

    names = {}
    first = jit.compute_cache_key(names, [("*fp32", "D"), ("constexpr", fill_kernel)], {"num_warps": 4})
    assert fill_kernel.cache_key in first and list(names.values()) == [first]
    assert jit.compute_cache_key(names, [("*fp32", "D"), ("constexpr", wrong_kernel)], {"num_warps": 4}) != first
    for variable in ("TRITON_DEBUG", "TRITON_F32_DEFAULT"):
        monkeypatch.delenv(variable, raising=False)
    before = get_cache_invalidating_env_vars()
    monkeypatch.setenv("TRITON_F32_DEFAULT", "ieee")
    monkeypatch.setenv("TRITON_PRINT_AUTOTUNING", "1")
    assert get_cache_invalidating_env_vars() == {**before, "TRITON_F32_DEFAULT": "ieee"}


def test_a_specialization_as_text_is_preloaded():
    from nacre.runtime.jit import serialize_specialization_data

    backend = nacre.compiler.make_backend(nacre.runtime.driver.active.get_current_target())
    text = serialize_specialization_data(f"{__name__}.fill_kernel", {"x_ptr": "*fp32", "VALUE": "constexpr"}, {(1,): 9}, {},
                                         SimpleOptions(nacre._core.default_options()), "key", backend.target)  # fmt: skip
    assert fill_kernel.preload(text).src.constants == {(1,): 9}


class SimpleOptions:
    def __init__(self, options):
        self.__dict__.update(options)


def test_a_run_in_place_of_the_autotuners(monkeypatch):
    """As packages do that tune in their own way: theirs is called at every launch."""
    calls = []

    def run(self, *args, **kwargs):
        calls.append(kwargs)
        return self.fn.run(*args, **kwargs, **self.configs[1].all_kwargs())

    monkeypatch.setattr(nacre.runtime.autotuner.Autotuner, "run", run)
    tuned = nacre.autotune([nacre.Config({"VALUE": 1}), nacre.Config({"VALUE": 2})], key=[])(fill_kernel)
    x = np.zeros(1, np.float32)
    for _ in range(2):
        tuned[(1,)](x)
    assert x[0] == 2 and len(calls) == 2


def test_times_are_summarized():
    from nacre.testing import _summarize_statistics

    assert _summarize_statistics([3.0, 1.0, 2.0], None, "median") == 2 and _summarize_statistics([3.0, 1.0, 2.0], [0.0, 1.0], "mean") == [1, 3]


def test_folders_of_the_drivers_library(tmp_path, monkeypatch):
    from nacre.backends.nvidia import driver

    (tmp_path / "libcuda.so.1").touch()
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    driver.libcuda_dirs.cache_clear()
    try:
        assert str(tmp_path) in driver.libcuda_dirs() and str(tmp_path) in driver.library_dirs()
        monkeypatch.delenv("LD_LIBRARY_PATH")
        monkeypatch.setattr(driver, "_libraries_of_the_linker", lambda name: [])
        driver.libcuda_dirs.cache_clear()
        with pytest.raises(AssertionError, match="libcuda.so.1 is not there"):
            driver.libcuda_dirs()
    finally:
        driver.libcuda_dirs.cache_clear()
    assert all(folder.endswith("include") for folder in driver.include_dirs)
