"""What importlib.metadata says about `triton` while the alias stands."""

from importlib.metadata import Distribution

from . import knobs
from ._version import version


class AliasDistribution(Distribution):
    def read_text(self, filename):
        if filename in ("METADATA", "PKG-INFO"):
            return f"Metadata-Version: 2.1\nName: triton\nVersion: {knobs.language.triton_version}\nSummary: nacre {version} under the name of triton\n"
        return None

    def locate_file(self, path):
        from pathlib import Path

        return Path(__file__).parent / path
