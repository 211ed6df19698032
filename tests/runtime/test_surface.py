"""The host package, name by name: every name that code written for Triton asks of it is there, and does what it says."""

import importlib
import pickle

import numpy as np
import pytest

import nacre
import nacre.language as tl

NAMES = {
    "nacre": "jit JITFunction KernelInterface constexpr_function aggregate must_use_result reinterpret TensorWrapper MockTensor "
    "set_allocator autotune heuristics Config cdiv next_power_of_2 compile knobs __version__ TritonError CompilationError "
    "OutOfResources InterpreterError language runtime testing tools compiler backends",
    "nacre.compiler": "ASTSource IRSource make_backend CompiledKernel errors compile",
    "nacre.compiler.errors": "CompilationError CompileTimeAssertionFailure UnsupportedLanguageConstruct",
    "nacre.backends.compiler": "GPUTarget BaseBackend",
    "nacre.backends.driver": "DriverBase",
    "nacre.backends.triton_shared.driver": "CPUDriver",
    "nacre.runtime": "driver cache Autotuner Heuristics Config errors JITFunction KernelInterface MockTensor TensorWrapper autotune "
    "heuristics reinterpret OutOfResources InterpreterError",
    "nacre.runtime.errors": "OutOfResources InterpreterError PTXASError AutotunerError",
    "nacre.runtime.cache": "CacheManager FileCacheManager RemoteCacheManager RemoteCacheBackend get_cache_manager get_override_manager get_dump_manager",
    "nacre.runtime.jit": "JITFunction KernelInterface KernelParam MockTensor TensorWrapper reinterpret jit",
    "nacre.knobs": "runtime compilation cache autotuning language nvidia build proton refresh_knobs HookChain CompileTimes",
    "nacre.runtime.driver.driver": "active default set_active reset_active",
    "nacre.runtime.driver.driver.active": "get_current_target get_current_device set_current_device get_current_stream "
    "get_active_torch_device get_device_capability get_device_interface get_benchmarker get_empty_cache_for_benchmark clear_cache "
    "utils set_interpret_mode",
    "nacre.knobs.runtime": "launch_enter_hook launch_exit_hook kernel_load_start_hook kernel_load_end_hook kernel_unload_hook "
    "jit_cache_hook jit_post_compile_hook add_stages_inspection_hook scope copy reset knobs",
    "nacre.knobs.compilation": "listener",
    "nacre.knobs.autotuning": "listener",
}


def find(path):
    parts = path.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for name in parts[length:]:
            found = getattr(found, name)
        return found
    raise ModuleNotFoundError(path)


@pytest.mark.parametrize("place, name", [(place, name) for place, names in NAMES.items() for name in names.split()])
def test_every_name_is_there(place, name):
    assert hasattr(find(place), name)


def test_the_alias_has_them_too(script):
    text = f"""
        import importlib
        import nacre
        nacre.activate()
        import triton
        import triton.runtime.driver
        for place, names in {NAMES!r}.items():
            found = triton
            for part in place.replace("driver.driver", "driver").split(".")[1:]:
                try:
                    found = getattr(found, part)
                except AttributeError:
                    found = importlib.import_module(found.__name__.replace("nacre", "triton", 1) + "." + part)
            for name in names.split():
                getattr(found, name)
        from triton.backends.triton_shared.driver import CPUDriver
        triton.runtime.driver.set_active(CPUDriver())
        print(triton.runtime.driver.active.get_current_target().backend)
    """
    assert script.run(text) == "cpu\n"


@nacre.jit
def scale_kernel(x, n, factor=3, BLOCK: tl.constexpr = 16):
    """Multiplies."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(x + offsets, tl.load(x + offsets, mask=mask) * factor, mask=mask)


def ones(n=64, dtype=np.float32):
    return np.ones(n, dtype)


# Kernels


def test_a_jit_function():
    assert isinstance(scale_kernel, nacre.JITFunction) and isinstance(scale_kernel, nacre.KernelInterface)
    assert scale_kernel.__name__ == "scale_kernel" and scale_kernel.__doc__ == "Multiplies." and scale_kernel.__module__ == __name__
    assert scale_kernel.fn.__name__ == "scale_kernel" and scale_kernel.src.startswith("def scale_kernel(")
    assert scale_kernel.arg_names == ["x", "n", "factor", "BLOCK"]
    params = scale_kernel.params
    assert [param.name for param in params] == scale_kernel.arg_names and [param.num for param in params] == [0, 1, 2, 3]
    assert [param.is_constexpr for param in params] == [False, False, False, True]
    assert (params[2].has_default, params[2].default) == (True, 3) and not params[0].has_default
    assert list(scale_kernel.signature.parameters) == scale_kernel.arg_names
    assert repr(scale_kernel) == f"JITFunction({__name__}:scale_kernel)"
    with pytest.raises(RuntimeError, match="scale_kernel\\[grid\\]"):
        scale_kernel(ones(), 64)


def test_options_of_jit():
    @nacre.jit(version=7, do_not_specialize=["n"], do_not_specialize_on_alignment=[0], noinline=True, debug=True,
               repr=lambda told: f"named_{told.constants['BLOCK']}_{told.signature['x'][1:]}",
               launch_metadata=lambda grid, metadata, args: {})  # fmt: skip
    def kernel(x, n, BLOCK: tl.constexpr):
        tl.device_assert(tl.load(x) < n, "not below n")

    x = np.zeros(16, np.float32)
    compiled = kernel[(1,)](x, 1, BLOCK=16)
    assert kernel.version == 7 and kernel.noinline and kernel.debug and kernel.launch_metadata is not None
    assert compiled.src.signature["n"] == "i32" and compiled.src.attrs == {}
    assert compiled.name == compiled.metadata.name == "named_16_fp32" and compiled.metadata.debug
    with pytest.raises(AssertionError, match="not below n"):
        kernel[(1,)](x, 0, BLOCK=16)
    kernel[(1,)](x, 0, BLOCK=16, debug=False)


def test_the_cache_key_of_a_function():
    def make(value, text="x + 1"):
        used = tl.constexpr(value)

        @nacre.jit
        def helper(x):
            return x + used

        @nacre.jit
        def kernel(x):
            tl.store(x, helper(tl.load(x)))

        return kernel

    assert make(1).cache_key == make(1).cache_key != make(2).cache_key
    assert len(scale_kernel.cache_key) >= 32 and scale_kernel.cache_key != make(1).cache_key


def test_ways_to_launch():
    x = ones()
    scale_kernel[(4,)](x, 64)
    scale_kernel.run(x, 64, grid=(4,))
    scale_kernel.run(x, 64, grid=(4,), warmup=True)
    assert scale_kernel.warmup(x, 64, grid=(4,)) is scale_kernel[lambda meta: (meta["n"] // meta["BLOCK"],)](x, 64)
    assert (x == 27).all()
    with pytest.raises(TypeError, match="grid="):
        scale_kernel.run(x, 64)


class Doubled(nacre.KernelInterface):
    """A kernel of one's own over another."""

    def run(self, *args, grid, warmup, **kwargs):
        return scale_kernel.run(*args, grid=grid, warmup=warmup, **kwargs)


def test_kernel_interface():
    x = ones()
    compiled = Doubled()[(4,)](x, 64, factor=2)
    assert (x == 2).all() and Doubled().warmup(np.dtype("float32"), 64, factor=2, grid=(1,)).src.signature == compiled.src.signature


@pytest.mark.parametrize("interpret", [False, True])
@pytest.mark.parametrize("grid", [(0,), (4, 0), (1, 1, 0)])
def test_a_grid_with_a_zero_launches_nothing(interpret, grid):
    @nacre.jit(interpret=interpret)
    def kernel(x):
        tl.store(x + tl.program_id(0), 2.0)

    x = ones()
    kernel[grid](x)
    assert (x == 1).all()


@pytest.mark.parametrize("interpret", [False, True])
def test_unknown_keywords(interpret):
    @nacre.jit(interpret=interpret)
    def kernel(x):
        tl.store(x, 2.0)

    with pytest.raises(KeyError, match="warps_per_unit"):
        kernel[(1,)](ones(), warps_per_unit=2)


OPTIONS = {"num_warps": 8, "num_stages": 4, "num_ctas": 2, "maxnreg": 128, "debug": True, "sanitize_overflow": True,
           "enable_fp_fusion": False, "launch_cooperative_grid": True, "launch_pdl": True}  # fmt: skip


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("interpret", [False, True])
def test_launch_options(name, interpret):
    @nacre.jit(interpret=interpret)
    def kernel(x, n):
        offset = tl.program_id(0)
        tl.store(x + offset, 2.0, mask=offset < n)

    x = ones()
    compiled = kernel[(64,)](x, 64, **{name: OPTIONS[name]})
    assert (x == 2).all()
    if not interpret:
        assert getattr(compiled.metadata, name) == OPTIONS[name]


def test_options_that_mean_something():
    @nacre.jit
    def kernel(x, a, b, c):
        tl.store(x, tl.load(x) * a + b)
        tl.device_assert(c > 0, "c is not above zero")

    x = ones()
    fused = kernel.warmup(x, 2.0, 1.0, 5, grid=(1,), enable_fp_fusion=True).asm["asm"]
    plain = kernel.warmup(x, 2.0, 1.0, 5, grid=(1,), enable_fp_fusion=False).asm["asm"]
    assert "fmadd" in fused and "fmadd" not in plain
    kernel[(1,)](x, 2.0, 1.0, -5)
    with pytest.raises(AssertionError, match="c is not above zero"):
        kernel[(1,)](x, 2.0, 1.0, -5, debug=True)


def test_debug_of_compile_is_for_assertions_alone():
    """As Triton's: torch.compile asks for it. A launch's own checks every access too."""

    @nacre.jit
    def kernel(x, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.device_assert(offsets < n, "too far")
        tl.store(x + offsets, 2.0)

    signature = {"x": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    source = nacre.compiler.ASTSource(kernel, signature=signature, constexprs={"BLOCK": 16})
    compiled = nacre.compile(source, options={"debug": True})
    assert compiled.metadata.debug and "tile.assert" in compiled.asm["tile"] and "check_access" not in compiled.asm["tile"]
    x = ones(16)
    with pytest.raises(AssertionError, match="too far"):
        compiled[(1, 1, 1)](x, 8, 16)
    launched = kernel[(1,)](x, 16, BLOCK=16, debug=True)
    assert "check_access" in launched.asm["tile"]


def test_constexpr_functions_are_python_outside_of_kernels():
    @nacre.constexpr_function
    def double(n):
        return 2 * n

    @nacre.jit
    def kernel(x, N: tl.constexpr):
        tl.store(x + tl.arange(0, double(N)), 2.0)

    x = ones()
    kernel[(1,)](x, 8)
    assert double(4) == 8 and double(tl.constexpr(4)) == 8 and x.sum() == 64 + 16


def test_must_use_result():
    @nacre.must_use_result
    def function():
        return 1

    assert function() == 1 and nacre.must_use_result is tl.core.must_use_result


@nacre.must_use_result("It changes nothing.")
@nacre.jit
def cube(x):
    return x * x * x


def test_a_result_that_must_be_used():
    @nacre.jit
    def good(x):
        tl.store(x, cube(tl.load(x)))

    @nacre.jit
    def bad(x):
        cube(tl.load(x))

    nacre.compile(nacre.compiler.ASTSource(fn=good, signature={"x": "*fp32"}))
    with pytest.raises(nacre.CompilationError, match=r"The result of cube is not being used\. It changes nothing\."):
        nacre.compile(nacre.compiler.ASTSource(fn=bad, signature={"x": "*fp32"}))


def test_reinterpreted_arrays():
    x = np.zeros(16, np.int8)
    wrapped = nacre.reinterpret(x, tl.float8e5)
    assert isinstance(wrapped, nacre.TensorWrapper) and wrapped.dtype == tl.float8e5 and wrapped.base is x
    assert wrapped.data_ptr() == x.ctypes.data and wrapped.shape == (16,) and wrapped.stride() == (1,) and wrapped.element_size() == 1

    @nacre.jit
    def kernel(x):
        tl.store(x, 1.0)

    compiled = kernel[(1,)](wrapped)
    assert x[0] == 0x3C and compiled.src.signature["x"] == "*fp8e5"
    other = wrapped.clone()
    other.base[0] = 0
    wrapped.copy_(other)
    assert x[0] == 0
    assert nacre.reinterpret(wrapped, np.dtype("int8")) is x and nacre.reinterpret(wrapped, tl.float8e4nv).base is x
    with pytest.raises(TypeError, match="list"):
        nacre.reinterpret([1], tl.float8e5)


def test_mock_tensors():
    mock = nacre.MockTensor(np.dtype("float16"), (4, 8))
    assert mock.dtype == np.float16 and mock.stride() == (8, 1) and mock.data_ptr() % 16 == 0
    compiled = scale_kernel.warmup(mock, 64, grid=(1,))
    assert compiled.src.signature["x"] == "*fp16" and compiled.src.attrs[(0,)] == [["tt.divisibility", 16]]
    assert nacre.MockTensor.wrap_dtype(np.dtype("int8")).dtype == np.int8 and nacre.MockTensor.wrap_dtype(5) == 5


def test_an_allocator_is_never_asked_on_the_cpu():
    def allocator(size, alignment, stream):
        raise AssertionError("the CPU target has scratch memory of its own")

    @nacre.jit
    def kernel(x, N: tl.constexpr):
        descriptor = tl.make_tensor_descriptor(x, shape=[N], strides=[1], block_shape=[16])
        descriptor.store([16], descriptor.load([0]) * 2)

    nacre.set_allocator(allocator)
    try:
        x = ones()
        kernel[(1,)](x, 64)
        assert x[16:32].sum() == 32 and x.sum() == 64 + 16
    finally:
        nacre.set_allocator(None)


# Compiled kernels


def test_a_compiled_kernel():
    x = ones()
    compiled = scale_kernel[(4,)](x, 64)
    assert isinstance(compiled, nacre.compiler.CompiledKernel) and compiled.name == "scale_kernel" and len(compiled.hash) == 40
    assert isinstance(compiled.src, nacre.compiler.ASTSource) and compiled.src.fn is scale_kernel
    assert compiled.n_regs == 16 and compiled.n_spills == 0 and compiled.n_max_threads == 1
    metadata = compiled.metadata
    assert (metadata.num_warps, metadata.num_stages, metadata.num_ctas, metadata.shared) == (4, 3, 1, max(metadata.scratch_bytes, 1))
    assert metadata.target.backend == "cpu" and metadata.name == "scale_kernel" and metadata.hash == compiled.hash
    assert metadata._asdict()["num_warps"] == 4 and "num_warps" in metadata._fields
    compiled._init_handles()
    assert compiled.function > 0 and compiled.kernel == compiled.asm["obj"] and compiled.kernel.startswith(b"\x7fELF")
    assert set(compiled.asm) == {"source", "tile", "cpu", "llvm", "asm", "ttir", "ttgir", "llir", "s", "obj"}
    assert compiled.asm["source"] == scale_kernel.src and "tile.load" in compiled.asm["ttir"]
    compiled[(4, 1, 1)](x, 64, 3, 16)
    assert (x == 9).all()
    compiled.run(4, 1, 1, 0, compiled.function, compiled.packed_metadata, None, None, None, x, 64, 3, 16)
    assert (x == 27).all()
    asm = pickle.loads(pickle.dumps(compiled.asm))
    assert dict(asm) == dict(compiled.asm)


# The compiler


def test_make_backend_and_targets():
    GPUTarget = nacre.backends.compiler.GPUTarget
    target = GPUTarget("cpu", "", 32)
    assert target == GPUTarget(backend="cpu", arch="", warp_size=32) != GPUTarget("cuda", 90, 32)
    assert len({target, GPUTarget("cpu", "", 32)}) == 1 and repr(target) == "GPUTarget(backend='cpu', arch='', warp_size=32)"
    backend = nacre.compiler.make_backend(target)
    assert backend.supports_target(target) and not backend.supports_target(GPUTarget("cuda", 90, 32)) and backend.binary_ext == "obj"
    options = backend.parse_options({"num_warps": 8, "unknown": 1})
    assert options.num_warps == 8 and options.hash() != backend.parse_options({}).hash() and backend.hash() == backend.hash()
    with pytest.raises(RuntimeError, match="no target 'tpu'"):
        nacre.compiler.make_backend(GPUTarget("tpu", 5, 32))
    source = nacre.compiler.ASTSource(scale_kernel, {"x": "*fp32", "n": "i32", "factor": "i32", "BLOCK": "constexpr"}, {"BLOCK": 16})
    assert nacre.compile(source, target=target, options=options.__dict__).metadata.num_warps == 8
    with pytest.raises(nacre.CompilationError, match="no target 'tpu'"):
        nacre.compile(source, target=GPUTarget("tpu", 5, 32))


def test_sources():
    def source(**changes):
        signature = {"x": "*fp32", "n": "i32", "factor": "i32", "BLOCK": "constexpr", **changes}
        return nacre.compiler.ASTSource(scale_kernel, signature, constexprs={"BLOCK": 16})

    made = source()
    assert made.fn is scale_kernel and made.name == "scale_kernel" and made.constants == {(3,): 16} and made.attrs == {}
    assert made.hash() == source().hash() != source(n="i64").hash() and made.parse_options() == {} and made.ext == "ttir"


def test_errors_are_of_one_family():
    errors = nacre.compiler.errors
    for error in (nacre.CompilationError, nacre.OutOfResources, nacre.InterpreterError, nacre.runtime.errors.PTXASError):
        assert issubclass(error, nacre.TritonError)
    assert issubclass(errors.CompileTimeAssertionFailure, errors.CompilationError)
    assert issubclass(errors.UnsupportedLanguageConstruct, errors.CompilationError)
    out_of_resources = nacre.OutOfResources(200, 100, "shared memory")
    assert "shared memory, required: 200, limit: 100" in str(out_of_resources)
    assert pickle.loads(pickle.dumps(out_of_resources)).required == 200


def test_helpers():
    assert nacre.cdiv(10, 4) == 3 and nacre.next_power_of_2(33) == 64 and nacre.next_power_of_2(64) == 64
    assert nacre.__version__.startswith("3.")


# Drivers


def test_the_driver():
    torch = pytest.importorskip("torch")
    active = nacre.runtime.driver.active
    assert active.get_current_target().backend == "cpu" and active.get_current_device() == 0
    assert active.get_current_stream(0) == 0 and active.get_device_capability(0) == (0, 0)
    assert active.get_active_torch_device() == torch.device("cpu") and active.get_device_interface().is_available is torch.cpu.is_available
    active.set_current_device(0)
    times = active.get_benchmarker()(lambda: None, warmup=1, rep=1, quantiles=[0.5, 0.2])
    assert len(times) == 2
    cache = active.get_empty_cache_for_benchmark()
    cache.zero_()  # as benchmarkers of others do
    active.clear_cache(cache)
    properties = active.utils.get_device_properties(0)
    for name in ("max_shared_mem", "max_num_regs", "multiprocessor_count", "warpSize", "sm_clock_rate", "mem_clock_rate", "mem_bus_width"):
        assert isinstance(properties[name], int), name
    assert properties["multiprocessor_count"] >= 1 and properties["max_shared_mem"] > 0 and properties["warpSize"] >= 1


def test_active_drivers():
    driver = nacre.runtime.driver
    default = driver.active

    class Mine(type(default)):
        def get_current_device(self):
            return 7

    driver.set_active(Mine())
    try:
        assert driver.active.get_current_device() == 7 and driver.default is default
    finally:
        driver.reset_active()
    assert driver.active is default is driver.default


def test_interpret_mode_of_the_driver():
    seen = []

    @nacre.jit
    def kernel(x):
        seen.append(tl.load(x))
        tl.store(x, 2.0)

    x = ones()
    nacre.runtime.driver.active.set_interpret_mode(True)
    try:
        assert kernel[(1,)](x) is None
    finally:
        nacre.runtime.driver.active.set_interpret_mode(False)
    assert len(seen) == 1 and x[0] == 2


def test_how_many_programs_fit():
    """What Triton's tutorial on softmax computes from the device and the kernel."""
    properties = nacre.runtime.driver.active.utils.get_device_properties(None)
    for warps in (1, 4, 8, 32):
        compiled = scale_kernel.warmup(ones(), 64, num_warps=warps, grid=(1,))
        compiled._init_handles()
        occupancy = properties["max_num_regs"] // (compiled.n_regs * properties["warpSize"] * warps)
        occupancy = min(occupancy, properties["max_shared_mem"] // compiled.metadata.shared)
        assert properties["multiprocessor_count"] * occupancy >= 1
