"""The profiler: what a program's kernels cost, by scopes, states and lines of the program.

    import nacre.profiler as proton

    session = proton.start("vec_add_analysis", hook="triton")
    with proton.scope("forward", {"flops16": 2.0 * m * n * k}):
        kernel[grid](...)
    proton.finalize()                       # vec_add_analysis.hatchet

`nacre-proton-viewer -m time/ms vec_add_analysis.hatchet` shows the tree, `--html page.html` makes a page of it. Recording is done in C++
(`profiler/`); while no session is active, launches pay nothing.
"""

from . import context, data, flags, hooks, language, metric, mode, specs
from .profile import DEFAULT_PROFILE_NAME, activate, deactivate, finalize, profile, start
from .scope import cpu_timed_scope, enter_scope, exit_scope, scope
from .state import enter_state, exit_state, metadata_state, state

__all__ = [
    "DEFAULT_PROFILE_NAME", "activate", "context", "cpu_timed_scope", "data", "deactivate", "enter_scope", "enter_state", "exit_scope",
    "exit_state", "finalize", "flags", "hooks", "language", "metadata_state", "metric", "mode", "profile", "scope", "specs", "start", "state",
]  # fmt: skip
