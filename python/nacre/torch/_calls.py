"""Calls of kernels by the code that Inductor writes: `kernel.run(buffer, 16, stream=stream)`.

torch's own way runs three Python functions for each. On the CPU they cost more than a small kernel does. After the first call all is known but
the values: what the generated launcher would compute is taken from its expressions, and `run` of that kernel becomes a function of C++
(python/core/launching/DirectCall.h). It goes torch's way again while a profiler, a debug mode or a hook wants to see the call.
"""

import ast
import functools

from .. import _core
from ..compiler.compiler import CompiledKernel

_COUNT = "_ACTIVE_DEBUG_MODE_COUNT"  # torch's, of the debug modes that are on
_OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%"}


class _Unknown(Exception):
    """An expression that only Python can compute."""


def shorten(heuristics):
    """Has kernels of Inductor's runtime, a module triton_heuristics, called directly from their second call on."""
    kernels = heuristics.CachingAutotuner
    torchs = kernels.run
    if getattr(torchs, "is_shortened", False):
        return

    @functools.wraps(torchs)
    def run(self, *arguments, stream, **keywords):
        result = torchs(self, *arguments, stream=stream, **keywords)
        if not keywords and type(self) is kernels and _is_settled(self):
            direct = _direct(heuristics, self, functools.partial(torchs, self))
            self.run = direct or functools.partial(torchs, self)
        return result

    run.is_shortened = True
    kernels.run = run


def _is_settled(kernel):
    """Whether torch will call the same launcher from now on."""
    if len(kernel.launchers) != 1:
        return False
    if hasattr(kernel, "_cached_launcher"):
        return kernel._cached_launcher is not None
    meta, launcher = kernel.inductor_meta, kernel.launchers[0]
    is_tuned = getattr(launcher.config, "found_by_coordesc", False) or not meta.get("coordinate_descent_tuning", False)
    is_shown = any(getattr(kernel, name, False) for name in ("triton_interpret", "dump_launch_params", "dump_launch_tensors"))
    return is_tuned and not is_shown and not launcher.store_cubin


def _switches(heuristics):
    """What makes torch look at every call, as (dictionary, name); None where that cannot be told so."""
    from torch.autograd import profiler

    found = ((vars(profiler), "_is_profiler_enabled"),)
    debug_mode = getattr(heuristics, "get_active_debug_mode", None)
    if debug_mode is None:  # a torch without one
        return found
    return (*found, (debug_mode.__globals__, _COUNT)) if _COUNT in debug_mode.__globals__ else None


def _direct(heuristics, kernel, long_way):
    (launcher,) = kernel.launchers
    compiled, switches = launcher.__globals__.get("bin"), _switches(heuristics)
    if not isinstance(compiled, CompiledKernel) or compiled._native.target != next(iter(_core.TARGETS)):  # the host
        return None
    if switches is None or tuple(compiled.src.signature) != compiled._flat_names():
        return None
    code = launcher.__code__
    parameters = code.co_varnames[: code.co_argcount]
    if parameters[-1:] != ("stream",):
        return None
    places = {name: place for place, name in enumerate(parameters[:-1])}
    names = compiled._flat_names()
    if any(type and name not in places for name, type in zip(names, compiled.slot_types)):
        return None
    try:
        grid = heuristics.GridExpr.from_meta(kernel.inductor_meta, launcher.config)
        known = {}
        for line in grid.prefix:
            (statement,) = ast.parse(line).body
            if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
                return None
            known[statement.targets[0].id] = _steps(statement.value, places, known)
        extents = tuple(_steps(ast.parse(str(one), mode="eval").body, places, known) for one in (grid.x_grid, grid.y_grid, grid.z_grid))
    except (_Unknown, SyntaxError):
        return None
    return _core.direct_call(compiled._native, compiled.slot_types, names, tuple(places.get(name, -1) for name in names), len(places), extents,
                             bool(compiled.metadata.launch_cooperative_grid), switches, long_way)  # fmt: skip


def _steps(expression, places, known):
    """An expression of a grid as steps on a stack."""
    match expression:
        case ast.Constant(value=int(number)):
            return (("number", int(number)),)
        case ast.Name(id=name) if name in known:
            return known[name]
        case ast.Name(id=name) if name in places:
            return (("argument", places[name]),)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return (*_steps(operand, places, known), ("negate", 0))
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OPERATORS:
            return (*_steps(left, places, known), *_steps(right, places, known), (_OPERATORS[type(operator)], 0))
        case ast.Call(func=ast.Name(id=("max" | "min") as name), args=[first, *others], keywords=[]) if others:
            steps = _steps(first, places, known)
            for one in others:
                steps = (*steps, *_steps(one, places, known), (name, 0))
            return steps
    raise _Unknown(ast.unparse(expression))
