"""Tests of nacre.kernels: each operator against float64, on every engine there is. `engine` is one of tests/language/engines.py; there a test
runs a small case. Cases over many shapes and types run on the CPU alone."""

import os
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

import nacre

nacre.activate()
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "language")]

# A cache of this run alone, as in tests/language.
_cache = tempfile.TemporaryDirectory(prefix="nacre-kernels-tests-")
os.environ["TRITON_CACHE_DIR"] = _cache.name

import engines as engine_list  # noqa: E402  (imports triton: the alias must stand by now)

ENGINES, _ = engine_list.find(os.environ.get("NACRE_TEST_ENGINE") or None)


@contextmanager
def blocks_of_a_gpu(engine):
    """The simulated GPU is the current device for whoever asks, so that operators choose its blocks."""
    from nacre.backends.nvidia.driver import SimulatedDriver
    from nacre.runtime.driver import driver

    if not isinstance(engine, engine_list.Simulated):
        yield
        return
    driver.set_active(SimulatedDriver())
    try:
        yield
    finally:
        driver.reset_active()


@pytest.fixture(params=ENGINES, ids=lambda engine: engine.name)
def engine(request):
    with request.param.active(), blocks_of_a_gpu(request.param):
        yield request.param
