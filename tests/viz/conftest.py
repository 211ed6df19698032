"""The kernels of these tests are written for `import triton`; each test has a cache folder of its own."""

import nacre
import pytest

nacre.activate()


@pytest.fixture(autouse=True)
def cache_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("NACRE_CACHE_DIR", raising=False)
