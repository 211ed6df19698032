"""`nacre viz` as it is typed: scripts that raise, on terminals that have ASCII alone, with numbers that JSON does not have, and interrupted."""

import json
import os
import signal
import subprocess
import sys

import pytest

pytest.importorskip("torch")
SCRIPT = """
import torch, triton
import triton.language as tl

@triton.jit
def größe(x, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i) + 1)

größe[(1,)](torch.tensor([float("nan"), float("inf"), -float("inf"), 1.0]), BLOCK=4)
raise KeyError("the script's own")
"""
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def run(tmp_path, *arguments, **environment):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    command = [sys.executable, "-m", "nacre", *arguments, str(script)]
    return subprocess.run(command, capture_output=True, timeout=600, env={**os.environ, **environment})


def test_what_was_launched_before_is_shown(tmp_path):
    page = tmp_path / "page.html"
    process = run(tmp_path, "viz", "-o", str(page), **ASCII)
    assert process.returncode == 1 and b"KeyError" in process.stderr and b"1 launch\n" in process.stderr, process.stderr
    assert r"gr\u00f6\u00dfe" in page.read_text(encoding="utf-8") and b"Unicode" not in process.stderr
    shown = run(tmp_path, "viz", "--text", **ASCII)
    assert b"launch 0: gr??e" in shown.stdout and b"Unicode" not in shown.stderr


def test_json_is_json(tmp_path):
    file = tmp_path / "launches.json"
    run(tmp_path, "viz", "--json", "-o", str(file))

    def refuse(word):
        raise AssertionError(word)

    text = file.read_text()
    assert json.loads(text, parse_constant=refuse)["launches"] and '"nan"' in text and '"-inf"' in text


@pytest.mark.parametrize("arguments, said", [
    (["--lanes", "-5"], "--lanes needs a number"), (["-o", "/nowhere/at/all.html"], "-o /nowhere/at/all.html: No such file"), (["--bad"], "no option --bad"),
])  # fmt: skip
def test_what_is_refused_before_anything_runs(arguments, said, tmp_path):
    process = run(tmp_path, "viz", *arguments)
    assert process.returncode == 2 and said.encode() in process.stderr and b"Traceback" not in process.stderr


@pytest.mark.parametrize("command", [["sanitize", "asan"], ["sanitize", "tsan"], ["viz", "--text"]], ids=" ".join)
def test_interrupted(command, tmp_path):
    """A kernel that does not end is left."""
    script = tmp_path / "script.py"
    script.write_text("""
import signal
import numpy as np, triton
import triton.language as tl

signal.signal(signal.SIGINT, signal.default_int_handler)  # where the parent ignores it, so would we

@triton.jit
def endless(x, n):
    i = 0
    while i < n:
        tl.store(x, i)
        i = tl.minimum(i + 1, n - 1)

print("started", flush=True)
endless[(1,)](np.zeros(1, np.int32), 2**30)
""")
    process = subprocess.Popen([sys.executable, "-m", "nacre", *command, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "started\n"
        for _ in range(20):  # it may still be compiling
            process.send_signal(signal.SIGINT)
            try:
                process.communicate(timeout=15)
                break
            except subprocess.TimeoutExpired:
                continue
        assert process.returncode not in (None, 0)
    finally:
        process.kill()


# ---- as a user types it


@pytest.fixture
def viz(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT.replace('raise KeyError("the script\'s own")', "import sys\nprint(sys.argv[1:])").replace("größe", "add"))
    (tmp_path / "empty.py").write_text("print('no kernel')\n")

    def typed(line):
        return subprocess.run([sys.executable, "-m", "nacre", *line.split()], capture_output=True, text=True, timeout=600, cwd=tmp_path)

    return typed


def test_options_stand_before_the_script(viz, tmp_path):
    process = viz("viz -o page.html script.py -o other.html --kernel x")
    assert process.stdout == "['-o', 'other.html', '--kernel', 'x']\n" and process.returncode == 0
    told = "nacre viz: --kernel went to the program; put it before the program if nacre viz is meant\n"
    assert process.stderr == told + "page.html: 1 launch\n"  # -o was given to us too
    assert "add" in (tmp_path / "page.html").read_text() and not (tmp_path / "other.html").exists() and not (tmp_path / "viz.html").exists()


def test_a_module_and_a_text_are_programs_too(viz, tmp_path):
    assert viz("viz --text -m script -x").stdout.startswith("['-x']\n")
    assert "launch 0: add" in viz("viz --text -m script").stdout
    assert "nacre viz: -o went to the program" in viz("viz -m script -o page.html").stderr


@pytest.mark.parametrize("line, status, said", [
    ("viz -o page.html nofile.py", 2, "nacre viz: there is no file nofile.py"), ("viz nofile.py", 2, "nacre viz: there is no file nofile.py"),
    ("viz -o page.html --kernel nope script.py", 1, "nacre viz: nothing to show: the script launched no kernel named nope, but add"),
    ("viz -o page.html empty.py", 1, "nacre viz: nothing to show: the script launched no kernel"),
    ("viz --kernel nope --text script.py", 1, "no kernel named nope"),
])  # fmt: skip
def test_a_page_is_not_overwritten_by_nothing(viz, tmp_path, line, status, said):
    for name in ("page.html", "viz.html"):
        (tmp_path / name).write_text("as it was")
    process = viz(line)
    assert process.returncode == status and said in process.stderr and "Traceback" not in process.stderr
    assert (tmp_path / "page.html").read_text() == (tmp_path / "viz.html").read_text() == "as it was"


def test_no_file_is_left_where_nothing_ran(viz, tmp_path):
    viz("viz -o new.html nofile.py"), viz("viz -o new.html empty.py")
    assert not (tmp_path / "new.html").exists()


@pytest.mark.parametrize("interpreted", ["0", "1"])
def test_the_source_has_its_facts_however_the_script_is_named(interpreted, viz, tmp_path, monkeypatch):
    """A script named by a relative path: the kernel's own lines are found again."""
    monkeypatch.setenv("TRITON_INTERPRET", interpreted)
    viz("viz --json -o launches.json script.py")
    (launch,) = json.loads((tmp_path / "launches.json").read_text())["launches"]
    assert launch["file"] == str(tmp_path / "script.py") and {site["file"] for site in launch["sites"]} == {launch["file"]} and launch["elsewhere"] == {}
    assert {value["file"] for value in launch["values"]} == {launch["file"]}
