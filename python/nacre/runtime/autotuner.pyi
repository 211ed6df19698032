# Choosing among configurations of a kernel by timing them.

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from typing import Any, Literal, TypeVar

from ..compiler.compiler import CompiledKernel
from .errors import AutotunerError as AutotunerError, OutOfResources as OutOfResources, PTXASError as PTXASError
from .heuristics import Heuristics as Heuristics, heuristics as heuristics
from .jit import Grid, JITFunction as JITFunction, KernelInterface as KernelInterface
from .tuning.config import Bucket as Bucket, Config as Config, bucket as bucket
from .tuning.search import Space

_F = TypeVar("_F", bound=Callable[..., Any])

class Autotuner(KernelInterface[_F]):
    __name__: str
    fn: Any  # the JITFunction, or what stands between
    base_fn: JITFunction[_F]
    arg_names: list[str]
    search: Space | None
    configs: list[Config]
    keys: list[str | Bucket]
    reset_to_zero: list[str]
    restore_value: list[str]
    restore_copies: dict[str, Any]
    pre_hook: Callable[..., Any]
    post_hook: Callable[..., Any]
    user_defined_pre_hook: bool
    user_defined_post_hook: bool
    perf_model: Callable[..., float] | None
    configs_top_k: float
    early_config_prune: Callable[..., Iterable[Config]] | None
    use_cuda_graph: bool
    cache_results: bool
    num_warmups: int | None
    num_reps: int | None
    executor: Executor | None
    isolate: Literal["auto", "always", "never"] | None
    configs_timings: dict[Config, Any]
    failures: dict[Config, Any]
    tied: list[Config]
    bench_time: float | None
    cache: Any
    best_config: Config  # of the last launch
    nargs: dict[str, Any] | None
    do_bench: Callable[..., Any]
    def __init__(
        self,
        fn: KernelInterface[_F],
        arg_names: Sequence[str],
        configs: Sequence[Config] | None,
        key: Sequence[str | Bucket] | str | Bucket,
        reset_to_zero: Sequence[str] | str | None = None,
        restore_value: Sequence[str] | str | None = None,
        pre_hook: Callable[..., object] | None = None,
        post_hook: Callable[..., object] | None = None,
        prune_configs_by: Mapping[str, Any] | None = None,
        warmup: int | None = None,
        rep: int | None = None,
        use_cuda_graph: bool = False,
        do_bench: Callable[..., Any] | None = None,
        cache_results: bool = False,
        search: Space | None = None,
        executor: Executor | None = None,
        isolate: Literal["auto", "always", "never"] | None = None,
    ) -> None: ...
    def check_disk_cache(self, tuning_key: Any, configs: list[Config], bench_fn: Callable[[], object]) -> bool: ...
    def prune_configs(self, kwargs: dict[str, Any]) -> list[Config]: ...
    def run(self, *args: Any, grid: Grid, warmup: bool = False, **kwargs: Any) -> CompiledKernel: ...
    # Compiles every configuration.
    def warmup(self, *args: Any, grid: Grid, **kwargs: Any) -> list[CompiledKernel]: ...  # type: ignore[override]

def autotune(
    configs: list[Config] | tuple[Config, ...] | None = None,
    key: Sequence[str | Bucket] | str | Bucket = (),
    prune_configs_by: Mapping[str, Any] | None = None,
    reset_to_zero: Sequence[str] | str | None = None,
    restore_value: Sequence[str] | str | None = None,
    pre_hook: Callable[..., object] | None = None,
    post_hook: Callable[..., object] | None = None,
    warmup: int | None = None,
    rep: int | None = None,
    use_cuda_graph: bool = False,
    do_bench: Callable[..., Any] | None = None,
    cache_results: bool = False,
    *,
    search: Space | None = None,
    executor: Executor | None = None,
    isolate: Literal["auto", "always", "never"] | None = None,
) -> Callable[[KernelInterface[_F]], Autotuner[_F]]: ...
