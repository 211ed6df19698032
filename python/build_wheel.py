"""Makes the wheels: nacre, for CPython 3.11 and up, and (with --alias) nacre-triton, which makes `import triton` mean it for good.

Needs nothing but Python and what `make install` left in the package: the extension, the library with the compiler, the stubs. Checks what it
made: the size, the tag's promise about the C library, and that the extension needs our library alone, which needs libc, libm and the unwinder.
"""

import argparse
import base64
import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from distribution import ENTRY_POINTS, METADATA, version

HERE = Path(__file__).resolve().parent
LARGEST = 33 << 20
COMPRESSION = 9
GLIBC = (2, 34)
LIBC = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "ld-linux-x86-64.so.2"}
# Each library and what it may need.
LIBRARIES = {"_core.abi3.so": {"libnacre.so", "libc.so.6"}, "cpp/lib/libnacre.so": {*LIBC, "libgcc_s.so.1"}}


def find_program(*names):
    for name in names:
        if shutil.which(name):
            return name
    sys.exit(f"none of {', '.join(names)} is installed")


def check_library(path, allowed):
    """The newest symbols and the libraries that it asks for."""
    readelf = find_program("llvm-readelf-22", "readelf")
    dynamic = subprocess.run([readelf, "-dW", path], capture_output=True, text=True, check=True).stdout
    needed = set(re.findall(r"Shared library: \[([^\]]+)\]", dynamic))
    if needed - allowed:
        sys.exit(f"{path.name} needs {', '.join(sorted(needed - allowed))}")
    searched = re.findall(r"Library (?:rpath|runpath): \[([^\]]*)\]", dynamic)
    if [folder for folder in searched if not folder.startswith("$ORIGIN/")]:
        sys.exit(f"{path.name} looks for libraries in {', '.join(searched)}, and not only in the package")
    symbols = subprocess.run([readelf, "--dyn-syms", "-W", path], capture_output=True, text=True, check=True).stdout
    newest = max(tuple(map(int, found)) for found in re.findall(r"@GLIBC_(\d+)\.(\d+)", symbols))
    if newest > GLIBC:
        users = sorted(set(re.findall(rf"(\S+)@+GLIBC_{newest[0]}\.{newest[1]}\b", symbols)))
        sys.exit(f"{path.name} needs glibc {newest[0]}.{newest[1]} (for {', '.join(users)}); the wheel promises {GLIBC[0]}.{GLIBC[1]}")


class Wheel:
    """A wheel being written; RECORD comes last."""

    def __init__(self, output, name, tag, metadata, entry_points=""):
        self.folder = f"{name.replace('-', '_')}-{version()}.dist-info"
        self.path = output / f"{name.replace('-', '_')}-{version()}-{tag}.whl"
        self.archive = zipfile.ZipFile(self.path, "w", zipfile.ZIP_DEFLATED, compresslevel=COMPRESSION)
        self.record = []
        self.tag = tag
        self.metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version()}\n{metadata}"
        self.entry_points = entry_points

    def add(self, name, data, executable=False):
        info = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))  # the same bytes for the same contents
        info.compress_type = zipfile.ZIP_DEFLATED
        info.external_attr = (0o755 if executable else 0o644) << 16
        self.archive.writestr(info, data, compresslevel=COMPRESSION)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(data)}")

    def close(self, pure):
        self.add(f"{self.folder}/METADATA", self.metadata.encode())
        self.add(f"{self.folder}/LICENSE", (HERE.parent / "LICENSE").read_bytes())
        wheel = f"Wheel-Version: 1.0\nGenerator: nacre\nRoot-Is-Purelib: {str(pure).lower()}\nTag: {self.tag}\n"
        self.add(f"{self.folder}/WHEEL", wheel.encode())
        if self.entry_points:
            self.add(f"{self.folder}/entry_points.txt", self.entry_points.encode())
        self.record.append(f"{self.folder}/RECORD,,")
        self.archive.writestr(f"{self.folder}/RECORD", "\n".join(self.record) + "\n")
        self.archive.close()
        return self.path


def build_nacre(output):
    libraries = {HERE / "nacre" / name: allowed for name, allowed in LIBRARIES.items()}
    for path in [*libraries, HERE / "nacre" / "pages" / "d3.js", HERE / "nacre" / "language" / "_functions.pyi"]:
        if not path.exists():
            sys.exit(f"{path} is not there: run `make install` first (D3 comes from Debian's node-d3)")
    tag = f"cp311-abi3-manylinux_{GLIBC[0]}_{GLIBC[1]}_x86_64"
    wheel = Wheel(output, "nacre", tag, METADATA, ENTRY_POINTS)
    for path in sorted((HERE / "nacre").rglob("*")):
        if path.suffix in (".py", ".pyi", ".typed", ".h", ".cmake", ".html", ".css", ".js") and "__pycache__" not in path.parts:
            wheel.add(str(path.relative_to(HERE)), path.read_bytes())
    with tempfile.TemporaryDirectory() as folder:
        for library, allowed in libraries.items():
            stripped = Path(folder) / library.name
            shutil.copy(library, stripped)
            subprocess.run([find_program("llvm-strip-22", "strip"), "--strip-all", stripped], check=True)
            check_library(stripped, allowed)
            wheel.add(str(library.relative_to(HERE)), stripped.read_bytes(), executable=True)
    path = wheel.close(pure=False)
    if path.stat().st_size > LARGEST:
        sys.exit(f"{path.name} has {path.stat().st_size / 2**20:.1f} MiB, more than {LARGEST >> 20}")
    return path


def build_alias(output):
    """No file of it stands where Triton has one: alias/_nacre_triton.py says how it comes about all the same. triton-stubs is for type checkers
    alone, which look there for `import triton`."""
    stubs = sorted((HERE / "alias" / "triton-stubs").rglob("*.pyi"))
    if not stubs:
        sys.exit(f"{HERE / 'alias' / 'triton-stubs'} is not there: run `make install` first")
    metadata = f"Summary: `import triton` gives nacre where no Triton is installed\nLicense: Apache-2.0\nRequires-Python: >=3.11\nRequires-Dist: nacre=={version()}\n"
    wheel = Wheel(output, "nacre-triton", "py3-none-any", metadata)
    wheel.add("_nacre_triton.py", (HERE / "alias" / "_nacre_triton.py").read_bytes())
    wheel.add("nacre_triton.pth", b"import _nacre_triton\n")
    for path in stubs:
        wheel.add(str(path.relative_to(HERE / "alias")), path.read_bytes())
    return wheel.close(pure=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=HERE.parent / "dist")
    parser.add_argument("--alias", action="store_true", help="also make nacre-triton")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    for build in [build_nacre] + [build_alias] * arguments.alias:
        path = build(arguments.output)
        print(f"{path} ({path.stat().st_size / 2**20:.1f} MiB)")


if __name__ == "__main__":
    main()
