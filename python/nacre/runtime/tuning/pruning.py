"""Which configurations are worth timing: what prune_configs_by says."""

from ..errors import AutotunerError

_NAMES = ("early_config_prune", "perf_model", "top_k")
_TORCHS_TOP_K = "configs_top_k"  # as torch.compile names it where it makes a tuner of another one and its heuristics


def checked_pruning(kernel, pruning):
    """prune_configs_by as it was given; raises for what it does not take."""
    if _TORCHS_TOP_K in pruning:
        pruning = {"top_k": pruning[_TORCHS_TOP_K], **{name: value for name, value in pruning.items() if name != _TORCHS_TOP_K}}
    unknown = [name for name in pruning if name not in _NAMES]
    if unknown:
        raise ValueError(f"prune_configs_by of {kernel} has no {', '.join(map(repr, unknown))}; it takes {', '.join(_NAMES)}")
    top = pruning.get("top_k", 1.0)
    is_share = isinstance(top, float) and 0 <= top <= 1
    if not is_share and not (isinstance(top, int) and not isinstance(top, bool) and top >= 1):
        raise (ValueError if isinstance(top, (int, float)) else TypeError)(
            f"top_k: expected a share from 0.0 to 1.0 or a whole number of at least 1, found {top!r}")  # fmt: skip
    return pruning


def prune(tuner, kwargs):
    """The configurations of a tuner that are left for a launch, at least one."""
    configs = tuner.configs
    if tuner.early_config_prune:
        configs = tuner.early_config_prune(configs, tuner.nargs, **kwargs)
        if not configs:
            raise AutotunerError(f"No valid autotuner configs after pruning: early_config_prune of {tuner.__name__} left none; it should return "
                                 "at least one config.")  # fmt: skip
    if tuner.perf_model:
        top = tuner.configs_top_k
        if isinstance(top, float):
            top = max(1, int(len(configs) * top))
        if len(configs) > top:
            given = {**tuner.nargs, **kwargs}
            estimate = {config: tuner.perf_model(**{**given, **config.all_kwargs()}) for config in configs}
            configs = sorted(estimate, key=estimate.get)[:top]
    return configs
