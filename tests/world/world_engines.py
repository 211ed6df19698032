"""What a case runs on: cpu, interpreter, cuda:80 and cuda:90 (code for these GPUs in the simulator), cuda (the GPU of this machine)."""

from contextlib import contextmanager

import torch


def missing(engine):
    """Why the engine cannot be had here; None when it can."""
    if engine == "cuda":
        return None if torch.cuda.is_available() else "there is no GPU"
    return None if engine in ("cpu", "interpreter") or engine.startswith("cuda:") else f"no engine is called {engine}"


def device(engine):
    return "cuda" if engine == "cuda" else "cpu"


@contextmanager
def active(engine):
    import nacre
    from nacre import _core

    driver = nacre.runtime.driver.active
    if engine == "interpreter":
        driver.set_interpret_mode(True)
    elif engine.startswith("cuda:"):
        nacre.knobs.runtime.override_arch = engine.partition(":")[2]
        _core.set_active_device("simulate")
    try:
        yield
        if engine == "cuda":
            torch.cuda.synchronize()
    finally:
        if engine == "interpreter":
            driver.set_interpret_mode(False)
        elif engine.startswith("cuda:"):
            _core.set_active_device(None)
            nacre.knobs.runtime.override_arch = None
