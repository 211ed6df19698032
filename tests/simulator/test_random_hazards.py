"""Random small kernels (random_hazards.py): a race is found exactly where there is one by definition, in any order."""

import numpy as np
import pytest

import nacre.simulator as simulator
from random_hazards import Program


@pytest.mark.parametrize("space, blocks, seeds", [("shared", 1, range(200)), ("global", 1, range(1000, 1150)), ("global", 2, range(2000, 2100))])
def test_races_are_found_exactly(space, blocks, seeds):
    racy = 0
    for seed in seeds:
        program = Program(seed, space, blocks)
        options = {"schedule": "random", "seed": seed} if seed % 3 == 0 else {}
        tables = np.array(program.tables(), np.int32)
        report = simulator.run(program.ptx(), "k", blocks, program.threads, [tables, np.zeros(program.words, np.uint32)], **options)
        assert all(finding.kind == f"{space}-race" for finding in report.findings), f"seed {seed}: {report}"
        found = {tuple(sorted((finding.line - 1, finding.other["line"] - 1))) for finding in report.findings}
        races = program.races()
        assert found <= races, f"seed {seed}: {sorted(found - races)} of {program.steps} are ordered\n{report}"
        # Of writers of one value, which do not race with each other, the last is remembered.
        assert found or not races or program.one_value, f"seed {seed}: {sorted(races)} are not found\n{report}"
        racy += bool(races)
    assert len(seeds) / 5 < racy < len(seeds)
