"""The fuzzer's package, for its tests. `pytest -m fuzz_kernels` runs the random kernels alone."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))


def pytest_configure(config):
    config.addinivalue_line("markers", "fuzz_kernels: random kernels on every engine, other ones each day")
