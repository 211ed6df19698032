"""What packages for Triton ask beside the language: the CUDA toolkit's programs, targets and drivers by vendor, knobs, the version, libraries that are
built at run time, and what Triton's own tests import."""

import numpy as np
import pytest

import nacre
import nacre.language as tl


@nacre.jit
def fill_kernel(x_ptr, VALUE: tl.constexpr):
    tl.store(x_ptr, VALUE)


# ---- programs and packages of NVIDIA's and AMD's


@pytest.fixture
def without_tools(monkeypatch, tmp_path):
    """No program of the CUDA toolkit is anywhere."""
    from nacre import _toolkit

    for name in ("PTXAS", "CUOBJDUMP", "NVDISASM"):
        for prefix in ("TRITON", "NACRE"):
            monkeypatch.delenv(f"{prefix}_{name}_PATH", raising=False)
    monkeypatch.setattr(_toolkit, "_places", lambda name: iter(()))
    monkeypatch.setattr(_toolkit, "_driver_version", lambda: None)
    return tmp_path


def program(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_tools_have_a_path_and_a_version(without_tools, monkeypatch):
    from nacre import _toolkit, knobs
    from nacre.backends.nvidia import compiler

    for name in ("ptxas", "ptxas_blackwell", "cuobjdump", "nvdisasm"):
        with pytest.raises(RuntimeError, match=f"Cannot find {name.partition('_')[0]}"):
            getattr(knobs.nvidia, name)
    assert knobs.nvidia.knobs["ptxas"] is None
    ptxas = program(without_tools / "ptxas", "echo 'Cuda compilation tools, release 12.8, V12.8.93'")
    monkeypatch.setenv("TRITON_PTXAS_PATH", ptxas)
    assert knobs.nvidia.ptxas.path == ptxas and knobs.nvidia.ptxas.version == knobs.nvidia.ptxas_blackwell.version == "12.8"
    compiler.get_ptxas_version.cache_clear()
    assert compiler.get_ptxas(90) == ptxas and "release 12.8" in compiler.get_ptxas_version()
    assert compiler.get_ptx_version_from_options(compiler.CUDAOptions(), 90) == 87
    compiler.get_ptxas_version.cache_clear()
    monkeypatch.delenv("TRITON_PTXAS_PATH")
    monkeypatch.setattr(_toolkit, "_driver_version", lambda: "12.9")
    assert knobs.nvidia.ptxas == "driver" and knobs.nvidia.ptxas.version == "12.9"


def test_the_compiler_for_nvidia_as_packages_ask():
    from nacre.backends.nvidia import compiler

    target = nacre.backends.compiler.GPUTarget("cuda", 90, 32)
    least = compiler.min_dot_size(target)
    found = {dtype.name: least(dtype, dtype) for dtype in (tl.int8, tl.float16, tl.float32, tl.float64)}
    assert found == {"int8": (1, 1, 32), "fp16": (1, 1, 16), "fp32": (1, 1, 8), "fp64": (1, 1, 4)}
    with pytest.raises(AssertionError, match="lhs and rhs bitwidth must be the same"):
        least(tl.int8, tl.float16)
    assert [compiler.ptx_get_version(text) for text in ("10.2", "11.4", "12.3", "12.6", "12.8", "13.0", "13.1")] == [65, 74, 83, 85, 87, 90, 91]
    with pytest.raises(RuntimeError, match="9.2"):
        compiler.ptx_get_version("9.2")
    assert compiler.sm_arch_from_capability(80) == "sm_80" and compiler.sm_arch_from_capability(100) == "sm_100a"
    backend = compiler.CUDABackend(target)
    assert backend.get_codegen_implementation(backend.parse_options({}))["min_dot_size"](tl.float16, tl.float16) == (1, 1, 16)


def test_amd_compiles_and_has_no_driver():
    from nacre.backends.amd import compiler, driver

    target = nacre.backends.compiler.GPUTarget("hip", "gfx942", 64)
    assert compiler.get_min_dot_size(target)(tl.float16, tl.float16) == (1, 1, 1) and not driver.HIPDriver.is_active()
    backend = nacre.compiler.make_backend(target)
    assert isinstance(backend, compiler.HIPBackend) and backend.binary_ext == "hsaco" and backend.parse_options({"num_warps": 2}).num_warps == 2
    for refuses in (driver.HIPDriver, driver.HIPUtils):
        with pytest.raises(RuntimeError, match="not launched on them"):
            refuses()


def test_knobs_of_amd_are_taken(monkeypatch):
    from nacre import knobs

    monkeypatch.delenv("TRITON_HIP_USE_ASYNC_COPY", raising=False)
    assert knobs.amd.use_buffer_ops is True and knobs.amd.use_async_copy is None
    with knobs.amd.scope():
        knobs.amd.use_async_copy = False
        assert knobs.amd.use_async_copy is False and knobs.getenv("TRITON_HIP_USE_ASYNC_COPY") == "0"
    assert knobs.amd.use_async_copy is None and knobs.getenv("TRITON_HIP_USE_ASYNC_COPY") is None
    with pytest.raises(AttributeError, match="is use_async_copy meant"):
        knobs.amd.use_asynch_copy = True


def test_knobs_that_stay_in_the_process(monkeypatch):
    import os

    from nacre import knobs

    monkeypatch.setattr(knobs, "propagate_env", False)
    for variable in ("TRITON_DEFAULT_FP_FUSION", "NACRE_DEFAULT_FP_FUSION"):
        monkeypatch.delenv(variable, raising=False)
    fused = "tile.enable_fp_fusion = true"
    mock = nacre.MockTensor(np.dtype("float32"))
    with knobs.language.scope():
        knobs.language.default_fp_fusion = False
        assert knobs.language.default_fp_fusion is False and "TRITON_DEFAULT_FP_FUSION" not in os.environ
        assert fused not in fill_kernel.warmup(mock, VALUE=5, grid=(1,)).asm["tile"]
    assert knobs.language.default_fp_fusion is True
    assert fused in fill_kernel.warmup(mock, VALUE=5, grid=(1,)).asm["tile"]


def test_groups_of_ones_own(monkeypatch):
    from nacre import knobs

    class mine(knobs.base_knobs):
        text = knobs.env_str("NAMES_TEXT", "nacre")
        switch = knobs.env_bool("NAMES_SWITCH", True)
        maybe = knobs.env_opt_bool("NAMES_MAYBE")
        number = knobs.env_int("NAMES_NUMBER", 3)

    for variable in ("NAMES_TEXT", "NAMES_SWITCH", "NAMES_MAYBE", "NAMES_NUMBER"):
        monkeypatch.delenv(variable, raising=False)
    group = mine()
    assert group.knobs == {"text": "nacre", "switch": True, "maybe": None, "number": 3}
    with group.scope():
        group.switch, group.number = False, 7
        assert group.copy().knobs == {"text": "nacre", "switch": False, "maybe": None, "number": 7} and knobs.getenv("NAMES_NUMBER") == "7"
        group.number = knobs.env
        monkeypatch.setenv("NAMES_NUMBER", "many")
        with pytest.raises(RuntimeError, match="NAMES_NUMBER=many: expected int"):
            group.number  # noqa: B018


def test_the_version_that_packages_see(monkeypatch):
    import importlib.metadata
    import subprocess
    import sys

    from nacre import _distribution, _version, knobs

    monkeypatch.delenv("NACRE_TRITON_VERSION", raising=False)
    assert knobs.language.triton_version == _version.language_version and nacre.__version__ == f"{_version.language_version}+nacre.{_version.version}"
    with knobs.language.scope():
        knobs.language.triton_version = "3.5.1"
        assert nacre.__version__ == f"3.5.1+nacre.{_version.version}"
        assert isinstance(_distribution.AliasDistribution(), importlib.metadata.Distribution)
        assert _distribution.AliasDistribution().version == "3.5.1"
        with pytest.raises(ValueError, match="NACRE_TRITON_VERSION=new: expected a version"):
            knobs.language.triton_version = "new"
    assert nacre.__version__.startswith(_version.language_version)
    monkeypatch.setenv("NACRE_TRITON_VERSION", "3.4.0")
    text = "import nacre; nacre.activate(); import triton; print(triton.__version__)"
    assert subprocess.check_output([sys.executable, "-c", text], text=True).startswith("3.4.0+nacre.")


def test_machine_code_of_gpus_as_text(without_tools, monkeypatch):
    from nacre.compiler.compiler import _restore_asm

    cubin = b"\x7fELF" + bytes(14) + (190).to_bytes(2, "little") + bytes(44)
    asm = _restore_asm({"cubin": cubin}, "CUDA target", {}, "cubin")
    with pytest.raises(RuntimeError, match="needs cuobjdump or nvdisasm of the CUDA toolkit, and neither is there"):
        asm["sass"]  # noqa: B018
    monkeypatch.setenv("TRITON_NVDISASM_PATH", program(without_tools / "nvdisasm", 'echo "nvdisasm $1"; wc -c < "$2"'))
    assert asm["sass"].split() == ["nvdisasm", "-c", "64"] and "sass" in asm
    monkeypatch.setenv("TRITON_CUOBJDUMP_PATH", program(without_tools / "cuobjdump", 'echo "cuobjdump $*" | head -c 16'))
    assert nacre.tools.disasm.get_sass(cubin + b"\0") == "cuobjdump -sass "
    monkeypatch.setenv("TRITON_CUOBJDUMP_PATH", program(without_tools / "broken", 'echo "no such kernel" >&2; exit 1'))
    monkeypatch.setenv("TRITON_NVDISASM_PATH", program(without_tools / "broken_too", 'echo "not a cubin" >&2; exit 1'))
    with pytest.raises(RuntimeError, match="broken_too cannot show this cubin: not a cubin"):
        nacre.tools.disasm.get_sass(cubin + b"\0\0")
    with pytest.raises(KeyError, match="no such stage"):
        fill_kernel.warmup(np.zeros(1, np.float32), VALUE=3, grid=(1,)).asm["sass"]


def test_signatures_with_descriptors():
    """As Triton 3.9 has them."""
    from nacre.backends.driver import expand_signature

    types = ["i32", "tensordesc<fp16[64,32]>", ("*fp32", "tensordesc<i8[16]>")]
    assert expand_signature(types, [{}], "nvTmaDesc") == [
        "i32", "nvTmaDesc", "i32", "i32", "i64", "i64", ("*fp32", "nvTmaDesc", "i32", "i64")]  # fmt: skip
    assert expand_signature(types[1:2], [], "nvTmaDesc") == ["*fp16", "i64", "i64", "i64", "i64", "i1", "i1", "i32", "i32", "i64", "i64"]


FAKE_DRIVER = """
#include <stdlib.h>
#include <string.h>
static char *current; static char contexts[2];
int cuInit(unsigned flags) { return 0; }
int cuGetErrorString(int result, const char **text) { *text = "no such device"; return 0; }
int cuDeviceGet(int *device, int index) { *device = index; return index < 2 ? 0 : 101; }
int cuDevicePrimaryCtxRetain(void **context, int device) { *context = contexts + device; return 0; }
int cuCtxSetCurrent(void *context) { current = context; return 0; }
int cuCtxGetCurrent(void **context) { *context = current; return 0; }
int cuCtxSynchronize(void) { return current ? 0 : 201; }
int cuMemAlloc_v2(unsigned long *address, size_t size) { *address = (unsigned long)malloc(size); return current ? 0 : 201; }
int cuMemFree_v2(unsigned long address) { free((void *)address); return 0; }
int cuMemcpyHtoD_v2(unsigned long to, const void *from, size_t size) { memcpy((void *)to, from, size); return 0; }
int cuMemcpyDtoH_v2(void *to, unsigned long from, size_t size) { memcpy(to, (void *)from, size); return 0; }
int currentNumber(void) { return current ? (int)(current - contexts) : -1; }
"""


@pytest.fixture
def fake_driver(monkeypatch):
    """NVIDIA's driver library with two devices whose memory is the host's."""
    import ctypes

    from nacre.backends.nvidia import driver_library
    from nacre.runtime.build import compile_so_from_src

    path = compile_so_from_src(FAKE_DRIVER, "fake_driver")
    monkeypatch.setenv("NACRE_CUDA_DRIVER", path)
    for function in (driver_library._library, driver_library._context):
        function.cache_clear()
    yield ctypes.CDLL(path)
    for function in (driver_library._library, driver_library._context):
        function.cache_clear()


def test_devices_and_memory_without_torch(fake_driver, monkeypatch):
    from nacre._C.libtriton import nvidia
    from nacre.backends.nvidia.driver import CudaDriver

    monkeypatch.delitem(__import__("sys").modules, "torch", raising=False)
    address = nvidia.device_malloc(8)
    assert fake_driver.currentNumber() == 0
    nvidia.copy_host_to_device(address, b"\1\2\3\4\5\6\7\0")
    nvidia.synchronize()
    assert nvidia.copy_device_to_host(address, 8) == b"\1\2\3\4\5\6\7\0"
    nvidia.device_free(address)
    CudaDriver().set_current_device(1)
    assert fake_driver.currentNumber() == 1
    with pytest.raises(RuntimeError, match=r"cuDeviceGet of NVIDIA's driver: no such device \(101\)"):
        CudaDriver().set_current_device(7)


# ---- building libraries


MODULE = """
#include <Python.h>
static PyObject *answer(PyObject *self, PyObject *args) { return PyLong_FromLong(ANSWER); }
static PyMethodDef methods[] = {{"answer", answer, METH_NOARGS, ""}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "NAME", NULL, -1, methods};
PyMODINIT_FUNC PyInit_NAME(void) { return PyModule_Create(&module); }
"""


def test_libraries_are_built_and_kept(tmp_path, monkeypatch):
    from nacre import knobs
    from nacre.runtime import build

    calls = []
    real = build._build
    monkeypatch.setattr(build, "_build", lambda *args, **options: calls.append(args[0]) or real(*args, **options))
    with knobs.cache.scope():
        knobs.cache.dir = str(tmp_path / "cache")
        source = MODULE.replace("NAME", "names_answer")
        for _ in range(2):
            assert build.compile_module_from_src(source, "names_answer", ccflags=["-DANSWER=42"]).answer() == 42
        assert calls == ["names_answer"]
        file = tmp_path / "names_answer.c"
        file.write_text(source)
        assert build.compile_module_from_file(str(file), "names_answer", ccflags=["-DANSWER=43"]).answer() == 43
        assert len(calls) == 2 and build.compile_so_from_file(str(file), "names_answer", ccflags=["-DANSWER=43"]).startswith(knobs.cache.dir)
        source = MODULE.replace("NAME", "names_other")
        path = build.compile_so_from_src(source, "names_other", ccflags=["-DANSWER=44"])
        with open(path, "wb"):
            pass
        with pytest.warns(UserWarning, match="names_other is built anew"):
            assert build.compile_module_from_src(source, "names_other", ccflags=["-DANSWER=44"]).answer() == 44
    with pytest.raises(ValueError, match="Unrecognized file extension"):
        build.compile_so_from_file(__file__, "names_answer")
    build._find_compiler.cache_clear()
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(RuntimeError, match="Failed to find C compiler"):
        build._find_compiler("c")
    build._find_compiler.cache_clear()


# ---- more of what Triton's tests import


@nacre.jit
def checked_kernel(x_ptr, B: tl.constexpr):
    # CHECK: tile.load
    # CHECK: tile.store
    tl.store(x_ptr + tl.arange(0, B), tl.load(x_ptr + tl.arange(0, B)) + 1)


@nacre.jit
def wrongly_checked_kernel(x_ptr, B: tl.constexpr):
    # CHECK: tile.dot
    tl.store(x_ptr + tl.arange(0, B), 1.0)


def test_ir_is_compared_with_lines_of_the_source():
    from nacre import _filecheck

    try:
        _filecheck._program()
    except RuntimeError as error:
        pytest.skip(str(error))
    arguments = (nacre.MockTensor(np.dtype("float32")), 16)
    _filecheck.run_filecheck_test(checked_kernel, args=arguments)
    with pytest.raises(ValueError, match="tile.dot"):
        _filecheck.run_filecheck_test(wrongly_checked_kernel, args=arguments)


def test_launches_that_compile_alone():
    torch = pytest.importorskip("torch")
    from nacre import _internal_testing as testing
    from nacre._compile_warmup import compile_warmup_only

    compiled = []
    with compile_warmup_only():
        assert testing.is_compile_warmup() and testing.random_int(3, 9) == 3 and testing.random_float(warmup_value=0.25) == 0.25
        x = torch.zeros(64)
        compiled.append(fill_kernel[(1,)](x, VALUE=11))
        compiled.append(fill_kernel[(1,)](x[1:], VALUE=11))
        torch.testing.assert_close(x, torch.ones(64))
    assert not testing.is_compile_warmup()
    assert [kernel.src.attrs for kernel in compiled] == [{(0,): [["tt.divisibility", 16]]}, {}]
    x = torch.zeros(64)
    fill_kernel[(1,)](x, VALUE=11)
    assert x[0] == 11
