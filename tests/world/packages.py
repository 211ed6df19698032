"""The packages of tests/world by name and pinned version, brought from PyPI without what they depend on.

    python packages.py            the small ones
    python packages.py NAME...    these; `all` for every one

Of each archive only Python files and tables are kept, in build/world/<name>-<version>; the archive itself is deleted. A package that cannot be had is
said and left out: its cases are skipped.
"""

import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

KEPT = (".py", ".yaml")  # files of an archive
FOLDER = Path(__file__).parents[2] / "build" / "world"


@dataclass
class Package:
    name: str  # of the adapter
    distribution: str  # on PyPI
    version: str
    is_small: bool = False  # a megabyte or two
    companions: tuple = ()  # small packages that it cannot do without


PACKAGES = {package.name: package for package in [
    Package("liger", "liger-kernel", "0.8.5", True),
    Package("fla", "fla-core", "0.6.0", True, ("einops==0.8.1",)),
    Package("cut_cross_entropy", "cut-cross-entropy", "25.1.1", True),
    Package("conch", "conch-triton-kernels", "1.3", True),
    Package("sageattention", "sageattention", "1.0.6", True),
    Package("flag_gems", "flag-gems", "5.0.2", companions=("sqlalchemy==2.0.44", "pyyaml==6.0.3")),
    Package("gemlite", "gemlite", "0.6.0.post2", True),
    Package("helion", "helion", "1.5.1", companions=("rich==14.2.0", "filecheck==1.0.3")),
    Package("xformers", "xformers", "0.0.35"),
    Package("torchao", "torchao", "0.18.0"),
    Package("unsloth", "unsloth", "2026.10.9"),
    Package("bitsandbytes", "bitsandbytes", "0.50.2"),
    Package("vllm", "vllm", "0.33.0", companions=("einops==0.8.1",)),
]}  # fmt: skip


def folder(package):
    """Where the package's files are, or would be: put on sys.path, it is importable."""
    return FOLDER / f"{package.name}-{package.version}"


def missing(name):
    """Why the package's cases cannot run; None when they can."""
    return None if (folder(PACKAGES[name]) / "brought.json").exists() else "the package was not brought from PyPI"


def _unpack(archive, target):
    """The files to keep of a wheel or a source archive, less the folder that a source archive has around them."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            wheel.extractall(target, [name for name in wheel.namelist() if name.endswith(KEPT)])
        return
    with tarfile.open(archive) as source:
        for member in source.getmembers():
            member.name = member.name.partition("/")[2]
            if member.isfile() and member.name.endswith(KEPT):
                source.extract(member, target, filter="data")


def bring(package):
    """Why the package is not there; None when it is."""
    target = folder(package)
    if (target / "brought.json").exists():
        return None
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER) as temporary:
        command = [sys.executable, "-m", "pip", "download", "-q", "--retries", "1", "--no-deps", "--no-build-isolation", "-d", temporary,
                   f"{package.distribution}=={package.version}", *package.companions]  # fmt: skip
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=900)
        except subprocess.TimeoutExpired:
            return "the download took more than 15 minutes"
        archives = [path for path in Path(temporary).iterdir() if path.is_file()]
        if done.returncode or not archives:
            return (done.stderr.strip().splitlines() or ["pip brought nothing"])[-1]
        shutil.rmtree(target, ignore_errors=True)
        for archive in archives:
            _unpack(archive, target)
        (target / "brought.json").write_text(json.dumps({archive.name: archive.stat().st_size for archive in archives}))
    return None


def main(names):
    chosen = [p for p in PACKAGES.values() if p.is_small] if not names else list(PACKAGES.values()) if names == ["all"] else [PACKAGES[n] for n in names]
    for package in chosen:
        problem = bring(package)
        print(f"{package.distribution} {package.version}: " + (f"skipped: {problem}" if problem else "there"), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
