"""`make wheel`: packs what the build made into two wheels, with the standard library of Python alone.

- nacre: the package with its one extension module, for CPython 3.11 and up (stable ABI). The platform tag says the oldest
  glibc that the extension's own symbols ask for.
- nacre-triton: the alias for good (python/alias).
"""

import argparse
import base64
import hashlib
import re
import subprocess
import sys
import zipfile
from pathlib import Path

PYTHON = Path(__file__).resolve().parent
PACKAGE = PYTHON / "nacre"
LIMIT = 40 << 20


def version():
    return re.search(r'^version = "(.*)"', (PACKAGE / "_version.py").read_text(), re.MULTILINE)[1]


def platform_tag(library):
    symbols = subprocess.run(["objdump", "-T", library], capture_output=True, text=True, check=True).stdout
    minor = max(int(found) for found in re.findall(r"GLIBC_2\.(\d+)", symbols))
    return f"manylinux_2_{minor}_x86_64"


def metadata(name, summary, requires=()):
    lines = [
        "Metadata-Version: 2.1", f"Name: {name}", f"Version: {version()}", f"Summary: {summary}", "License: Apache-2.0",
        "Requires-Python: >=3.11", *(f"Requires-Dist: {requirement}" for requirement in requires),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def write_wheel(output, name, tag, files):
    """`files`: path in the wheel -> bytes. Adds the WHEEL and RECORD files; reproducible for equal contents."""
    stem = f"{name}-{version()}"
    pure = "true" if tag.endswith("none-any") else "false"
    files = dict(sorted(files.items()))
    files[f"{stem}.dist-info/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: nacre\nRoot-Is-Purelib: {pure}\nTag: {tag}\n".encode()
    record = ""
    for path, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(content)}\n"
    files[f"{stem}.dist-info/RECORD"] = (record + f"{stem}.dist-info/RECORD,,\n").encode()
    output.mkdir(parents=True, exist_ok=True)
    wheel = output / f"{stem}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path, content in files.items():
            entry = zipfile.ZipInfo(path, date_time=(2020, 1, 1, 0, 0, 0))
            entry.external_attr = (0o755 if path.endswith(".so") else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    print(f"{wheel}  {wheel.stat().st_size / (1 << 20):.1f} MiB")
    return wheel


def package_files():
    wanted = {".py", ".pyi", ".so", ".typed"}
    return {
        str(path.relative_to(PYTHON)): path.read_bytes()
        for path in PACKAGE.rglob("*")
        if path.suffix in wanted and "__pycache__" not in path.parts
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=Path("dist"))
    options = parser.parse_args()
    library = PACKAGE / "_core.abi3.so"
    if not library.exists():
        sys.exit(f"{library} is not built")

    files = package_files()
    info = f"nacre-{version()}.dist-info"
    files[f"{info}/METADATA"] = metadata("nacre", "The Triton language with a compiler of its own").encode()
    files[f"{info}/entry_points.txt"] = b"[console_scripts]\nnacre = nacre._command_line:main\n"
    files[f"{info}/LICENSE"] = (PYTHON.parent / "LICENSE").read_bytes()
    wheel = write_wheel(options.output, "nacre", f"cp311-abi3-{platform_tag(library)}", files)
    if wheel.stat().st_size > LIMIT:
        sys.exit(f"{wheel} is over {LIMIT >> 20} MiB")

    alias = (PYTHON / "alias" / "nacre_triton.py").read_bytes()
    info = f"nacre_triton-{version()}.dist-info"
    requires = [f"nacre=={version()}"]
    write_wheel(options.output, "nacre_triton", "py3-none-any", {
        "nacre_triton.py": alias,
        "nacre_triton.pth": b"import nacre_triton\n",
        f"{info}/METADATA": metadata("nacre-triton", "Makes `import triton` mean nacre", requires).encode(),
    })  # fmt: skip


if __name__ == "__main__":
    main()
