"""Hooks of launches and compiles: listeners to the runtime's events, there while somebody has set any. Launch hooks are called with
an object whose `.get()` is a dictionary: the kernel's name, its function, the stream, and what the kernel's `launch_metadata` adds."""

import contextlib
import threading

from .. import _core, knobs


class LazyDict:
    """A dictionary that is completed when somebody looks at it."""

    def __init__(self, data):
        self.data = data
        self.extras = []
        self.facts = None  # the kernel's metadata

    def add(self, function, args):
        self.extras.append((function, args))

    def get(self):
        while self.extras:
            function, args = self.extras.pop(0)
            self.data.update(function(*args))
        return self.data


_timing = threading.local()


@contextlib.contextmanager
def timed():
    """Launches of this thread meanwhile are a benchmark's: tools that show launches leave them out."""
    before = is_timed()
    _timing.is_on = True
    try:
        yield
    finally:
        _timing.is_on = before


def is_timed():
    return getattr(_timing, "is_on", False)


_recorders = ()  # of tools: (before, after)


def add_recorder(before, after=None):
    """Calls `before` with (compiled, kernel, grid, dictionary of the arguments) before each launch, and `after` with what it gave when the
    launch went well. Gives what remove_recorder takes."""
    global _recorders
    pair = before, after
    _recorders = (*_recorders, pair)
    _refresh()
    return pair


def remove_recorder(pair):
    global _recorders
    _recorders = tuple(other for other in _recorders if other is not pair)
    _refresh()


def _refresh():
    refresh(knobs.runtime.launch_enter_hook, knobs.runtime.launch_exit_hook)


def refresh(enter_hooks, exit_hooks):
    """Makes the launch hooks listeners, or takes them away."""
    recorders = _recorders
    if not enter_hooks and not exit_hooks and not recorders:
        _core.set_launch_hooks(None, None)
        return

    def enter(compiled, kernel, grid, arguments):
        tokens = [before(compiled, kernel, grid, arguments) for before, _ in recorders]
        metadata = launch_metadata(compiled, kernel, grid, arguments)
        if enter_hooks:
            enter_hooks(metadata)
        return metadata, tokens

    def leave(entered):
        metadata, tokens = entered
        if exit_hooks:
            exit_hooks(metadata)
        for (_, after), token in zip(recorders, tokens):
            if after is not None:
                after(token)

    _core.set_launch_hooks(enter, leave)


def refresh_compile(cache_hook, post_compile_hook):
    """The same for compiles: `jit_cache_hook`, whose true result skips the compile, and `jit_post_compile_hook`."""
    if cache_hook is None and post_compile_hook is None:
        _core.set_compile_hooks(None, None)
        return

    def before(kernel, *facts):
        return cache_hook is not None and bool(cache_hook(**kernel._hook_arguments(*facts)))

    def after(kernel, *facts):
        if post_compile_hook is not None:
            post_compile_hook(**kernel._hook_arguments(*facts))

    _core.set_compile_hooks(before, after)


def launch_metadata(compiled, kernel, grid, arguments):
    """What hooks are told of a launch. `compiled` is None when Python runs the kernel: `function` is then Python's."""
    if compiled is None:
        facts = kernel._interpreted_metadata(arguments)
        metadata = LazyDict({"name": facts.name, "function": kernel.fn, "stream": 0})
    else:
        facts = compiled.metadata
        metadata = LazyDict({"name": compiled.name, "function": compiled.function, "stream": 0})
    metadata.facts = facts
    if kernel is not None and kernel.launch_metadata is not None:
        metadata.add(kernel.launch_metadata, (grid, facts, arguments))
    return metadata


def _knobs_changed():
    refresh(knobs.runtime.launch_enter_hook, knobs.runtime.launch_exit_hook)
    refresh_compile(knobs.runtime.jit_cache_hook, knobs.runtime.jit_post_compile_hook)


knobs.listen("hooks", _knobs_changed)
