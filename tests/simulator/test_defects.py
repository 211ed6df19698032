"""Each planted defect is reported with its kind and line; its repaired twin reports nothing."""

import numpy as np
import pytest

import nacre.simulator as simulator
import defects
import defects_global
import defects_order

DEFECTS = defects.DEFECTS + defects_global.DEFECTS + defects_order.DEFECTS


def run(defect, broken, **options):
    x = np.arange(defect.words, dtype=np.uint32)
    y = np.zeros(defect.words, np.uint32)
    tensor = np.zeros((64, 64), np.float16)
    module = simulator.load(defect.ptx(broken))
    tensor_map = simulator.TensorMap(tensor, defect.box, swizzle=128)
    return module.run("k", defect.grid, defect.block, [x, y, tensor_map], cluster=defect.cluster, **options)


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_found(defect):
    report = run(defect, broken=True)
    # A race has two lines: which of them comes second depends on the schedule.
    found = [(finding.kind, finding.line) for finding in report.findings]
    found += [(finding.kind, finding.other["line"]) for finding in report.findings if finding.other]
    assert (defect.kind, defect.expected_line()) in found, str(report)
    assert report.findings[0].file == "kernel.cu"


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_repaired(defect):
    report = run(defect, broken=False)
    assert report.clean, str(report)


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_repaired_in_any_order(defect):
    for seed in range(3):
        report = run(defect, broken=False, schedule="random", seed=seed)
        assert report.clean, str(report)


def test_a_missing_barrier_is_one_finding():
    """The reader comes first and finds memory that nothing has written; the race is the cause, and is said once."""
    defect = next(defect for defect in DEFECTS if defect.name == "missing barrier")
    for options in [{}, {"schedule": "random", "seed": 1}, {"schedule": "random", "seed": 2}]:
        report = run(defect, broken=True, **options)
        assert [finding.kind for finding in report.findings] == ["shared-race"], str(report)
