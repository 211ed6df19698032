"""Knobs: one table, every name of it readable, settable and restorable; what each of the rarer ones does."""

import os
import subprocess
import sys

import numpy as np
import pytest

import nacre
import nacre.language as tl
from nacre import knobs

GROUPS = ("runtime", "compilation", "cache", "autotuning", "language", "nvidia", "build", "proton")
VARIABLES = (
    "TRITON_INTERPRET TRITON_DEBUG TRITON_CACHE_DIR TRITON_HOME TRITON_CACHE_MANAGER TRITON_ALWAYS_COMPILE TRITON_KERNEL_DUMP "
    "TRITON_DUMP_DIR TRITON_KERNEL_OVERRIDE TRITON_OVERRIDE_DIR TRITON_OVERRIDE_ARCH TRITON_STORE_BINARY_ONLY "
    "TRITON_DEFAULT_BACKEND TRITON_DEFAULT_FP_FUSION TRITON_ALLOW_NON_CONSTEXPR_GLOBALS TRITON_PRINT_AUTOTUNING "
    "TRITON_CACHE_AUTOTUNING TRITON_F32_DEFAULT TRITON_PTXAS_PATH TRITON_LIBDEVICE_PATH TRITON_REPRODUCER_PATH PTXAS_OPTIONS "
    "MLIR_ENABLE_DUMP MLIR_DUMP_PATH LLVM_IR_ENABLE_DUMP USE_IR_LOC TRITON_FRONT_END_DEBUGGING TRITON_DISABLE_LINE_INFO"
).split()
# Attributes that code written for Triton reads, with the variable that each is.
ATTRIBUTES = {
    "runtime.interpret": "TRITON_INTERPRET", "runtime.debug": "TRITON_DEBUG", "runtime.override_arch": "TRITON_OVERRIDE_ARCH",
    "compilation.override": "TRITON_KERNEL_OVERRIDE", "compilation.dump_ir": "TRITON_KERNEL_DUMP",
    "compilation.store_binary_only": "TRITON_STORE_BINARY_ONLY", "compilation.always_compile": "TRITON_ALWAYS_COMPILE",
    "compilation.use_ir_loc": "USE_IR_LOC", "compilation.disable_line_info": "TRITON_DISABLE_LINE_INFO",
    "compilation.front_end_debugging": "TRITON_FRONT_END_DEBUGGING",
    "compilation.allow_non_constexpr_globals": "TRITON_ALLOW_NON_CONSTEXPR_GLOBALS", "cache.home_dir": "TRITON_HOME",
    "cache.dump_dir": "TRITON_DUMP_DIR", "cache.override_dir": "TRITON_OVERRIDE_DIR", "cache.dir": "TRITON_CACHE_DIR",
    "cache.manager_class": "TRITON_CACHE_MANAGER", "autotuning.cache": "TRITON_CACHE_AUTOTUNING",
    "autotuning.print": "TRITON_PRINT_AUTOTUNING", "language.fp32_default": "TRITON_F32_DEFAULT",
    "language.default_fp_fusion": "TRITON_DEFAULT_FP_FUSION", "nvidia.ptxas": "TRITON_PTXAS_PATH",
    "nvidia.ptxas_options": "PTXAS_OPTIONS", "nvidia.libdevice_path": "TRITON_LIBDEVICE_PATH",
}  # fmt: skip


def rows():
    """Those of the table."""
    return [(group, knob) for group in GROUPS for knob in getattr(knobs, group).knob_descriptors.values() if isinstance(knob, knobs.Knob)]


def everything():
    return {name: text for _, knob in rows() for name in knob.variables if (text := os.environ.get(name)) is not None}


@pytest.fixture(autouse=True)
def restored():
    before = everything()
    yield
    assert everything() == before


# The table


@pytest.mark.parametrize("variable", VARIABLES)
def test_every_variable_has_a_row(variable):
    ours = "NACRE_" + variable.removeprefix("TRITON_")
    found = [knob for _, knob in rows() if knob.key == variable]
    assert len(found) == 1 and set(found[0].variables) == {variable, ours} and found[0].__doc__


@pytest.mark.parametrize("attribute, variable", ATTRIBUTES.items())
def test_attributes_by_the_names_that_triton_has(attribute, variable):
    group, name = attribute.split(".")
    assert getattr(knobs, group).knob_descriptors[name].key == variable


@pytest.mark.parametrize("group", GROUPS)
def test_groups(group):
    made = getattr(knobs, group)
    assert set(made.knobs) == set(made.knob_descriptors) == {name for name, value in made.knobs.items() or ()}
    assert type(made.copy()) is type(made) and made.copy() is not made and made.copy().knobs == made.knobs


@pytest.mark.parametrize("group, knob", rows(), ids=lambda value: getattr(value, "name", value))
def test_setting_writes_the_variable(group, knob):
    made = getattr(knobs, group)
    example = {"bool": knob.kind == "bool" and not getattr(made, knob.name), "int": 3, "str": "3.5.0" if knob.name == "triton_version" else "some text"}[knob.kind]
    if knob.name.endswith("manager_class"):
        example = Remembering
    with made.scope():
        setattr(made, knob.name, example)
        text = {"bool": str(int(example)) if knob.kind == "bool" else "", "int": "3", "str": example}[knob.kind]
        if knob.name.endswith("manager_class"):
            text = f"{__name__}:Remembering"
        assert os.environ[knob.key] == text and getattr(made, knob.name) == example == made.knobs[knob.name]
        assert getattr(made.copy(), knob.name) == example
        other = next(variable for variable in knob.variables if variable != knob.key)
        assert other not in os.environ
        delattr(made, knob.name)
        assert knob.key not in os.environ
        os.environ[other] = text
        assert getattr(made, knob.name) == example
        made.reset()
        assert other not in os.environ


def test_scopes_restore_what_they_found():
    runtime = knobs.runtime
    with runtime.scope():
        runtime.debug = True
        runtime.jit_cache_hook = print
        with runtime.scope():
            runtime.debug = None
            runtime.jit_cache_hook = None
            assert runtime.debug is False
        assert runtime.debug is True and runtime.jit_cache_hook is print and os.environ["TRITON_DEBUG"] == "1"
    assert runtime.jit_cache_hook is None and "TRITON_DEBUG" not in os.environ


def test_a_group_may_be_replaced():
    """As test suites do: a fresh copy for each test."""
    calls = []

    @nacre.jit
    def kernel(x):
        tl.store(x, 1.0)

    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("NACRE_VERIFY_IR", raising=False)  # resetting drops what is set
        patch.setattr(knobs, "compilation", knobs.compilation.copy().reset())
        patch.setattr(knobs, "runtime", knobs.runtime.copy().reset())
        knobs.compilation.listener = lambda **told: calls.append("compiled")
        knobs.runtime.launch_enter_hook = lambda metadata: calls.append("launched")
        kernel[(1,)](np.zeros(1, np.float32))
        knobs.runtime.launch_enter_hook = None
        kernel[(1,)](np.zeros(1, np.float32))
    assert calls == ["compiled", "launched"]
    assert knobs.compilation.listener is None and not knobs.runtime.launch_enter_hook


def test_wrong_values(monkeypatch):
    monkeypatch.setenv("NACRE_AUTOTUNE_SECONDS", "many")
    with pytest.raises(ValueError, match="NACRE_AUTOTUNE_SECONDS=many: expected a whole number"):
        knobs.autotuning.seconds  # noqa: B018
    monkeypatch.setenv("NACRE_AUTOTUNE_SECONDS", "-1")
    with pytest.raises(ValueError, match="NACRE_AUTOTUNE_SECONDS=-1: expected a whole number of at least 0"):
        knobs.autotuning.seconds  # noqa: B018
    monkeypatch.delenv("NACRE_AUTOTUNE_SECONDS")
    monkeypatch.setenv("NACRE_CACHE_MAX_MEGABYTES", "-1")

    @nacre.jit
    def kernel(x):
        tl.store(x, 1.0)

    with pytest.raises(ValueError, match="NACRE_CACHE_MAX_MEGABYTES=-1: expected a whole number of at least 0"):
        kernel[(1,)](np.zeros(1, np.float32))
    monkeypatch.delenv("NACRE_CACHE_MAX_MEGABYTES")
    monkeypatch.setenv("TRITON_DEBUG", "perhaps")
    with pytest.raises(ValueError, match="TRITON_DEBUG=perhaps: expected a boolean"):
        knobs.runtime.debug
    monkeypatch.delenv("TRITON_DEBUG")
    monkeypatch.setenv("TRITON_CACHE_MANAGER", "nonsense")
    with pytest.raises(ValueError, match="TRITON_CACHE_MANAGER=nonsense: expected MODULE:CLASS"):
        knobs.cache.manager_class
    monkeypatch.delenv("TRITON_CACHE_MANAGER")


def test_a_variable_that_is_set_to_nothing_is_not_set(monkeypatch):
    with monkeypatch.context() as patch:
        for variable in ("NACRE_JIT", "NACRE_AUTOTUNE", "NACRE_REMOTE_CACHE_TIMEOUT"):
            patch.setenv(variable, "")
        assert (knobs.runtime.jit, knobs.autotuning.mode, knobs.cache.remote_timeout) == ("allow", "tune", "0.5")


def test_a_knob_that_is_not_there_cannot_be_set():
    with pytest.raises(AttributeError, match="CompilationKnobs has no knob 'always_compil'; is always_compile meant?"):
        knobs.compilation.always_compil = True
    with pytest.raises(AttributeError, match="RuntimeKnobs has no knob 'nothing_like_it' .nacre info"):
        knobs.runtime.nothing_like_it = 1
    assert not hasattr(knobs.runtime, "nothing_like_it")


def test_the_sanitizers_of_triton(monkeypatch):
    monkeypatch.delenv("TRITON_INSTRUMENTATION_MODE", raising=False)
    with pytest.raises(ValueError, match="enable_asan: AddressSanitizer in the code of AMD's GPUs is not there"):
        knobs.compilation.enable_asan = True
    knobs.compilation.enable_asan = False
    assert knobs.compilation.enable_asan is False and knobs.compilation.instrumentation_mode == ""
    for name in ("consan", "fpsan", "iisan"):
        with pytest.raises(ValueError, match=f"instrumentation_mode: {name} is not there"):
            knobs.compilation.instrumentation_mode = name
    from nacre import sanitizer

    knobs.compilation.instrumentation_mode = "gsan"
    try:
        assert sanitizer._session.session.kinds == ("tsan",) and knobs.compilation.instrumentation_mode == "gsan"
    finally:
        knobs.compilation.instrumentation_mode = ""
    assert sanitizer._session.session is None


def test_variables_set_behind_the_groups_back(monkeypatch):
    @nacre.jit
    def kernel(x):
        tl.device_assert(tl.load(x) > 0, "not above zero")

    x = np.zeros(1, np.float32)
    kernel[(1,)](x)
    monkeypatch.setenv("TRITON_DEBUG", "1")
    knobs.refresh_knobs()
    with pytest.raises(AssertionError, match="not above zero"):
        kernel[(1,)](x)
    monkeypatch.delenv("TRITON_DEBUG")
    knobs.refresh_knobs()
    kernel[(1,)](x)


def test_ptxas_is_a_path_with_a_version(tmp_path):
    tool = tmp_path / "ptxas"
    tool.write_text("#!/bin/sh\necho Cuda compilation tools, release 12.8, V12.8.93\n")
    tool.chmod(0o755)
    with knobs.nvidia.scope():
        knobs.nvidia.ptxas = str(tool)
        assert knobs.nvidia.ptxas == knobs.nvidia.ptxas.path == str(tool) and knobs.nvidia.ptxas.version == "12.8"
        knobs.nvidia.ptxas = str(tmp_path / "nowhere")
        assert knobs.nvidia.ptxas.version is None
    assert knobs.nvidia.libdevice_path is None


def test_nothing_else_reads_the_environment():
    """One table: no getenv outside of it, but for the bugs that a build for measuring the fuzzers plants."""
    from pathlib import Path

    root = Path(__file__).parents[2]
    found = subprocess.run(["grep", "-rnE", "getenv\\(", "--include=*.cpp", "--include=*.h", "compiler", "runtime", "python", "cli", "include"],
                           cwd=root, capture_output=True, text=True).stdout  # fmt: skip
    assert {line.split(":")[0] for line in found.splitlines() if "/test/" not in line} == {"runtime/Knobs.cpp", "compiler/support/PlantedBugs.h"}


# What they do


def test_the_target_is_chosen_by_name(script):
    text = """
        import numpy as np
        import nacre
        import nacre.language as tl

        @nacre.jit
        def kernel(x):
            tl.store(x, 1.0)

        try:
            kernel[(1,)](np.zeros(1, np.float32))
            print(nacre.runtime.driver.active.get_current_target().backend)
        except RuntimeError as error:
            print(error)
    """
    assert script.run(text, TRITON_DEFAULT_BACKEND="cpu") == "cpu\n"
    assert script.run(text, TRITON_DEFAULT_BACKEND="abacus") == "TRITON_DEFAULT_BACKEND=abacus: there is no such target; targets: nvidia, amd, cpu\n"


@pytest.mark.parametrize("interpret", [False, True])
def test_the_precision_of_a_dot_that_names_none(interpret):
    @nacre.jit(interpret=interpret)
    def kernel(x, NAMED: tl.constexpr):
        offsets = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
        a = tl.load(x + offsets)
        tl.store(x + offsets, tl.dot(a, a, input_precision="tf32x3") if NAMED else tl.dot(a, a))

    x = np.eye(16, dtype=np.float32)
    with knobs.language.scope():
        if not interpret:
            for value, word in ((None, ""), ("ieee", "ieee"), ("bf16x6", "bf16x6")):
                knobs.language.fp32_default = value
                words = kernel.warmup(x, False, grid=(1,)).asm["ttir"].split()
                assert words.count("tile.dot") == 1 and (words[words.index("precision") + 1] if "precision" in words else "") == word
            words = kernel.warmup(x, True, grid=(1,)).asm["ttir"].split()
            assert words[words.index("precision") + 1] == "tf32x3"
        knobs.language.fp32_default = "approximate"
        with pytest.raises(nacre.errors.TritonError, match='"approximate"'):
            kernel[(1,)](x, False)
        kernel[(1,)](x, True)
    assert (x == np.eye(16)).all()


@nacre.constexpr_function
def inner(n):
    raise ValueError("no such size")


@nacre.constexpr_function
def outer(n):
    return inner(n)


def test_tracebacks_of_functions_called_while_compiling():
    @nacre.jit
    def kernel(x, N: tl.constexpr):
        tl.store(x, outer(N))

    x = np.zeros(1, np.float32)
    with pytest.raises(nacre.CompilationError, match="no such size") as caught:
        kernel[(1,)](x, 3)
    assert "Traceback" not in str(caught.value)
    with knobs.compilation.scope():
        knobs.compilation.front_end_debugging = True
        with pytest.raises(nacre.CompilationError, match="no such size") as caught:
            kernel[(1,)](x, 3)
    assert "Traceback (most recent call last):" in str(caught.value) and "in inner" in str(caught.value)
    assert "return inner(n)" in str(caught.value)


# A cache manager of the user's


class Remembering(nacre.runtime.cache.CacheManager):
    """Keeps files below a folder and remembers what was asked."""

    folder = None
    asked = []

    def __init__(self, key, override=False, dump=False):
        self.key = key

    def get_file(self, filename):
        path = self.folder / self.key / filename
        self.asked.append(("get", filename, path.exists()))
        return str(path) if path.exists() else None

    def put(self, data, filename, binary=True):
        self.asked.append(("put", filename, isinstance(data, bytes)))
        path = self.folder / self.key / filename
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_bytes(data)
        return str(path)


class Failing(Remembering):
    def put(self, data, filename, binary=True):
        raise OSError("no more room")


def test_a_cache_manager_keeps_compiled_kernels(tmp_path, cache_folder):
    @nacre.jit
    def kernel(x):
        tl.store(x, 8.0)

    x = np.zeros(1, np.float32)
    Remembering.folder, Remembering.asked = tmp_path / "mine", []
    with knobs.cache.scope():
        knobs.cache.manager_class = Remembering
        kernel[(1,)](x)
        assert x[0] == 8 and not cache_folder.exists()
        kinds = {file.name for file in Remembering.folder.rglob("*") if file.is_file()}
        assert kinds == {"nacre.kernel", "nacre.stages", "nacre.manifest"} and ("put", "nacre.kernel", True) in Remembering.asked
        assert isinstance(nacre.runtime.cache.get_cache_manager("00" * 20), Remembering)


def test_another_process_finds_what_a_cache_manager_kept(script, tmp_path):
    (tmp_path / "keeper.py").write_text(
        "import pathlib\nimport nacre.runtime.cache\n\nclass Keeper(nacre.runtime.cache.FileCacheManager):\n"
        "    def __init__(self, key, override=False, dump=False):\n        super().__init__(key, override, dump)\n"
        f"        self.cache_dir = {str(tmp_path / 'kept')!r} + '/' + key\n"
    )
    text = """
        import numpy as np
        import nacre
        import nacre.language as tl

        @nacre.jit
        def kernel(x):
            tl.store(x, 1.0)

        x = np.zeros(1, np.float32)
        kernel[(1,)](x)
        assert x[0] == 1
        print(nacre._core.cache_counts()["compiles"])
    """
    path = script.write(text)
    variables = {"TRITON_CACHE_MANAGER": "keeper:Keeper", "PYTHONPATH": os.pathsep.join([*sys.path, str(tmp_path)])}
    assert script.finish(script.start(path, **variables)) == "1\n"
    assert script.finish(script.start(path, **variables)) == "0\n"
    for file in (tmp_path / "kept").rglob("nacre.kernel"):
        file.write_bytes(file.read_bytes()[:-1])  # a damaged entry is no entry
    assert script.finish(script.start(path, **variables)) == "1\n"
    failed = script.start(path, TRITON_CACHE_MANAGER="nowhere:Keeper")
    assert "No module named 'nowhere'" in failed.communicate(timeout=600)[1] and failed.returncode == 1


class Shared(nacre.runtime.cache.RemoteCacheBackend):
    """Stands for a server."""

    kept = {}

    def __init__(self, key):
        self.key = key

    def get(self, filenames):
        return {name: self.kept[self.key, name] for name in filenames if (self.key, name) in self.kept}

    def put(self, filename, data):
        self.kept[self.key, filename] = data


def test_a_remote_cache(cache_folder, tmp_path):
    import shutil

    @nacre.jit
    def kernel(x):
        tl.store(x, 11.0)

    x, cache = np.zeros(1, np.float32), nacre.runtime.cache
    with knobs.cache.scope():
        knobs.cache.manager_class = cache.RemoteCacheManager
        with pytest.raises(nacre.CompilationError, match="TRITON_REMOTE_CACHE_BACKEND is not set"):
            kernel[(1,)](x)
        knobs.cache.remote_manager_class = Shared
        manager = cache.get_cache_manager("ab" * 20)
        path = manager.put("text", "a.txt")
        manager.put_group("group", {"a.txt": path})
        shutil.rmtree(cache_folder)  # another machine
        assert open(cache.get_cache_manager("ab" * 20).get_file("a.txt")).read() == "text" and manager.get_file("b.txt") is None
        assert manager.get_group("group") == {"a.txt": path} and manager.get_group("other") is None
        manager.put_group("torn", {"a.txt": path, "b.txt": path + ".gone"})
        assert manager.get_group("torn") is None
        kernel[(1,)](x)
        assert x[0] == 11 and {name for _, name in Shared.kept} >= {"nacre.kernel", "nacre.manifest"}
        knobs.cache.dump_dir = tmp_path / "dump"
        dumped = cache.get_dump_manager("ab" * 20)
        dumped.put("text", "dumped.txt")
        assert not any(name == "dumped.txt" for _, name in Shared.kept)
        assert dumped.get_file("dumped.txt").startswith(str(tmp_path / "dump"))


def test_a_cache_manager_that_fails_is_seen(tmp_path):
    @nacre.jit
    def kernel(x):
        tl.store(x, 9.0)

    Remembering.folder = tmp_path / "mine"
    with knobs.cache.scope():
        knobs.cache.manager_class = Failing
        with pytest.raises(nacre.CompilationError, match="the cache manager raised OSError: no more room"):
            kernel[(1,)](np.zeros(1, np.float32))


def test_file_managers(tmp_path, monkeypatch):
    cache = nacre.runtime.cache
    monkeypatch.setenv("TRITON_OVERRIDE_DIR", str(tmp_path / "override"))
    monkeypatch.setenv("TRITON_DUMP_DIR", str(tmp_path / "dump"))
    key = "0123456789abcdef" * 4
    for get, folder in ((cache.get_cache_manager, "cache"), (cache.get_override_manager, "override"), (cache.get_dump_manager, "dump")):
        manager = get(key)
        assert isinstance(manager, cache.FileCacheManager) and manager.get_file("a.txt") is None
        path = manager.put("text", "a.txt", binary=False)
        assert path.startswith(str(tmp_path / folder)) and open(path).read() == "text"
        assert get(key).get_file("a.txt") == path and manager.has_file("a.txt")
        assert manager.get_group("g") is None
        manager.put_group("g", {"a.txt": path})
        assert manager.get_group("g") == {"a.txt": path}
    monkeypatch.delenv("TRITON_OVERRIDE_DIR")
    monkeypatch.delenv("TRITON_DUMP_DIR")


def test_knobs_of_profilers_that_are_not_there(monkeypatch, tmp_path):
    """They have Triton's names and defaults; what they ask for is refused in words."""
    import nacre.profiler as proton

    names = ("hsa_runtime_path", "hsa_runtime_library", "rocprofiler_sdk_include_path", "rocprofiler_sdk_lib_path", "rocprofiler_sdk_library",
             "roctracer_lib_path", "roctracer_library", "roctx_lib_path")  # fmt: skip
    assert [getattr(knobs.proton, name) for name in names] == [None] * len(names)
    assert knobs.proton.roctx_library == "libroctx64.so" and knobs.proton.enable_hw_trace is False
    for name in (*names, "roctx_library"):
        with pytest.raises(ValueError, match=f"knobs.proton.{name}: there are no AMD GPUs here"):
            setattr(knobs.proton, name, "/opt/rocm/lib")
        setattr(knobs.proton, name, None)
    with pytest.raises(ValueError, match="traces by the hardware are not there"):
        knobs.proton.enable_hw_trace = True
    knobs.proton.enable_hw_trace = False
    monkeypatch.setenv("TRITON_ENABLE_HW_TRACE", "1")
    with pytest.raises(ValueError, match="TRITON_ENABLE_HW_TRACE: traces by the hardware"):
        proton.start(str(tmp_path / "profile"))
    monkeypatch.setenv("TRITON_ROCTX_LIB_PATH", "/opt/rocm")
    assert knobs.proton.roctx_lib_path == "/opt/rocm"
