"""States: one frame above each kernel that is launched in them; the innermost wins."""

import functools

from .. import _core
from .flags import flags

COMPUTE_METADATA_SCOPE_NAME = "__proton_launch_metadata"
COMPUTE_METADATA_SCOPE_PREFIX = COMPUTE_METADATA_SCOPE_NAME + ":"


class state:
    """A context manager and a decorator."""

    def __init__(self, name):
        self.name = name
        self.is_open = False

    def __enter__(self):
        if flags.profiling_on:
            enter_state(self.name)
            self.is_open = True
        return self

    def __exit__(self, *error):
        if self.is_open:
            self.is_open = False
            exit_state()

    def __call__(self, function):
        @functools.wraps(function)
        def within(*args, **kwargs):
            with type(self)(self.name):
                return function(*args, **kwargs)

        return within


def get_metadata_state_name(kernel_name=None):
    return COMPUTE_METADATA_SCOPE_PREFIX + kernel_name if kernel_name else COMPUTE_METADATA_SCOPE_NAME


class metadata_state(state):
    """The state in which a kernel's launch_metadata is computed: viewers hide it."""

    def __init__(self, kernel_name=None):
        super().__init__(get_metadata_state_name(kernel_name))


def enter_state(name):
    if flags.profiling_on:
        _core.profiler_enter_state(name)


def exit_state():
    if flags.profiling_on:
        _core.profiler_exit_state()
