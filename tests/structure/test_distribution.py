"""What the distribution says of itself is what installers read."""

import sys
import zipfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "python"))
from build_wheel import Wheel  # noqa: E402
from distribution import EXTRAS, METADATA, version  # noqa: E402


def test_metadata_is_valid():
    read = pytest.importorskip("packaging.metadata").Metadata.from_email
    metadata = read(f"Metadata-Version: 2.1\nName: nacre\nVersion: {version()}\n{METADATA}", validate=True)
    assert metadata.summary and "triton" in metadata.keywords and "Typing :: Typed" in metadata.classifiers
    assert set(metadata.provides_extra) == set(EXTRAS) and str(metadata.requires_python) == ">=3.11"
    assert all(requirement.marker is not None for requirement in metadata.requires_dist), "nothing is needed but Python"


def test_a_wheel_holds_metadata_and_licence(tmp_path):
    wheel = Wheel(tmp_path, "nacre", "py3-none-any", METADATA, "")
    wheel.close(True)
    (path,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        texts = {name.rpartition("/")[2]: archive.read(name).decode() for name in archive.namelist()}
    assert "Apache License" in texts["LICENSE"] and "Provides-Extra: torch" in texts["METADATA"] and "LICENSE,sha256=" in texts["RECORD"]
