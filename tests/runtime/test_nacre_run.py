"""The `nacre` command as a user meets it: what runs, what an error shows, and that every command explains itself."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import nacre
import pytest
from nacre._command_line import COMMANDS

KERNEL = """
import numpy as np, triton, triton.language as tl

@triton.jit
def double(x):
    offsets = tl.arange(0, 4)
    tl.store(x + offsets, tl.load(x + offsets) * 2)

x = np.arange(4, dtype=np.float32)
double[(1,)](x)
print(x.tolist())
"""


def command(*args, text=None, cwd=None):
    search_path = os.pathsep.join([str(Path(nacre.__file__).parent.parent), os.environ.get("PYTHONPATH", "")])
    return subprocess.run([sys.executable, "-m", "nacre", *map(str, args)], input=text, capture_output=True, text=True, cwd=cwd,
                          env={**os.environ, "PYTHONPATH": search_path}, timeout=600)  # fmt: skip


def test_a_program_as_text():
    result = command("run", "-c", KERNEL + "\nimport sys; print(sys.argv, __name__)", "a", "-m")
    assert result.stdout == "[0.0, 2.0, 4.0, 6.0]\n['-c', 'a', '-m'] __main__\n", result.stderr


def test_a_program_from_standard_input():
    result = command("run", "-", "a", text=KERNEL + "\nimport sys; print(sys.argv)")
    assert result.stdout == "[0.0, 2.0, 4.0, 6.0]\n['-', 'a']\n", result.stderr


@pytest.mark.parametrize("how", ["script", "text", "input", "module"])
def test_a_traceback_begins_in_the_program(script, tmp_path, how):
    program = "import triton\ndef inner():\n    1 / 0\ninner()\n"
    (tmp_path / "broken.py").write_text(program)
    arguments, name = {
        "script": (["broken.py"], "broken.py"), "text": (["-c", program], "<string>"), "input": (["-"], "<stdin>"),
        "module": (["-m", "broken"], "broken.py"),
    }[how]  # fmt: skip
    result = command("run", *arguments, text=program, cwd=tmp_path)
    lines = result.stderr.splitlines()
    assert result.returncode == 1 and lines[0] == "Traceback (most recent call last):"
    assert name in lines[1] and "line 4, in <module>" in lines[1]
    assert "line 3, in inner" in result.stderr and lines[-1] == "ZeroDivisionError: division by zero"
    assert "runpy" not in result.stderr and "_run.py" not in result.stderr


def test_a_traceback_of_the_installed_program(tmp_path):
    """As pip installs it: a script of a few lines, which is not part of the traceback either."""
    (tmp_path / "nacre").write_text("import sys\nfrom nacre._command_line import main\nsys.exit(main())\n")
    (tmp_path / "broken.py").write_text("1 / 0\n")
    result = subprocess.run([sys.executable, tmp_path / "nacre", "run", tmp_path / "broken.py"], capture_output=True, text=True, timeout=600,
                            env={**os.environ, "PYTHONPATH": str(Path(nacre.__file__).parent.parent)})  # fmt: skip
    lines = result.stderr.splitlines()
    assert lines[0] == "Traceback (most recent call last):" and "broken.py" in lines[1] and "_command_line" not in result.stderr


def test_the_tracebacks_of_errors_with_a_cause(script):
    path = script.write("""
        try:
            1 / 0
        except ZeroDivisionError as error:
            raise ValueError("no") from error
    """)
    lines = command("run", path).stderr.splitlines()
    assert lines.count("Traceback (most recent call last):") == 2 and "direct cause" in "".join(lines)
    assert not any("runpy" in line or "_run.py" in line for line in lines)


def test_a_syntax_error_shows_the_script_alone(script):
    lines = command("run", script.write("def f(:\n    pass\n")).stderr.splitlines()
    assert lines[0].startswith("  File ") and "script_1.py" in lines[0] and lines[-1].startswith("SyntaxError")


def test_an_import_that_fails_in_the_script_is_shown_there(script):
    result = command("run", script.write("import there_is_none\n"))
    assert result.returncode == 1 and result.stderr.splitlines()[-1] == "ModuleNotFoundError: No module named 'there_is_none'"
    assert "script_1.py" in result.stderr.splitlines()[1]


@pytest.mark.parametrize("arguments, text", [
    (["-m", "there_is_none"], "No module named there_is_none"), (["-m", "there.is.none"], "No module named 'there'"),
    (["-m", "email"], "'email' is a package and cannot be directly executed"), (["nothing.py"], "there is no file nothing.py"), (["-m"], "-m needs"),
    (["-c"], "-c needs"), (["."], "can't find '__main__' module"),
])  # fmt: skip
def test_what_cannot_be_run_is_said_in_one_line(tmp_path, arguments, text):
    result = command("run", *arguments, cwd=tmp_path)
    assert result.returncode != 0 and result.stdout == ""
    assert result.stderr.startswith("nacre run: ") and text in result.stderr and result.stderr.count("\n") == 1


@pytest.mark.parametrize("words", [[], *([name] for name in COMMANDS)], ids=" ".join)
@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_every_command_explains_itself(words, flag):
    result = command(*words, flag)
    assert result.returncode == 0 and result.stdout.startswith("usage: nacre") and result.stderr == ""


@pytest.mark.parametrize("words", [[], *([name] for name in COMMANDS)], ids=" ".join)
def test_a_flag_that_there_is_not_is_named(words):
    result = command(*words, "--frobnicate")
    assert result.returncode == 2 and "--frobnicate" in result.stderr and "--help shows what there is" in result.stderr and result.stdout == ""
    assert result.stderr.count("\n") == 2


@pytest.mark.parametrize("line, near", [
    ("santize asan x.py", "sanitize"), ("inof", "info"), ("viz --kernal add x.py", "--kernel"), ("sanitize asan --jsn f x.py", "--json"),
    ("info --knob", "--knobs"), ("tune lst", "list"), ("cache stat", "stats"), ("completion bsh", "bash"), ("bench --agianst old.json x.py", "--against"),
])  # fmt: skip
def test_a_word_that_is_nearly_right(line, near):
    result = command(*line.split())
    assert result.returncode == 2 and f"did you mean {near}?" in result.stderr.splitlines()[0] and result.stderr.count("\n") == 2


def test_info_says_what_kernels_meet():
    result = command("info")
    lines = {line.partition(":")[0]: line for line in result.stdout.splitlines()}
    assert {"GPU", "ptxas", "torch", "cache"} <= set(lines) and lines["knobs"] == "knobs: nacre info --knobs", result.stdout
    shown = command("info", "--knobs")
    assert shown.returncode == 0 and "runtime.num_threads" in shown.stdout, shown.stderr


def test_info_where_no_program_of_the_toolkit_is(tmp_path):
    """Not even an assembler: it says so, and ends well."""
    text = "from nacre import _toolkit; _toolkit._places = lambda name: (); from nacre._command_line import main; main(['info', '--knobs'])"
    environment = {name: value for name, value in os.environ.items() if "PTXAS" not in name} | {"NACRE_CUDA_DRIVER": str(tmp_path / "none.so")}
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env=environment)
    assert "ptxas: not found" in done.stdout and "nvidia.ptxas = None" in done.stdout and "Traceback" not in done.stderr, done.stdout + done.stderr


PROGRAMS = [["-m", "nacre.tools.compile"], ["-m", "nacre.tools.link"], ["-m", "nacre.tools.disasm"], ["-m", "nacre", "run", "examples/run_all.py"],
            ["python/build_wheel.py"], ["python/describe_language.py"], ["python/write_stubs.py"]]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program[-1])
def test_every_other_program_does_too(program):
    def start(*flags):
        return subprocess.run([sys.executable, *program, *flags], capture_output=True, text=True, cwd=Path(__file__).parents[2], timeout=600)

    asked = start("--help")
    assert asked.returncode == 0 and asked.stdout.startswith("usage:"), asked.stderr
    wrong = start("--frobnicate", "a.py")
    assert wrong.returncode == 2 and "usage:" in wrong.stderr


def test_no_argument_shows_the_usage_as_an_error():
    for words in ([], ["run"], ["completion"]):
        result = command(*words)
        assert result.returncode == 2 and "usage: nacre" in result.stderr and result.stdout == ""


@pytest.mark.parametrize("line", ["info", "info --markdown", "--help", "compile --help", "completion bash"])
def test_a_reader_that_leaves_early_is_no_error(line):
    search_path = os.pathsep.join([str(Path(nacre.__file__).parent.parent), os.environ.get("PYTHONPATH", "")])
    pipe = f"'{sys.executable}' -m nacre {line} | true"
    result = subprocess.run(["bash", "-c", pipe], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": search_path}, timeout=600)
    assert result.stderr == ""


def test_a_compiled_kernels_reader_that_leaves_early_is_no_error(script):
    search_path = os.pathsep.join([str(Path(nacre.__file__).parent.parent), os.environ.get("PYTHONPATH", "")])
    pipe = f"'{sys.executable}' -m nacre compile {script.write(KERNEL)} --kernel double --signature '*fp32' --emit llvm | true"
    result = subprocess.run(["bash", "-c", pipe], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": search_path}, timeout=600)
    assert result.stderr == ""


# ---- kernels in zip files


@pytest.mark.parametrize("kind", ["zip on the path", "pyz"])
@pytest.mark.parametrize("interpreted", ["0", "1"])
def test_kernels_in_zip_files(tmp_path, kind, interpreted, monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", interpreted)
    archive = tmp_path / ("program.pyz" if kind == "pyz" else "kernels.zip")
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("package/__init__.py", "")
        file.writestr("package/kernels.py", KERNEL)
        file.writestr("__main__.py", "import package.kernels\n")
    if kind == "pyz":
        result = command("run", archive)
    else:
        result = command("run", "-c", f"import sys; sys.path.insert(0, {str(archive)!r}); import package.kernels")
    assert result.stdout == "[0.0, 2.0, 4.0, 6.0]\n", result.stderr


def test_a_kernel_in_the_main_file_of_a_zip(tmp_path):
    with zipfile.ZipFile(tmp_path / "program.pyz", "w") as file:
        file.writestr("__main__.py", KERNEL)
    result = command("run", tmp_path / "program.pyz")
    assert result.stdout == "[0.0, 2.0, 4.0, 6.0]\n", result.stderr


def test_an_error_in_a_zipped_kernel_shows_its_line(tmp_path):
    with zipfile.ZipFile(tmp_path / "program.pyz", "w") as file:
        file.writestr("__main__.py", KERNEL.replace("* 2)", "* unknown)"))
    result = command("run", tmp_path / "program.pyz")
    assert "`unknown`" in result.stderr and "tl.store(x + offsets, tl.load(x + offsets) * unknown)" in result.stderr


# ---- completion


@pytest.mark.skipif(not shutil.which("bash"), reason="bash is not installed")
@pytest.mark.parametrize("words, expected", [
    (["nacre", ""], {*COMMANDS, "--help", "--version"}), (["nacre", "comp"], {"compile", "completion"}),
    (["nacre", "compile", "--s"], {"--signature"}), (["nacre", "compile", "k.py", "--emit", ""], {"tile", "cpu", "gpu", "gpu-scheduled", "llvm", "asm", "ptx", "amdgcn", "obj", "cubin", "hsaco", "c"}),
    (["nacre", "completion", "z"], {"zsh"}), (["nacre", "run", "-"], {"-c", "-m", "--help"}), (["nacre", "run", "scr"], set()),
])  # fmt: skip
def test_completion_in_bash(words, expected):
    text = command("completion", "bash").stdout
    quoted = " ".join(f"'{word}'" for word in words)
    text += f"COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _nacre; printf '%s\\n' \"${{COMPREPLY[@]}}\"; complete -p nacre"
    done = subprocess.run(["bash", "-c", text], capture_output=True, text=True, timeout=600)
    *found, registered = done.stdout.splitlines()
    assert set(found) - {""} == expected and "-F _nacre nacre" in registered, done.stderr


def test_completion_names_every_option_of_compile():
    from nacre._completion import WORDS

    usage = command("compile", "--help").stdout
    options = {line.split()[0] for line in usage.splitlines() if line.startswith("  -")}
    assert options | {"--help", "--kernel", "--cpu"} == set(WORDS["compile"])


@pytest.mark.parametrize("shell, text", [("zsh", "bashcompinit"), ("fish", "complete -c nacre")])
def test_completion_in_other_shells(shell, text):
    result = command("completion", shell)
    assert result.returncode == 0 and text in result.stdout
    assert command("completion", "tcsh").returncode == 2
