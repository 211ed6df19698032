"""The folder of compiled kernels: its limit, `nacre cache`, and what a launch may compile (NACRE_JIT, nacre explain, nacre warmup)."""

import os
import time

import numpy as np
import pytest

import nacre
import nacre.language as tl
from nacre import _core
from nacre.runtime.errors import UnexpectedCompileError


def make():
    @nacre.jit
    def kernel(x, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(x + offsets, tl.load(x + offsets, mask=offsets < n) + 1, mask=offsets < n)

    return kernel


def fill(blocks):
    """Each test has blocks of its own: what this process holds in memory is not written again."""
    for block in blocks:
        make()[(1,)](np.zeros(8, np.float32), 8, BLOCK=block)


def kernels(folder):
    return [row for row in _core.cache_files(str(folder)) if row[0].endswith(".kernel")]


def test_what_was_used_least_recently_goes_first(cache_folder):
    fill([1, 2, 4, 8])
    rows = sorted(kernels(cache_folder))
    assert len(rows) == 4
    ages = {row[0].removesuffix(".kernel"): 1000 * number for number, row in enumerate(rows)}  # the first is the youngest
    for path, _, _ in _core.cache_files(str(cache_folder)):
        age = ages.get(os.path.splitext(path)[0], -100)  # its kernel's and its stages'; manifests are younger
        os.utime(path, (time.time() - age,) * 2)
    total = sum(row[1] for row in _core.cache_files(str(cache_folder)))
    assert _core.limit_cache(str(cache_folder), total) == 0
    assert _core.limit_cache(str(cache_folder), total - 1) > 0
    left = {row[0] for row in kernels(cache_folder)}
    assert rows[0][0] in left and rows[3][0] not in left
    stages = {row[0] for row in _core.cache_files(str(cache_folder)) if row[0].endswith(".stages")}
    assert rows[0][0].replace(".kernel", ".stages") in stages and rows[3][0].replace(".kernel", ".stages") not in stages
    assert _core.limit_cache(str(cache_folder), 0) == 0  # no limit


def test_the_limit_holds_without_being_asked(cache_folder, script):
    fill([16, 32])
    for row in _core.cache_files(str(cache_folder)):
        os.truncate(row[0], 2 << 20)
        with open(row[0], "r+b") as file:
            file.write(b"x" * (1 << 20))
    script.run("""
        import numpy as np, nacre, nacre.language as tl

        @nacre.jit
        def other(x):
            tl.store(x, 1.0)

        other[(1,)](np.zeros(1, np.float32))
    """, NACRE_CACHE_MAX_MEGABYTES="2")  # fmt: skip
    assert sum(row[1] for row in _core.cache_files(str(cache_folder))) <= 2 << 20


def test_reading_an_entry_makes_it_young_again(cache_folder, script):
    program = script.write("""
        import numpy as np, nacre, nacre.language as tl

        @nacre.jit
        def kernel(x):
            tl.store(x, 1.0)

        kernel[(1,)](np.zeros(1, np.float32))
    """)
    script.finish(script.start(program))
    (row,) = kernels(cache_folder)
    os.utime(row[0], (1, 1))
    script.finish(script.start(program))
    assert os.stat(row[0]).st_mtime > time.time() - 600


def command(*words, capsys):
    from nacre._command_line import main

    status = main(list(words))
    told = capsys.readouterr()
    return status, told.out, told.err


def test_the_command(cache_folder, capsys):
    fill([64, 128])
    status, out, _ = command("cache", "stats", capsys=capsys)
    assert status == 0 and str(cache_folder) in out and "2 kernels, 2 with their stages, 2 manifests" in out
    assert command("cache", "verify", capsys=capsys)[:2] == (0, "6 entries read, 0 damaged\n")
    damaged = kernels(cache_folder)[0][0]
    with open(damaged, "r+b") as file:
        file.seek(100)
        file.write(b"damage")
    status, out, _ = command("cache", "verify", capsys=capsys)
    assert status == 1 and f"damaged, removed: {damaged}" in out and not os.path.exists(damaged)
    assert "0 entries removed" in command("cache", "clear", "30", capsys=capsys)[1]
    assert "5 entries removed" in command("cache", "clear", capsys=capsys)[1] and not kernels(cache_folder)
    fill([512])
    for words in ([], ["dance"], ["clear", "soon"], ["clear", "-1"], ["clear", "nan"], ["stats", "more"]):
        assert command("cache", *words, capsys=capsys)[0] == 2
    assert kernels(cache_folder) and "clear -1: expected a number of days" in command("cache", "clear", "-1", capsys=capsys)[2]


def test_the_folder_is_the_users_alone(cache_folder):
    fill([256])
    assert os.stat(cache_folder).st_mode & 0o777 == 0o700


def test_a_launch_that_compiles_can_be_an_error(monkeypatch):
    @nacre.jit
    def kernel(x, n, BLOCK: tl.constexpr):
        offsets = tl.arange(0, BLOCK)
        tl.store(x + offsets, n, mask=offsets < n)

    x = np.zeros(64, np.float32)
    kernel.warmup(x, 48, grid=(1,), BLOCK=16)
    monkeypatch.setenv("NACRE_JIT", "error")
    kernel[(1,)](x, 48, BLOCK=16)  # warmed up
    with pytest.raises(UnexpectedCompileError, match="argument 'BLOCK' is 32, it was 16.*NACRE_JIT=error"):
        kernel[(1,)](x, 48, BLOCK=32)
    with pytest.raises(UnexpectedCompileError, match=r"argument 'n' is of type i32, it was of type i32, divisible by 16"):
        kernel[(1,)](x, 47, BLOCK=16)
    with pytest.raises(UnexpectedCompileError, match=r"argument 'x' is of type \*fp64, divisible by 16, it was of type \*fp32"):
        kernel[(1,)](np.zeros(64), 48, BLOCK=16)
    kernel.warmup(x, 48, grid=(1,), BLOCK=64)  # still allowed
    monkeypatch.setenv("NACRE_JIT", "warn")
    with pytest.warns(RuntimeWarning, match="a launch of kernel compiles: argument 'BLOCK' is 8"):
        kernel[(1,)](x, 48, BLOCK=8)
    monkeypatch.setenv("NACRE_JIT", "perhaps")
    with pytest.raises(ValueError, match="NACRE_JIT=perhaps: expected one of allow, warn, error"):
        kernel[(1,)](x, 48, BLOCK=4)


def test_what_the_disk_has_is_no_compile(script):
    program = script.write("""
        import numpy as np, nacre, nacre.language as tl

        @nacre.jit
        def kernel(x):
            tl.store(x, 1.0)

        kernel[(1,)](np.zeros(1, np.float32))
    """)
    script.finish(script.start(program))
    script.finish(script.start(program, NACRE_JIT="error"))


def test_explain(script, tmp_path):
    program = script.write("""
        import numpy as np, triton, triton.language as tl

        @triton.jit
        def kernel(x, n):
            tl.store(x, n)

        for n in (2, 3, 16):
            kernel[(1,)](np.zeros(1, np.int32), n)
    """)
    main = script.write("import sys; from nacre._command_line import main; sys.exit(main(sys.argv[1:]))")
    process = script.start(main, "explain", program)
    out, error = process.communicate(timeout=600)
    lines = [line for line in error.splitlines() if line.startswith("nacre: kernel is compiled")]
    assert process.returncode == 0 and len(lines) == 2 and "was not compiled before" in lines[0]
    assert "argument 'n' is of type i32, divisible by 16, it was of type i32" in lines[1]


def test_warming_up(script, cache_folder):
    program = script.write("""
        import numpy as np, triton, triton.language as tl

        @triton.jit
        def kernel(x, BLOCK: tl.constexpr):
            tl.store(x + tl.arange(0, BLOCK), 1.0)

        def warmup():
            for block in (16, 32, 64):
                kernel.warmup(np.zeros(64, np.float32), grid=(1,), BLOCK=block)
    """)
    main = script.write("import sys; from nacre._command_line import main; sys.exit(main(sys.argv[1:]))")
    assert "3 kernels compiled, 0 were there" in script.finish(script.start(main, "warmup", program))
    assert len(kernels(cache_folder)) == 3
    assert "0 kernels compiled, 3 were there" in script.finish(script.start(main, "warmup", program))
    process = script.start(main, "warmup", main)
    process.communicate(timeout=600)
    assert process.returncode == 2
    process = script.start(main, "warmup", program.parent)
    assert "is not a file of Python" in process.communicate(timeout=600)[1] and process.returncode == 2
    broken = script.write("def warmup(): 1 / 0")
    process = script.start(main, "warmup", broken)
    error = process.communicate(timeout=600)[1]
    assert process.returncode == 1 and error.count("File ") == 1 and str(broken) in error and "ZeroDivisionError" in error


def test_what_is_warmed_up_serves_the_program(script, tmp_path):
    """However the program is run, and however its path is spelled: a kernel of a file is one kernel."""
    program = script.write("""
        import sys
        import numpy as np, triton, triton.language as tl

        @triton.autotune(configs=[triton.Config({"BLOCK": block}) for block in (16, 32)], key=["n"])
        @triton.jit
        def tuned(x, n, BLOCK: tl.constexpr):
            offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            tl.store(x + offsets, 1.0, mask=offsets < n)

        def warmup():
            tuned.warmup(np.zeros(64, np.float32), 50, grid=(1,))
            tuned.fn.warmup(np.zeros(64, np.float32), 50, BLOCK=64, grid=(1,))

        def main():
            x = np.zeros(64, np.float32)
            tuned[lambda meta: (triton.cdiv(50, meta["BLOCK"]),)](x, 50)
            tuned.fn[(1,)](x, 50, BLOCK=64)
            assert x.sum() == 50

        if __name__ == "__main__":
            main()
    """)
    main = script.write("import os, sys; os.chdir(sys.argv[1]); from nacre._command_line import main; sys.exit(main(sys.argv[2:]))")
    assert "3 kernels compiled" in script.finish(script.start(main, tmp_path, "warmup", program.name))
    imported = f"import {program.stem}; {program.stem}.main()"
    for words in (["run", program.name], ["run", f"./{program.name}"], ["run", program], ["run", "-m", program.stem], ["run", "-c", imported]):
        script.finish(script.start(main, tmp_path, *words, NACRE_JIT="error"))
