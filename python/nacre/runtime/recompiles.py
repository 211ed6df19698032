"""Why a launch compiles: NACRE_JIT=warn|error, NACRE_EXPLAIN=1 and `nacre explain`."""

import sys
from contextlib import contextmanager
from contextvars import ContextVar

from .. import knobs
from .errors import UnexpectedCompileError

_MODES = ("allow", "warn", "error")
_is_tuning = ContextVar("nacre_tunes_for_a_launch", default=False)


@contextmanager
def for_a_launch():
    """Whatever is compiled inside is compiled because of a launch, although nothing is run yet: an autotuner's candidates."""
    token = _is_tuning.set(True)
    try:
        yield
    finally:
        _is_tuning.reset(token)


def _facts(signature, constants, attrs):
    """{parameter: what it is specialized to, as text}"""
    facts = {}
    for index, (name, type) in enumerate(signature.items()):
        text = f"of type {type}"
        found = [value for path, value in constants.items() if path and path[0] == index]
        if type == "constexpr" and found:
            text = f"{found[0]!r}"
        elif any(path and path[0] == index and facts_ for path, facts_ in attrs.items()):
            text += ", divisible by 16"
        facts[name] = text
    return facts


def reason(kernel, signature, constants, attrs, options):
    """One line: what is new against the specialization of this process that is most alike."""
    wanted = _facts(signature, constants, attrs)
    best = None
    for compiled in kernel._compiled_kernels():
        source = compiled.src
        if not hasattr(source, "constants"):
            continue
        had = _facts(source.signature, source.constants, source.attrs)
        changes = [f"argument {name!r} is {wanted[name]}, it was {had.get(name)}" for name in wanted if wanted[name] != had.get(name)]
        metadata = compiled.metadata
        changes += [f"option {name} is {value!r}, it was {getattr(metadata, name)!r}" for name, value in options.items()
                    if hasattr(metadata, name) and getattr(metadata, name) != value]  # fmt: skip
        if best is None or len(changes) < len(best):
            best = changes
    if best is None:
        return "it was not compiled before in this process, and the cache does not have it"
    return "; ".join(best) if best else "its source, a constant it reads, or a knob has changed"


def about_to_compile(kernel, signature, constants, attrs, options, is_warmup):
    """Called when a launch finds no kernel in memory or on disk."""
    mode = knobs.runtime.jit
    if mode not in _MODES:
        raise ValueError(f"NACRE_JIT={mode}: expected one of {', '.join(_MODES)}")
    why = reason(kernel, signature, constants, attrs, options)
    if knobs.runtime.explain:
        print(f"nacre: {kernel.__name__} is compiled: {why}", file=sys.stderr)
    if mode == "allow" or (is_warmup and not _is_tuning.get()):
        return
    text = f"a launch of {kernel.__name__} compiles: {why}"
    if mode == "error":
        raise UnexpectedCompileError(f"{text}; NACRE_JIT=error allows it only in warmup(): warm this specialization up too")
    from .tuning.reporting import warn

    warn(text)
