"""A sample of other people's kernels, another one each day, drawn from the cases that `make test-world ARGS=--write` found right.

NACRE_WORLD_SEED=S draws the sample of S instead of the day's.
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import packages
import pytest
import results

torch = pytest.importorskip("torch")
import comparing  # noqa: E402  (it needs torch)

SEED = int(os.environ["NACRE_WORLD_SEED"])
KEPT = results.read()
SMALL = [name for name in KEPT["packages"] if packages.PACKAGES[name].is_small]


def sample(seed):
    return results.sample(KEPT, SMALL, seed, pairs=3, seconds=6)


SAMPLE = sample(SEED)


@pytest.mark.parametrize("package, engine, cases", SAMPLE, ids=[f"{package}-{engine}" for package, engine, _ in SAMPLE])
def test_sample(package, engine, cases, record_property):
    problem = packages.missing(package)
    what = f"sample {SEED}: {len(cases)} cases of {package} {packages.PACKAGES[package].version} on {engine}"
    record_property("world", f"{what}: " + (f"skipped, {problem}" if problem else "ran"))
    if problem:
        pytest.skip(f"{what}: {problem}")
    named = ",".join(f"{operator}:{case}" for operator, case in cases)
    command = [sys.executable, str(Path(__file__).parent / "run.py"), "--packages", package, "--engines", engine, "--seed", str(KEPT["seed"]),
               "--cases", named, "--jobs", "1", "--verbose"]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 and f"{len(cases)} cases: " in done.stdout and " 0 skipped" in done.stdout, f"NACRE_WORLD_SEED={SEED} draws this sample\n{done.stdout}{done.stderr}"


def test_another_day_is_another_sample():
    drawn = [sample(seed) for seed in range(20)]
    assert len({str(one) for one in drawn}) == 20
    for package, engine, cases in (pair for one in drawn for pair in one):
        kept = KEPT["packages"][package]["engines"][engine]
        assert cases and all(not isinstance(kept[operator][case], str) for operator, case in cases)
        assert sum(kept[operator][case] for operator, case in cases) <= 6
    assert all(len(one) == 3 for one in drawn)


def test_a_wrong_result_is_seen():
    expected = torch.arange(100, dtype=torch.float64)
    comparing.compare("same", expected.float(), expected, 1e-3)
    for got in (expected + 1, torch.where(expected == 50, torch.nan, expected), expected.flip(0), expected[:-1]):
        with pytest.raises(comparing.Wrong):
            comparing.compare("other", got.float(), expected, 1e-3)


def test_the_table_counts_what_came_of_cases():
    kept = {"packages": {"one": {"version": "1.0", "engines": {"cpu": {"add": [0.1, "wrong"], "sub": ["theirs", "skipped"]}, "cuda:90": {"add": [0.2, 0.3]}}}}}
    assert results.table(kept).splitlines()[2] == "| one | 1.0 | 2 | 1 right, 1 wrong, 1 theirs | 2 right |"


def test_mutated_configurations_have_block_sizes_of_the_tuner():
    nacre = pytest.importorskip("nacre")
    spec = importlib.util.spec_from_file_location("world_launches", Path(__file__).parent / "launches.py")  # another folder has a module of that name
    launches = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(launches)
    forced = object.__new__(launches.ForcedLaunches)  # without its hold on all launches
    configs = [nacre.Config({"BLOCK": block, "IS_FAST": block > 64}, num_warps=4) for block in (64, 128)]

    class kernel:
        """Its name is all that is asked of the tuner."""

    drawn = []
    for forced.mutation in range(60):
        drawn.append(forced.mutated(kernel, configs[0], configs))
    assert {config.kwargs["BLOCK"] for config in drawn} == {32, 64, 128}
    assert {config.kwargs["IS_FAST"] for config in drawn} == {False, True}
    assert {config.num_warps for config in drawn} == {1, 2, 4, 8} and {config.num_stages for config in drawn} == {1, 2, 3, 4}
