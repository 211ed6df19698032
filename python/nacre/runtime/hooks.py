"""Launch hooks: called around every launch when there are any, with an object whose `.get()` is a dictionary: the kernel's name,
its function, the stream, and what the kernel's `launch_metadata` adds."""

from .. import _core


class LazyDict:
    """A dictionary that is completed when somebody looks at it."""

    def __init__(self, data):
        self.data = data
        self.extras = []

    def add(self, function, args):
        self.extras.append((function, args))

    def get(self):
        while self.extras:
            function, args = self.extras.pop(0)
            self.data.update(function(*args))
        return self.data


def refresh(enter_hooks, exit_hooks):
    """Tells the launch path whether to call hooks."""
    if not enter_hooks and not exit_hooks:
        _core.set_launch_hooks(None, None)
        return

    def enter(compiled, kernel, grid, arguments):
        metadata = launch_metadata(compiled, kernel, grid, arguments)
        if enter_hooks:
            enter_hooks(metadata)
        return metadata

    def leave(metadata):
        if exit_hooks:
            exit_hooks(metadata)

    _core.set_launch_hooks(enter, leave)


def launch_metadata(compiled, kernel, grid, arguments):
    """What hooks are told of a launch. `compiled` is None when Python runs the kernel: `function` is then Python's."""
    if compiled is None:
        facts = _interpreted_metadata(kernel, arguments)
        metadata = LazyDict({"name": facts.name, "function": kernel.fn, "stream": 0})
    else:
        facts = compiled.metadata
        metadata = LazyDict({"name": compiled.name, "function": compiled.function, "stream": 0})
    if kernel is not None and kernel.launch_metadata is not None:
        metadata.add(kernel.launch_metadata, (grid, facts, arguments))
    return metadata


def _interpreted_metadata(kernel, arguments):
    from ..compiler.compiler import KernelMetadata

    options = {name: arguments[name] for name in ("num_warps", "num_stages", "num_ctas")}
    return KernelMetadata(**{**kernel._default_options(), **options}, name=kernel.__name__, hash="", target=None, shared=0)
