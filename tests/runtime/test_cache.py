"""The cache on disk: found again by other processes, and never in the way, whatever happens to its folder."""

import os
import re
import shutil
import signal
import stat
import subprocess
import time

import pytest

KERNEL = """
    import os, signal, sys, time
    import numpy as np
    import nacre
    import nacre.language as tl

    FACTOR = tl.constexpr(int(os.environ.get("FACTOR", 3)))

    @nacre.jit
    def helper(x):
        return x * FACTOR

    @nacre.jit
    def kernel(x, out, BLOCK: tl.constexpr):
        offsets = tl.arange(0, BLOCK)
        tl.store(out + offsets, helper(tl.load(x + offsets)) + 1)

    def main():
        x = np.arange(64, dtype=np.float32)
        out = np.zeros_like(x)
        kernel[(1,)](x, out, BLOCK=64)
        assert (out == x * FACTOR.value + 1).all()
        counts = nacre._core.cache_counts()
        print("compiled", counts["compiles"], "found", counts["disk_hits"])
"""
PLAIN = KERNEL + "\n    main()\n"


def entries(folder, kind):
    return sorted(folder.glob(f"??/*.{kind}"))


def test_a_second_process_does_not_compile(script, cache_folder):
    path = script.write(PLAIN)
    assert script.finish(script.start(path)) == "compiled 1 found 0\n"
    assert script.finish(script.start(path)) == "compiled 0 found 1\n"
    assert len(entries(cache_folder, "kernel")) == len(entries(cache_folder, "manifest")) == 1
    assert not list((cache_folder / "tmp").iterdir())


def test_what_python_said_is_part_of_the_key(script, cache_folder):
    path = script.write(PLAIN)
    for factor, expected in [(3, "compiled 1 found 0\n"), (4, "compiled 1 found 0\n"), (3, "compiled 0 found 1\n"), (4, "compiled 0 found 1\n")]:
        assert script.finish(script.start(path, FACTOR=str(factor))) == expected
    assert len(entries(cache_folder, "kernel")) == 2 and len(entries(cache_folder, "manifest")) == 1


def test_a_changed_helper_compiles_anew(script):
    path = script.write(PLAIN)
    script.finish(script.start(path))
    text = path.read_text()
    path.write_text(text.replace("return x * FACTOR", "return FACTOR * x"))
    assert script.finish(script.start(path)) == "compiled 1 found 0\n"
    path.write_text(text)
    assert script.finish(script.start(path)) == "compiled 0 found 1\n"


@pytest.mark.parametrize("variables", [{"NACRE_CPU_TARGET": "x86-64-v2"}, {"TRITON_DEBUG": "1"}, {"TRITON_DEFAULT_FP_FUSION": "0"}])
def test_options_are_part_of_the_key(script, variables):
    path = script.write(PLAIN)
    script.finish(script.start(path))
    assert script.finish(script.start(path, **variables)) == "compiled 1 found 0\n"
    assert script.finish(script.start(path, **variables)) == "compiled 0 found 1\n"


def test_always_compile(script):
    path = script.write(PLAIN)
    script.finish(script.start(path))
    assert script.finish(script.start(path, TRITON_ALWAYS_COMPILE="1")) == "compiled 1 found 0\n"


def test_the_folder_may_be_set_late(script, tmp_path):
    late = tmp_path / "late"
    text = KERNEL + f"\n    os.environ['TRITON_CACHE_DIR'] = {str(late)!r}\n    main()\n"
    script.run(text)
    assert len(entries(late, "kernel")) == 1


def test_processes_compile_at_once(script, cache_folder):
    path = script.write(PLAIN)
    processes = [script.start(path) for _ in range(4)]
    for process in processes:
        assert re.fullmatch(r"compiled (1 found 0|0 found 1)\n", script.finish(process))
    assert script.finish(script.start(path)) == "compiled 0 found 1\n"
    assert not list((cache_folder / "tmp").iterdir())


def test_killed_writers(script, cache_folder):
    """Processes are killed at different moments of compiling and writing; what they leave never harms."""
    path = script.write(PLAIN)
    for delay in (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35):
        process = script.start(path)
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        shutil.rmtree(cache_folder / "00", ignore_errors=True)
    # The worst moment: half of an entry in its temporary file.
    (cache_folder / "tmp").mkdir(parents=True, exist_ok=True)
    (cache_folder / "tmp" / "host.1.2.3").write_bytes(b"NACREC01 half an ent")
    out = script.finish(script.start(path))
    assert re.fullmatch(r"compiled (1 found 0|0 found 1)\n", out)
    assert script.finish(script.start(path)) == "compiled 0 found 1\n"


@pytest.mark.parametrize("kind", ["kernel", "manifest"])
@pytest.mark.parametrize("damage", ["empty", "torn", "bit", "longer", "text", "folder"])
def test_corrupted_entries(script, cache_folder, kind, damage):
    path = script.write(PLAIN)
    script.finish(script.start(path))
    (entry,) = entries(cache_folder, kind)
    data = entry.read_bytes()
    middle = len(data) // 2
    if damage == "folder":
        entry.unlink()
        entry.mkdir()
    else:
        entry.write_bytes({
            "empty": b"", "torn": data[:middle], "bit": data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1:],
            "longer": data + b"x", "text": b"this is not an entry",
        }[damage])  # fmt: skip
    assert script.finish(script.start(path)) == "compiled 1 found 0\n"
    expected = "compiled 1 found 0\n" if damage == "folder" else "compiled 0 found 1\n"
    assert script.finish(script.start(path)) == expected


def test_a_full_disk(script, cache_folder):
    """Files cannot grow beyond a few bytes, as on a disk without space."""
    limited = KERNEL + """
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
    main()
"""
    assert script.run(limited) == "compiled 1 found 0\n"
    assert not entries(cache_folder, "kernel") and not list((cache_folder / "tmp").iterdir())


def test_a_small_disk(script, tmp_path):
    if os.getuid() != 0:
        pytest.skip("mounting needs root")
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "none", str(disk)], capture_output=True).returncode != 0:
        pytest.skip("a tmpfs cannot be mounted here")
    try:
        (disk / "filler").write_bytes(b"x" * 4096)
        path = script.write(PLAIN)
        for _ in range(2):
            assert script.finish(script.start(path, TRITON_CACHE_DIR=str(disk / "cache"))) == "compiled 1 found 0\n"
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.parametrize("folder", ["/proc/nacre", "/dev/null/cache", "/dev/full"])
def test_no_folder_can_be_made(script, folder):
    assert script.finish(script.start(script.write(PLAIN), TRITON_CACHE_DIR=folder)) == "compiled 1 found 0\n"


def test_a_read_only_folder(script, cache_folder, tmp_path):
    path = script.write(PLAIN)
    script.finish(script.start(path))
    other = script.write(PLAIN.replace("+ 1", "+ 1.0"))
    # Root may write anywhere; another user may not (and may not read root's own modules: they are imported first).
    drop = KERNEL + "\n    import nacre.backends.compiler\n    if os.getuid() == 0: os.setuid(65534)\n    main()\n"
    reader = script.write(drop)
    script.finish(script.start(script.write(PLAIN)))
    for folder, _, files in os.walk(tmp_path):
        os.chmod(folder, 0o755)
        for file in files:
            os.chmod(os.path.join(folder, file), 0o644)
    for parent in tmp_path.parents:
        if parent.stat().st_mode & stat.S_IXOTH == 0:
            os.chmod(parent, parent.stat().st_mode | stat.S_IXOTH)
    before = {entry: entry.read_bytes() for entry in cache_folder.rglob("*") if entry.is_file()}
    for folder, _, _ in os.walk(cache_folder, topdown=False):
        os.chmod(folder, 0o555)
    try:
        assert script.finish(script.start(reader)) == "compiled 1 found 0\n"
    finally:
        for folder, _, _ in os.walk(cache_folder):
            os.chmod(folder, 0o755)
    assert {entry: entry.read_bytes() for entry in cache_folder.rglob("*") if entry.is_file()} == before
    assert script.finish(script.start(path)) == "compiled 0 found 1\n"
    assert script.finish(script.start(other)) == "compiled 1 found 0\n"


def test_dumped_stages(script, tmp_path):
    dump = tmp_path / "dump"
    script.run(PLAIN, TRITON_KERNEL_DUMP="1", TRITON_DUMP_DIR=str(dump))
    (folder,) = dump.iterdir()
    assert {file.name for file in folder.iterdir()} >= {"kernel.tile", "kernel.cpu", "kernel.llvm", "kernel.asm"}
    assert "tile.load" in (folder / "kernel.tile").read_text()


LIBRARY = """
    import os
    import numpy as np
    import nacre
    import nacre.language as tl
    from nacre.language import core

    LIBRARY = os.environ["LIBRARY"]

    @core.extern
    def scaled(x, _semantic=None):
        table = {(core.dtype("fp32"),): ("scaled", core.dtype("fp32"))}
        return core.extern_elementwise("scales", LIBRARY, [x], table, is_pure=True, _semantic=_semantic)

    @nacre.jit
    def kernel(x, out):
        offsets = tl.arange(0, 16)
        tl.store(out + offsets, scaled(tl.load(x + offsets)))

    x = np.ones(16, np.float32)
    out = np.zeros_like(x)
    kernel[(1,)](x, out)
    counts = nacre._core.cache_counts()
    print(out[0], "compiled", counts["compiles"], "found", counts["disk_hits"])
"""


@pytest.mark.parametrize("kind", ["ll", "so"])
def test_the_content_of_a_library_is_part_of_the_key(script, tmp_path, kind):
    """A kernel that calls a shared library is found again as well, and finds the library."""
    clang = shutil.which("clang-22") or shutil.which("clang")
    if kind == "so" and not clang:
        pytest.skip("clang compiles the library")
    library = tmp_path / f"scales.{kind}"

    def build(factor):
        if kind == "ll":
            library.write_text(f"define float @scaled(float %x) {{\n  %y = fmul float %x, {factor}.0\n  ret float %y\n}}\n")
            return
        source = tmp_path / "scales.c"
        source.write_text(f"float scaled(float x) {{ return x * {factor}; }}\n")
        subprocess.run([clang, "-shared", "-fPIC", source, "-o", library], check=True)

    path = script.write(LIBRARY)
    for factor, expected in [(2, "compiled 1 found 0"), (2, "compiled 0 found 1"), (3, "compiled 1 found 0"), (2, "compiled 0 found 1")]:
        build(factor)
        assert script.finish(script.start(path, LIBRARY=str(library))) == f"{factor}.0 {expected}\n"
