"""`nacre sanitize --static --for-all`: what is proved of all launches that meet conditions, and never a false proof."""

import importlib.util
import io
import random
import subprocess
import sys

import numpy as np
import pytest
import triton
import triton.language as tl

from nacre import sanitizer
from nacre.sanitizer import _static_program
from nacre.sanitizer._family import Family


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask), mask=mask)


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + offsets, mask=offsets < columns, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * columns + offsets, powers / tl.sum(powers, axis=0), mask=offsets < columns)


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows, columns = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        inner = k * BK + tl.arange(0, BK)
        left = tl.load(a + rows[:, None] * K + inner[None, :], mask=(rows[:, None] < M) & (inner[None, :] < K), other=0.0)
        total = tl.dot(left, tl.load(b + inner[:, None] * N + columns[None, :], mask=(inner[:, None] < K) & (columns[None, :] < N), other=0.0), total)
    tl.store(c + rows[:, None] * N + columns[None, :], total, mask=(rows[:, None] < M) & (columns[None, :] < N))


@triton.jit
def one_too_many(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + offsets, mask=offsets <= n)
    tl.store(out + offsets, value, mask=offsets < n)


def zeros(*shape):
    return np.zeros(shape, np.float32)


def verdicts(conditions, launch):
    session = _static_program.start(runs=False, conditions=conditions)
    try:
        with pytest.raises(_static_program.LaunchNotRun):
            launch()
    finally:
        _static_program.stop()
    return session.launches[0]["accesses"]


def answers(found, check):
    return [access["answer"] for access in found if access["check"] == check]


SIZES = "x.numel == n; y.numel == n; out.numel == n; grid[0] == cdiv(n, BLOCK)"


def launch_add():
    add[(3,)](zeros(37), zeros(37), zeros(37), 37, BLOCK=16)


def test_vectors_of_any_length():
    found = verdicts(f"{SIZES}; n <= 2**30", launch_add)
    assert len(found) >= 4 and {access["answer"] for access in found} == {"proved"}, found


def test_numbers_that_may_wrap_are_no_proof():
    assert "proved" not in answers(verdicts(SIZES, launch_add), "bounds")


def test_more_programs_than_needed_change_nothing_but_fewer_elements_do():
    assert set(answers(verdicts("x.numel >= n; y.numel >= n; out.numel >= n; grid[0] <= 2**16; n <= 2**30", launch_add), "bounds")) == {"proved"}
    found = verdicts("x.numel == n - 1; y.numel == n; out.numel == n; grid[0] == cdiv(n, BLOCK); n <= 2**30", launch_add)
    assert sorted(answers(found, "bounds")) == ["proved", "proved", "witness"]


def test_what_nothing_is_said_of_is_unknown():
    found = verdicts("x.numel == n; out.numel == n; grid[0] == cdiv(n, BLOCK); n <= 2**30", launch_add)
    unknown = [access for access in found if access["answer"] == "unknown"]
    assert len(unknown) == 1 and "nothing is stated of the size of 'y'" in unknown[0]["text"]


def test_rows_whose_length_is_a_symbol():
    conditions = "x.numel == grid[0] * columns; out.numel == grid[0] * columns; 1 <= columns; grid[0] * columns <= 2**30"
    found = verdicts(conditions, lambda: softmax[(7,)](zeros(7, 33), zeros(7, 33), 33, BLOCK=64))
    assert answers(found, "bounds") == ["proved"] * 2 and answers(found, "race") == ["proved"], found


def test_products_of_matrices_of_any_size():
    conditions = """a.numel == M * K; b.numel == K * N; c.numel == M * N; grid[0] == cdiv(M, BM); grid[1] == cdiv(N, BN);
        1 <= M; 1 <= N; 1 <= K; M <= 2**14; N <= 2**14; K <= 2**14"""
    found = verdicts(conditions, lambda: matmul[(2, 3)](zeros(17, 33), zeros(33, 35), zeros(17, 35), 17, 35, 33, BM=16, BN=16, BK=16))
    assert answers(found, "bounds") == ["proved"] * 3 and answers(found, "race") == ["proved"], found


def test_a_witness_names_a_launch():
    conditions = "x.numel == n; out.numel == n; grid[0] == cdiv(n, BLOCK); n <= 2**20"
    found = verdicts(conditions, lambda: one_too_many[(3,)](zeros(37), zeros(37), 37, BLOCK=16))
    load, store = [access for access in found if access["check"] == "bounds"]
    assert store["answer"] == "proved" and load["answer"] == "witness"
    assert "n = " in load["text"] and "grid (" in load["text"] and "of 'x'" in load["text"]


def test_an_array_passed_twice_is_one():
    @triton.jit
    def shifted(x, out, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        value = tl.load(x + offsets + 1, mask=offsets + 1 < n)
        tl.store(out + offsets, value, mask=offsets < n)

    same = zeros(37)
    conditions = "x.numel == n; out.numel == n; grid[0] == cdiv(n, BLOCK); n <= 2**20"
    apart = verdicts(conditions, lambda: shifted[(3,)](zeros(37), zeros(37), 37, BLOCK=16))
    assert answers(apart, "race") == ["proved"]
    assert "witness" in answers(verdicts(conditions, lambda: shifted[(3,)](same, same, 37, BLOCK=16)), "race")
    with pytest.raises(ValueError, match="share a part"):
        verdicts(conditions, lambda: shifted[(2,)](same[1:], same[:-1], 36, BLOCK=16))


@pytest.mark.parametrize("text, says", [
    ("m >= 1", "there is no m"), ("n", "compares nothing"), ("n >=", "is no condition"), ("n != 3", "conditions are"),
    ("x.numel == n % 4", "is not understood"), ("x.numel == n // m", "there is no m"), ("x.numel == n // n", "by positive numbers"),
])  # fmt: skip
def test_conditions_that_make_no_sense(text, says):
    with pytest.raises(ValueError, match=says):
        Family(text, {"x": "*fp32", "n": "i32", "BLOCK": "constexpr"}, {"BLOCK": 16}, {"x": ("x", 4)})


def test_the_program(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy as np\nimport triton\nimport triton.language as tl\n\n\n@triton.jit\ndef twice(x, n, BLOCK: tl.constexpr):\n"
        "    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n    tl.store(x + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)\n\n\n"
        "twice[(2,)](np.zeros(20, np.float32), 20, BLOCK=16)\n"
    )
    command = [sys.executable, "-m", "nacre", "sanitize", "--static", "--for-all"]
    good = subprocess.run([*command, "x.numel == n; grid[0] == cdiv(n, 16); n < 2**30", str(script)], capture_output=True, text=True, timeout=300)
    assert good.returncode == 0 and "twice, all launches with x.numel == n" in good.stdout, good
    assert "4 proved, 0 with a witness, 0 unknown" in good.stdout
    bad = subprocess.run([*command, "x.numel == n; grid[0] == n; n < 2**20", str(script)], capture_output=True, text=True, timeout=300)
    assert bad.returncode == 0 and "4 proved" in bad.stdout  # more programs than there is work for
    wrong = subprocess.run([*command, "nothing >= 0", str(script)], capture_output=True, text=True, timeout=300)
    assert wrong.returncode != 0 and "there is no nothing" in wrong.stderr


# ---- Kernels made at random: each proof is held against many launches, watched

OFFSETS = [
    "pid * B + lanes", "(pid * B + lanes) % n", "pid * m + lanes", "lanes * m + pid", "(pid * B + lanes) // 2", "n - 1 - (pid * B + lanes)",
    "tl.minimum(pid * B + lanes, n - 1)", "(pid + 1) * B - 1 - lanes", "pid * B + lanes * 2", "pid * B + lanes + {c}", "lanes", "(pid * B + lanes) % m * 2",
    "tl.maximum(pid * B + lanes - {c}, 0)", "pid % m * B + lanes", "(pid // m) * m + lanes % m",
]  # fmt: skip
MASKS = [
    None, "at < n", "at <= n", "at < n - {c}", "(at >= 0) & (at < n)", "lanes < m", "at < n * m", "pid * B + lanes < n", "(lanes < m) & (at < n)",
    "(at < n) | (lanes < m)", "at >= n",
]  # fmt: skip
SIZES_OF_X = ["n", "n * m", "n + {c}", "grid[0] * B", "grid[0] * m", "n + B", "cdiv(n, 2)"]
GRIDS = ["cdiv(n, B)", "m", "n", "cdiv(n, B) + 1", "cdiv(n, 2)"]
LAUNCHES = [(n, m) for n in (2, 3, 5, 15, 17, 31, 33, 50, 100) for m in (2, 3, 7, 17, 33)]


def made(dice, number):
    """(the kernel's text, conditions, how large x and out are, the grid)"""
    c = dice.randint(1, 3)
    pick = lambda options: (lambda choice: choice and choice.format(c=c))(dice.choice(options))  # noqa: E731
    lines = [f"@triton.jit\ndef kernel{number}(x, out, n, m, B: tl.constexpr):", "    pid, lanes = tl.program_id(0), tl.arange(0, B)"]
    for access in ("load", "store"):
        mask = pick(MASKS)
        lines.append(f"    at = {pick(OFFSETS)}")
        tail = f", mask={mask}" if mask else ""
        lines.append(f"    value = tl.load(x + at{tail}, other=0.0)" if access == "load" and mask else
                     "    value = tl.load(x + at)" if access == "load" else f"    tl.store(out + at, value{tail})")  # fmt: skip
    sizes, grid = (pick(SIZES_OF_X), pick(SIZES_OF_X)), pick(GRIDS)
    conditions = f"grid[0] == {grid}; x.numel == {sizes[0]}; out.numel == {sizes[1]}; 2 <= n; n <= 4096; 2 <= m; m <= 64"
    return "\n".join(lines), conditions, sizes, grid


def test_no_proof_is_false(tmp_path):
    dice = random.Random(20261116)
    kernels = [made(dice, number) for number in range(40)]
    path = tmp_path / "made_kernels.py"
    path.write_text("import triton\nimport triton.language as tl\n\n\n" + "\n\n\n".join(text for text, *_ in kernels) + "\n")
    spec = importlib.util.spec_from_file_location("made_kernels", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    proved = others = 0
    for number, (text, conditions, sizes, grid) in enumerate(kernels):
        kernel = getattr(module, f"kernel{number}")

        def launch(n, m):
            names = {"n": n, "m": m, "B": 16, "cdiv": triton.cdiv, "__builtins__": {}}
            count = eval(grid, names)
            names["grid"] = (count,)
            kernel[(count,)](zeros(eval(sizes[0], names)), zeros(eval(sizes[1], names)), n, m, B=16)

        found = verdicts(conditions, lambda: launch(17, 3))
        answer = {(access["check"], access["place"], access["other_place"]): access["answer"] for access in found}
        proved += list(answer.values()).count("proved")
        others += len(answer) - list(answer.values()).count("proved")
        sanitizer.start("asan,tsan", goes_on=True, stream=io.StringIO())
        try:
            for n, m in LAUNCHES:
                launch(n, m)
        finally:
            bugs = sanitizer.stop()
        for bug in bugs:
            place = f"{bug['file']}:{bug['line']}:{bug['column']}"
            if bug["kind"] == "asan":
                assert answer["bounds", place, ""] != "proved", (text, conditions, bug["message"])
                continue
            other = f"{bug['other']['file']}:{bug['other']['line']}:{bug['other']['column']}"
            pairs = [("race", place, "")] if place == other else [("race", place, other), ("race", other, place)]
            assert any(answer.get(pair, "proved") != "proved" for pair in pairs), (text, conditions, bug["message"])
    assert proved > 25 and others > 25  # it says something, and not always the same
