"""`import triton` under the alias, and the command line."""

import subprocess
import sys

SCRIPT = """
    import sys
    import triton
    import triton.language as tl
    from triton.language import load, sum as total
    import triton.runtime.driver
    from triton.runtime import driver
    from triton.compiler.errors import CompilationError
    import triton.language.extra.cuda.libdevice
    from triton.language.extra import libdevice
    import nacre
    import numpy as np

    assert triton is nacre and tl is nacre.language
    assert sys.modules["triton.language.core"] is sys.modules["nacre.language.core"]
    assert triton.runtime.driver.active.get_current_target().backend == "cpu" and driver.active is not None
    assert CompilationError is nacre.CompilationError
    assert nacre.language.__spec__.name == "nacre.language"

    @triton.jit
    def kernel(x, out, N: tl.constexpr):
        offsets = tl.arange(0, N)
        tl.store(out, total(load(x + offsets), axis=0) + triton.cdiv(N, 3) + libdevice.abs(-1.0))

    x, out = np.arange(8, dtype=np.float32), np.zeros(1, np.float32)
    kernel[(1,)](x, out, N=8)
    assert out[0] == x.sum() + 3 + 1
    try:
        import triton.no_such_module
    except ModuleNotFoundError as error:
        assert error.name == "triton.no_such_module"
    else:
        raise AssertionError
    import importlib.metadata
    assert importlib.metadata.version("triton").startswith("3.")
    print("right", sys.argv[1:])
"""


def command(script, *args, **kwargs):
    import nacre
    from pathlib import Path

    return subprocess.run([sys.executable, "-m", "nacre", *map(str, args)], capture_output=True, text=True,
                          cwd=Path(nacre.__file__).parent.parent, **kwargs)  # fmt: skip


def test_run_a_script(script):
    path = script.write(SCRIPT)
    result = command(script, "run", path, "a", "-m", "b")
    assert result.stdout == "right ['a', '-m', 'b']\n", result.stderr


def test_run_a_module(script, tmp_path):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__main__.py").write_text("import sys, triton, nacre\nprint(triton is nacre, sys.argv[1:])\n")
    import nacre
    from pathlib import Path

    process = subprocess.run([sys.executable, "-m", "nacre", "run", "-m", "package", "x"], capture_output=True, text=True, cwd=tmp_path,
                             env={**__import__("os").environ, "PYTHONPATH": str(Path(nacre.__file__).parent.parent)})  # fmt: skip
    assert process.stdout == "True ['x']\n", process.stderr


def test_activate(script):
    assert script.run("\n    import nacre\n    nacre.activate()\n    nacre.activate()\n" + SCRIPT, "z") == "right ['z']\n"


def test_children_have_the_alias(script, tmp_path):
    """Also where only this process knows where nacre is."""
    import nacre
    from pathlib import Path

    text = f"""
        import subprocess, sys
        sys.path.insert(0, {str(Path(nacre.__file__).parent.parent)!r})
        import nacre
        nacre.activate()
        child = "import triton, triton.language as tl, nacre; print(triton is nacre, tl is nacre.language)"
        print(subprocess.run([sys.executable, "-c", child], capture_output=True, text=True, check=True).stdout)
    """
    assert script.finish(script.start(script.write(text), PYTHONPATH="")) == "True True\n\n"


def test_activate_too_late(script):
    text = """
        import sys, types
        sys.modules["triton"] = types.ModuleType("triton")
        import nacre
        try:
            nacre.activate()
        except RuntimeError as error:
            print("imported already" in str(error))
    """
    assert script.run(text) == "True\n"


def test_exit_status_and_errors_of_scripts(script):
    assert command(script, "run", script.write("raise SystemExit(3)")).returncode == 3
    failed = command(script, "run", script.write("import triton\n1 / 0"))
    assert failed.returncode == 1 and "ZeroDivisionError" in failed.stderr
    missing = command(script, "run", "/no/such/script.py")
    assert missing.returncode == 2 and "there is no file" in missing.stderr
    assert command(script, "unknown").returncode == 2


def test_info(script):
    result = command(script, "info")
    assert result.returncode == 0, result.stderr
    for text in ("targets: cpu", "cache:", "nacre info --knobs"):
        assert text in result.stdout
    knobs = command(script, "info", "--knobs")
    assert knobs.returncode == 0 and "runtime.num_threads" in knobs.stdout and "TRITON_CACHE_DIR" in knobs.stdout


def test_import_needs_nothing_heavy(script):
    """What costs time to import is imported when it is needed (`make bench` measures the time)."""
    script.run("""
        import sys
        before = set(sys.modules)  # what this machine's site imports is no business of ours
        import nacre
        assert not {"torch", "numpy", "inspect"} & (set(sys.modules) - before)
    """)


def test_the_page_about_knobs_is_up_to_date():
    from pathlib import Path

    from nacre._command_line import knob_table

    page = Path(__file__).parents[2] / "docs" / "knobs.md"
    assert page.read_text() == knob_table(), "run: nacre info --markdown > docs/knobs.md"
