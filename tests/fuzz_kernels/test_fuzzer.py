"""The fuzzer itself: programs follow from their record, planted bugs are found and stay in the reduced program, memory is guarded."""

import ast
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from kernel_fuzzer.campaign import Campaign
from kernel_fuzzer.choices import Decisions, Gene
from kernel_fuzzer.client import Client
from kernel_fuzzer.element_types import INTEGERS
from kernel_fuzzer.guarded_memory import FIELDS, GuardedArray, code_of, contents_of, differences
from kernel_fuzzer.index_expressions import quotient, remainder, shifted
from kernel_fuzzer.makers import MAKERS, TEMPLATES, random_program, replayed_program
from kernel_fuzzer.planted import Score, bugs_of_table
from kernel_fuzzer.report import features

HERE = Path(__file__).parent


def test_a_program_follows_from_its_record():
    for seed in range(100):
        program = random_program(seed)
        again = replayed_program(program.to_data())
        assert program.source() == again.source()
        assert (program.scalars, program.arrays) == (again.scalars, again.arrays)


def test_programs_made_of_any_record_are_programs():
    """Cut and changed records still give a kernel that parses."""
    for seed in range(60):
        header, *genes = random_program(seed).to_data()
        genes = [[[choice // 3 for choice in choices], children[:1]] for choices, children in genes[::2]]
        ast.parse(replayed_program([header, *genes]).source())


def test_every_maker_is_reached():
    reached = set()
    for seed in range(1000):
        reached |= set(features(random_program(seed)))
    assert {name for name, _ in [*MAKERS, *TEMPLATES]} <= reached


def test_a_choice_outlives_the_removal_of_others():
    class Candidate:
        def __init__(self, key):
            self.key = key

    candidates = [Candidate(key) for key in (5, 900, 70000, 123456789)]
    chosen = Decisions(Gene([0, 777])).pick(candidates)
    kept = [candidate for candidate in candidates if candidate is chosen or candidate.key % 2]
    assert Decisions(Gene([0, 777])).pick(kept) is chosen


@pytest.mark.parametrize("at_end", [True, False])
@pytest.mark.parametrize("beyond", [True, False])
def test_guard_pages_fault(at_end, beyond):
    """Only an access beyond the array's guarded side ends the process."""
    place = "count" if at_end else "-1"
    text = f"""
import ctypes, sys
sys.path.insert(0, {str(HERE)!r})
from kernel_fuzzer.guarded_memory import GuardedArray
count = 300
array = GuardedArray("int32", count, {at_end})
assert array.array.size == count
place = {place if beyond else "0"}
ctypes.c_int32.from_address(array.array.ctypes.data + 4 * place).value
"""
    status = subprocess.run([sys.executable, "-c", text], stderr=subprocess.DEVNULL).returncode
    assert (status < 0) == beyond


def test_what_surrounds_an_array_is_watched():
    guarded = GuardedArray("int16", 5)
    assert guarded.intact()
    guarded.around[0][-1] = 0
    assert not guarded.intact()


@pytest.mark.parametrize("name", FIELDS)
def test_whole_numbers_have_the_right_bits(name):
    if name in ("float16", "float32", "float64"):
        values = np.arange(-8, 9)
        np.testing.assert_array_equal(code_of(values, name), values.astype(name))
    assert code_of(np.array([0]), name).view(np.uint8).max() == 0
    one = {"float8e4nv": 0x38, "float8e5": 0x3C, "bfloat16": 0x3F80}.get(name)
    assert one is None or code_of(np.array([1]), name)[0] == one
    assert contents_of(name, 40, ("any", 1)).size == 40


def test_differences_know_nan_and_zero():
    a = np.array([np.nan, 0.0, 1.0, np.inf], np.float32)
    b = np.array([-np.nan, -0.0, 2.0, np.inf], np.float32)
    assert differences("float32", a, b).tolist() == [False, False, True, False]
    assert not differences("float32", np.array([1.0], np.float32), np.array([1.000001], np.float32), 1e-5).any()
    e4 = np.array([0x7F, 0x7E, 0x80], np.uint8)
    assert differences("float8e4nv", e4, np.array([0xFF, 0x7F, 0], np.uint8)).tolist() == [False, True, False]


@pytest.mark.parametrize("name", INTEGERS)
def test_index_arithmetic_follows_the_documents(name):
    """By Python's unbounded integers, brought back into the type."""
    info = np.iinfo(name)
    width = info.bits
    samples = sorted({info.min, info.max, 0, 1, 2, 7, info.max - 1, info.min + 1 if info.min else 3, *([-1, -2, -7] if info.min else [])})

    def wrap(value):
        value &= (1 << width) - 1
        return value - (1 << width) if info.min and value >> (width - 1) else value

    for a in samples:
        for b in samples:
            x, y = np.array([a], name), np.array([b], name)
            truncated = -1 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            assert quotient(x, y)[0] == wrap(truncated)
            assert remainder(x, y)[0] == (a if b == 0 else wrap(a - truncated * b))
            assert shifted(x, y, True)[0] == (wrap(a << b) if 0 <= b < width else 0)
            assert shifted(x, y, False)[0] == (a >> b if 0 <= b < width else -1 if a < 0 else 0)


@pytest.fixture
def planted(monkeypatch):
    monkeypatch.setenv("NACRE_FUZZ_ENGINES", str(HERE / "planted_engines.py"))


def test_a_planted_difference_is_found_and_reduced(planted, tmp_path):
    campaign = Campaign(40, 0, 1, ("interpreter", "wrong"), out=tmp_path).run()
    assert campaign.kinds.keys() == {"difference"}
    finding = campaign.findings[0]
    assert "tl.sort" in finding.program.source(), "the reducer keeps the difference"
    assert len(finding.program.lines) <= 6, finding.program.source()
    assert campaign.kinds["difference"] == sum("tl.sort" in random_program(seed).source() for seed in range(40))
    script = sorted(tmp_path.iterdir())[0]
    said = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=600)
    assert said.returncode == 0 and "same  cpu" in said.stdout, said.stderr  # the compiled kernel has no such bug


@pytest.mark.parametrize("engine, kind, limit", [("crashing", "crash", 20.0), ("hanging", "hang", 8.0)])
def test_a_crash_and_a_hang_do_not_end_the_run(planted, engine, kind, limit):
    seeds = [seed for seed in range(400) if "tl.flip" in random_program(seed).source()][:1]
    client = Client(("interpreter", engine), limit)
    try:
        found = client.check({"seed": seeds[0]})
        assert (found["kind"], found["engine"]) == (kind, engine)
        quiet = next(seed for seed in range(400) if "tl.flip" not in random_program(seed).source())
        assert client.check({"seed": quiet}) is None
    finally:
        client.close()


def test_a_write_beyond_an_array_is_found(planted):
    client = Client(("interpreter", "overrunning"))
    try:
        found = client.check({"seed": 1})
        assert found["kind"] == "crash" and "wrote beyond" in found["text"]
    finally:
        client.close()


def test_an_error_of_the_fuzzer_ends_the_run():
    class Broken(Client):
        def check(self, task, engines=None):
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        Campaign(5, 0, 2, client=Broken).run()


class PlantedClient:
    """Stands for a build that plants bugs: kernels 3 and 5 of the run ask for the first two, kernel 5 shows one of them; kernel 4 is wrong by itself."""

    tasks = []

    def __init__(self, engines, limit):
        self.sites = []

    def check(self, task, engines):
        number = task["seed"] - 100 + 1
        planted = [name for name in task["planted"].split(",") if name]
        self.tasks.append((number, engines[1], *planted))
        self.sites = [0, 1] if number in (3, 4, 5) and engines[1] == "cpu" else []
        assert len(task["only_if_asked"] or []) == len(planted)
        if "Shown" in planted and number == 5:
            return {"kind": "difference", "engine": "cpu", "text": "wrong"}
        return {"kind": "error", "engine": "cpu", "text": "wrong"} if number == 4 and self.sites else None

    def close(self):
        pass


def test_planted_bugs_are_scored():
    table = 'BUG(Asked, "cpu", "never shown")\nBUG(Shown, "cpu", "shown by kernel 5")\nBUG(Hidden, "cpu cuda:80", "never asked")\n'
    bugs = bugs_of_table(table)
    assert [(bug.number, bug.name, bug.engines) for bug in bugs][1:] == [(1, "Shown", ["cpu"]), (2, "Hidden", ["cpu", "cuda:80"])]
    PlantedClient.tasks = []
    score = Score(bugs, count=6, seed=100, jobs=1, client=PlantedClient).run()
    together, on_gpu = ("cpu", "Asked", "Shown", "Hidden"), ("cuda:80", "Hidden")
    assert PlantedClient.tasks == [
        *((number, *task) for number in (1, 2, 3) for task in (together, on_gpu)),
        (4, *together), (4, "cpu"), (4, *on_gpu),  # wrong without a bug
        (5, *together), (5, "cpu"), (5, "cpu", "Asked", "Shown"), (5, "cpu", "Asked"), (5, "cpu", "Shown"), (5, *on_gpu),
        (6, "cpu", "Asked", "Hidden"), (6, *on_gpu),
    ]  # fmt: skip
    assert [(bug.found, bug.asked) for bug in bugs] == [(None, 3), (5, 3), (None, 0)]
    assert score.wrong == [103] and score.done == 6
    assert "| Hidden | never asked | cpu cuda:80 | MISSED | 0 |" in score.table()
    assert score.summary() == "1 of 3 planted bugs found within 6 kernels, the median after 5: 33.3 %"


def test_a_kernel_runs_only_where_a_site_that_matters_was_asked(planted):
    """A normal build asks none: the kernel, which the engine would get wrong, is compiled and not run."""
    client = Client(["interpreter"])
    seed = next(seed for seed in range(400) if "tl.sort" in random_program(seed).source())
    task = {"seed": seed, "planted": "RoundTiesUp", "only_if_asked": [3]}
    try:
        assert client.check(task, ["interpreter", "wrong"]) is None and client.sites == []
        found = client.check({**task, "only_if_asked": None}, ["interpreter", "wrong"])
        assert (found["kind"], found["engine"]) == ("difference", "wrong")
    finally:
        client.close()
