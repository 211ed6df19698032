# Compiled kernels, and compiling without launching.

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any

from ..backends.compiler import BaseBackend as BaseBackend, GPUTarget as GPUTarget, Language as Language
from ..runtime.cache import (
    get_cache_invalidating_env_vars as get_cache_invalidating_env_vars,
    get_cache_key as get_cache_key,
    get_cache_manager as get_cache_manager,
    get_dump_manager as get_dump_manager,
    get_override_manager as get_override_manager,
)
from ..runtime.errors import OutOfResources as OutOfResources
from ..runtime.hooks import LazyDict as LazyDict
from ..runtime.jit import Grid, JITFunction
from .ir_source import IRSource as IRSource

# The binary of a GPU or the object file is bytes; every other stage is text.
class AsmDict(dict[str, Any]): ...

class KernelMetadata:
    name: str
    hash: str
    target: GPUTarget
    shared: int
    def __init__(self, **fields: Any) -> None: ...
    def _asdict(self) -> dict[str, Any]: ...
    def __getattr__(self, name: str) -> Any: ...

class CompiledKernel:
    src: ASTSource | IRSource
    hash: str
    name: str
    metadata: KernelMetadata
    packed_metadata: tuple[Any, ...]
    asm: AsmDict
    slot_types: Sequence[str]
    module: Any
    n_regs: int
    n_spills: int
    n_max_threads: int
    def __init__(self, native: Any, src: ASTSource | IRSource, options: Mapping[str, Any], slot_types: Sequence[str]) -> None: ...
    @property
    def function(self) -> int: ...
    @property
    def kernel(self) -> bytes: ...
    @property
    def metadata_group(self) -> dict[str, str]: ...
    def launch_metadata(self, grid: Sequence[int], stream: int | None, *args: Any) -> LazyDict | None: ...
    @property
    def run(self) -> Callable[..., None]: ...
    def __getitem__(self, grid: Sequence[int]) -> Callable[..., None]: ...

class ASTSource:
    ext: str
    fn: JITFunction[Any]
    name: str
    signature: dict[str, Any]
    constants: dict[Any, Any]
    attrs: dict[Any, Any]
    def __init__(
        self,
        fn: JITFunction[Any],
        signature: Mapping[str, Any],
        constexprs: Mapping[Any, Any] | None = None,
        attrs: Mapping[Any, Any] | None = None,
    ) -> None: ...
    @property
    def constexprs(self) -> dict[Any, Any]: ...
    def parse_options(self) -> dict[str, Any]: ...
    def make_ir(self, target: Any, options: Any, codegen_fns: Any, module_map: Any, context: Any) -> Any: ...
    def hash(self) -> str: ...

class Specialization:
    signature: dict[str, Any]
    constants: dict[str, Any]
    def __init__(self, signature: dict[str, Any], constants: dict[str, Any]) -> None: ...

def notify_listener(kernel: CompiledKernel, report: Mapping[str, Any]) -> None: ...
def compile(
    src: ASTSource | IRSource | str | PathLike[str],
    target: GPUTarget | None = None,
    options: Mapping[str, Any] | None = None,
    _env_vars: Any = None,
) -> CompiledKernel: ...
def make_backend(target: GPUTarget) -> BaseBackend: ...
def max_shared_mem(device: Any) -> int: ...
def triton_key() -> str: ...
