"""Launch hooks: called around every launch when there are any, with an object whose `.get()` is a dictionary."""

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
        metadata = LazyDict({"name": compiled.name, "function": compiled.function, "stream": 0})
        if kernel.launch_metadata is not None:
            metadata.add(kernel.launch_metadata, (grid, compiled.metadata, arguments))
        enter_hooks(metadata)
        return metadata

    _core.set_launch_hooks(enter, exit_hooks)
