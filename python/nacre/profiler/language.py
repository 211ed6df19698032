"""Scopes and events inside of kernels, imported as `pl`.

    import triton.profiler.language as pl

    @triton.jit
    def kernel(...):
        with pl.scope("load"):
            x = tl.load(x_ptr + offsets)

A session that looks inside of kernels (`backend="instrumentation"`, or a mode such as "default") measures them, in cycles, in each
program: frames below the kernel's, and in a trace a lane for each program. Else they are not even compiled. A scope orders what
touches memory: loads and stores stay on their side of its ends, arithmetic may be moved to where it is used.

The compiler gives these functions their meaning (compiler/language/builtins/Marks.h); what stands here is for kernels that Python
runs.
"""

import sys

from .. import _core
from .flags import flags

__all__ = ["allocate_event", "disable_semantic", "enable_semantic", "end_event", "enter_scope", "exit_scope", "scope", "start_event"]

_semantics = {"triton"}  # of kernels that are measured


def _mark(kind, name):
    if flags.instrumentation_on:
        _core.profiler_mark(kind, name, sys._getframe(2).f_lineno)


def enter_scope(name):
    """What follows is measured as `name`, in each program, until exit_scope of that name; scopes nest."""
    _mark("enter_scope", name)


def exit_scope(name):
    """Ends the scope that enter_scope opened."""
    _mark("exit_scope", name)


class scope:
    """`with pl.scope(name):` a scope around statements; return, break and continue end it too."""

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        _mark("enter_scope", self.name)

    def __exit__(self, *error):
        _mark("exit_scope", self.name)


def allocate_event(name):
    """An event: something that starts at one place and ends at another, whatever scopes are open there."""
    return name


def start_event(event):
    """The event starts."""
    _mark("start_event", event)


def end_event(event):
    """The event ends."""
    _mark("end_event", event)


def _check_semantic(name):
    if name == "gluon":
        raise NotImplementedError("Gluon is not there: kernels of triton.language are measured")
    if name != "triton":
        raise ValueError(f"Unknown semantic: {name!r}; there is 'triton'")


def enable_semantic(semantic_name):
    """Scopes of kernels of that kind count, as they do from the beginning."""
    _check_semantic(semantic_name)
    _semantics.add(semantic_name)
    _changed()


def disable_semantic(semantic_name):
    """Scopes of kernels of that kind count for nothing, and are not compiled."""
    _check_semantic(semantic_name)
    _semantics.discard(semantic_name)
    _changed()


def _changed():
    from .hooks.instrumentation import InstrumentationHook

    InstrumentationHook.ask_for_marks()
