"""The kernels of these tests are written for `import triton`; each test has a cache folder of its own."""

import nacre
import pytest

nacre.activate()


@pytest.fixture(autouse=True)
def cache_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("NACRE_CACHE_DIR", raising=False)


@pytest.fixture(autouse=True)
def peaks(monkeypatch):
    """Nobody measures the machine in these tests."""
    from nacre.profiler import _device

    monkeypatch.setattr(_device, "peaks", lambda: {"peak_gbps": 10.0, **{f"peak_flops{width}": 1e11 for width in (8, 16, 32, 64)}})


@pytest.fixture(autouse=True)
def no_session_is_left():
    from nacre import _core
    from nacre.profiler import _torch
    from nacre.profiler.flags import flags
    from nacre.profiler.hooks import HookManager

    yield
    _torch.fetch(goes_on=False)
    for session, *_ in _core.profiler_sessions():
        _core.profiler_close(session)
    _core.profiler_leave_scopes()
    HookManager.unregister()
    flags.profiling_on = flags.command_line = False
