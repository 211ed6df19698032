"""The one fixture of the language tests: each test that asks for `engine` runs on every engine there is.

NACRE_TEST_ENGINE=NAME keeps one. NACRE_TEST_ENGINE=triton runs the tests on the Triton package instead (its compiler where
there is a GPU, its interpreter elsewhere), to check that a test expects what the language says and not what ours does.
"""

import os
import sys
import tempfile
import zlib
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

# A cache of this run alone: what is tested is this compiler, not what an earlier one left behind.
_cache = tempfile.TemporaryDirectory(prefix="nacre-language-tests-")
os.environ["TRITON_CACHE_DIR"] = _cache.name

REQUESTED = os.environ.get("NACRE_TEST_ENGINE") or None
if REQUESTED == "triton":
    import torch

    if not torch.cuda.is_available():
        os.environ["TRITON_INTERPRET"] = "1"  # read when a kernel is decorated, so before the tests are imported
else:
    import nacre

    nacre.activate()

import not_on_cuda  # noqa: E402
import not_on_hip  # noqa: E402

import engines as engine_list  # noqa: E402  (imports triton: the alias must stand by now)

ENGINES, MISSING = engine_list.find(REQUESTED)


def pytest_configure(config):
    config.addinivalue_line("markers", "ours(reason): beyond or unlike the Triton package; not run on the triton engine")


def _engines_of_this_run():
    return ["run: " + ", ".join(engine.name for engine in ENGINES), *(f"skipped: {name} ({reason})" for name, reason in MISSING)]


def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):  # one of several processes: tests/conftest.py says it for all
        session.config.workeroutput["language engines"] = _engines_of_this_run()


def pytest_terminal_summary(terminalreporter):
    if terminalreporter.config.getoption("numprocesses", None):
        return
    terminalreporter.section("language engines")
    for line in _engines_of_this_run():
        terminalreporter.line(line)


def pytest_generate_tests(metafunc):
    if "engine" in metafunc.fixturenames:
        here = [engine for engine in ENGINES if REQUESTED or not engine.leaves_out(metafunc.definition.nodeid)]
        metafunc.parametrize("engine", here, ids=lambda engine: engine.name, indirect=True)


@pytest.fixture
def engine(request):
    mark = request.node.get_closest_marker("ours")
    if mark and request.param.is_reference_implementation:
        pytest.skip("ours: " + (mark.args[0] if mark.args else "beyond Triton"))
    if request.param.is_cuda and (reason := not_on_cuda.reason(request.node.path, request.node.originalname)):
        pytest.skip(reason)
    if request.param.is_hip and (reason := not_on_hip.reason(request.node.path, request.node.originalname)):
        pytest.skip(reason)
    with request.param.active():
        yield request.param


@pytest.fixture
def rng(request):
    """Random numbers that depend on the test alone, the same on every engine."""
    name = request.node.name
    for candidate in ENGINES:
        name = name.replace(candidate.name, "")
    return np.random.default_rng(zlib.crc32(name.encode()))
