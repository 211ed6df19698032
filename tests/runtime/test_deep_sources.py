"""Sources that are long, deep or grow while they are compiled: they run, or an error says where and what to do. Never a stack
overflow, never all the memory."""

import importlib.util
import threading

import nacre
import numpy as np
import pytest

HEAD = "import nacre as triton\nimport nacre.language as tl\n\n\n"


@pytest.fixture
def launch(tmp_path):
    """Runs the body of a kernel over a = tl.load(x + i); gives what it left in `a`."""
    count = iter(range(1000))

    def run(*body, before="", interpret=False):
        lines = ["i = tl.arange(0, 16)", "a = tl.load(x + i)", *body, "tl.store(y + i, a)"]
        decorator = "@triton.jit(interpret=True)\n" if interpret else "@triton.jit\n"
        text = HEAD + before + decorator + "def kernel(x, y):\n" + "".join(f"    {line}\n" for line in lines)
        path = tmp_path / f"deep_{next(count)}.py"
        path.write_text(text)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        x, y = np.arange(16, dtype=np.float32), np.zeros(16, np.float32)
        module.kernel[(1,)](x, y)
        return y

    return run


def test_a_long_chain_of_operations(launch):
    assert launch(*["a = a * 0.5 + 1.0"] * 3000)[3] == pytest.approx(2.0)


def test_a_long_chain_of_scalars(launch):
    """Each is read twice: whoever follows them without remembering what is known takes as long as 2**300."""
    result = launch("s = tl.program_id(0) + 1", *["s = s * s + s"] * 300, "a = tl.load(x + ((i + s) & 15))")
    assert sorted(result) == list(range(16))


def test_what_a_dot_is_made_of_is_followed_once(launch):
    rows = "r = tl.arange(0, 16)[:, None] * 0 + tl.arange(0, 16)[None, :]"
    result = launch("s = tl.program_id(0) + 1", *["s = s * s + s"] * 300, rows, "m = tl.load(x + r + s * 0)",
                    "a += tl.sum(tl.dot(m, m), 0) * 0")  # fmt: skip
    assert result[5] == 5


@pytest.mark.parametrize("interpret", [False, True], ids=["compiled", "interpreted"])
def test_a_long_sum(launch, interpret):
    assert launch("a = a" + " + a" * 400, interpret=interpret)[2] == 802


def test_compiling_on_a_thread_with_a_small_stack(launch):
    """The compiler brings its own: nested branches and long chains do not need the caller's."""
    body = ["    " * depth + f"if tl.load(x + {depth % 16}) > -1:" for depth in range(60)] + ["    " * 60 + "a += 1"]
    results = []
    before = threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=lambda: results.append(launch(*body, *["a = a * 0.5 + 1.0"] * 1000)))
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    assert results[0][3] == pytest.approx(2.0)


def test_python_is_asked_and_told_on_its_own_stack(launch, capfd):
    """Hosts are called from the middle of a compile; what they raise goes through it."""
    helper = "@triton.constexpr_function\ndef deep(n):\n    return 0 if n == 0 else 1 + deep(n - 1)\n\n\n"
    launch("tl.static_print('depth', deep(200))", before=helper)
    assert "depth 200" in capfd.readouterr().out
    with pytest.raises(nacre.compiler.errors.CompilationError, match="RecursionError"):
        launch("tl.static_print('depth', deep(100000))", before=helper)


def test_what_python_cannot_nest_so_deeply_is_shown(launch):
    with pytest.raises(nacre.compiler.errors.UnsupportedLanguageConstruct, match="nested too deeply for Python") as caught:
        launch("if " + " and ".join(["N > 1"] * 5000) + ":", "    a += 1", before="N = tl.constexpr(2)\n\n\n", interpret=True)
    assert caught.value.line == 12
    assert "hint: split it" in str(caught.value)


def test_many_branches_are_rewritten_once_each(launch):
    lines = ["if tl.load(x + 3) > 100:", "    a += 1"]
    for _ in range(200):
        lines += ["elif tl.load(x + 3) > 100:", "    a += 1"]
    assert launch(*lines, interpret=True)[3] == 3
