# Settings, as attributes of groups. The attributes that are environment variables are in _knob_rows.pyi, which is written from the runtime's table
# (python/write_stubs.py) and is no module when a program runs.

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Self

from ._hook_types import (
    AutotuneListener as AutotuneListener,
    CompilationListener as CompilationListener,
    InitHandleHook as InitHandleHook,
    JITHook as JITHook,
    JITHookCompileInfo as JITHookCompileInfo,
    LaunchHook as LaunchHook,
    PipelineStagesHook as PipelineStagesHook,
)
from ._knob_rows import AmdRows, AutotuningRows, CacheRows, CompilationRows, LanguageRows, NvidiaRows, ProtonRows, RedisRows, RuntimeRows
from ._toolkit import Tool as NvidiaTool
from ._variables import (
    env_base as env_base,
    env_bool as env_bool,
    env_class as env_class,
    env_int as env_int,
    env_nvidia_tool as env_nvidia_tool,
    env_opt_bool as env_opt_bool,
    env_opt_str as env_opt_str,
    env_str as env_str,
    env_str_callable_default as env_str_callable_default,
    toenv as toenv,
)

propagate_env: bool

class Knob:
    group: str
    name: str
    kind: str
    variables: tuple[str, str]
    key: str
    default: str
    in_cache_key: bool
    def __init__(
        self, group: str, name: str, kind: str, variable: str, other_variable: str, default: str, in_cache_key: bool, help: str
    ) -> None: ...

class ClassKnob(Knob): ...
class VersionKnob(Knob): ...

class ToolKnob(Knob):
    def found(self) -> NvidiaTool | None: ...

class HookChain:
    calls: list[Callable[..., object]]
    reversed: bool
    def __init__(self, reversed: bool = False, on_change: Callable[[], object] | None = None) -> None: ...
    def add(self, function: Callable[..., object]) -> None: ...
    def remove(self, function: Callable[..., object]) -> None: ...
    def __bool__(self) -> bool: ...
    def __call__(self, *args: Any, **kwargs: Any) -> None: ...

class CompileTimes:
    ir_initialization: int
    lowering_stages: list[tuple[str, int]]
    store_results: int
    def __init__(self, ir_initialization: int, lowering_stages: list[tuple[str, int]], store_results: int) -> None: ...
    @property
    def total_lowering(self) -> int: ...
    @property
    def total(self) -> int: ...

class Knobs:
    @property
    def knob_descriptors(self) -> dict[str, Any]: ...
    @property
    def knobs(self) -> dict[str, Any]: ...
    def copy(self) -> Self: ...
    def reset(self) -> Self: ...
    def scope(self) -> AbstractContextManager[None]: ...

# A hook is a HookChain, with add() and remove(), until it is set to a function, to None, or to another object that can be called.
class RuntimeKnobs(RuntimeRows, Knobs):
    launch_enter_hook: Any
    launch_exit_hook: Any
    kernel_load_start_hook: Any
    kernel_load_end_hook: Any
    kernel_unload_hook: Any
    jit_cache_hook: Any
    jit_post_compile_hook: Any
    add_stages_inspection_hook: Any

class CompilationKnobs(CompilationRows, Knobs):
    listener: Callable[..., object] | None
    instrumentation_mode: str
    enable_asan: bool

class AutotuningKnobs(AutotuningRows, Knobs):
    listener: Callable[..., object] | None

class CacheKnobs(CacheRows, Knobs):
    def get_triton_dir(self, dirname: str) -> str: ...

class LanguageKnobs(LanguageRows, Knobs): ...

class NvidiaKnobs(NvidiaRows, Knobs):
    @property
    def ptxas_blackwell(self) -> NvidiaTool: ...

class AmdKnobs(AmdRows, Knobs): ...

class BuildKnobs(Knobs):
    cc: str | None
    cudacrt_path: str | None
    cudart_path: str | None
    impl: Callable[..., object] | None
    @property
    def backend_dirs(self) -> set[str]: ...

class RedisKnobs(RedisRows, Knobs): ...

class ProtonKnobs(ProtonRows, Knobs):
    enable_hw_trace: bool
    hsa_runtime_path: str | None
    hsa_runtime_library: str | None
    rocprofiler_sdk_include_path: str | None
    rocprofiler_sdk_lib_path: str | None
    rocprofiler_sdk_library: str | None
    roctracer_lib_path: str | None
    roctracer_library: str | None
    roctx_lib_path: str | None
    roctx_library: str | None

runtime: RuntimeKnobs
compilation: CompilationKnobs
autotuning: AutotuningKnobs
cache: CacheKnobs
language: LanguageKnobs
nvidia: NvidiaKnobs
amd: AmdKnobs
build: BuildKnobs
proton: ProtonKnobs
redis: RedisKnobs

# Names that packages around Triton take from this module.
base_knobs = Knobs
runtime_knobs = RuntimeKnobs
compilation_knobs = CompilationKnobs
autotuning_knobs = AutotuningKnobs
cache_knobs = CacheKnobs
language_knobs = LanguageKnobs
nvidia_knobs = NvidiaKnobs
build_knobs = BuildKnobs
proton_knobs = ProtonKnobs
redis_knobs = RedisKnobs
amd_knobs = AmdKnobs

class Env: ...

env: Env

def getenv(key: str, default: str | None = None) -> str | None: ...
def getenv_bool(key: str, default: bool = False) -> bool: ...
def setenv(key: str, value: str | None) -> None: ...
def refresh_knobs() -> None: ...
def listen(what: str, function: Callable[..., Any]) -> None: ...
