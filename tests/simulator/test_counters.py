"""The kernels whose counters bench/gpu/simulator.py compares with a GPU's: what is known of them without one."""

import csv
import io
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench" / "gpu"))

import simulator as comparison  # noqa: E402

import pack  # noqa: E402


def test_counters_that_follow_from_the_addresses():
    counted = comparison.counted()
    assert len(counted) == len(comparison.kernels()) == 20
    warps, around = comparison.WARPS, 2 * 4  # offsets are loaded, results are stored
    sectors = {"load_global_stride_1": 4, "load_global_stride_2": 8, "load_global_stride_4": 16, "load_global_stride_8": 32,
               "load_global_stride_32": 32, "load_global_bytes": 1, "load_global_halves": 2, "load_global_quads": 16,
               "load_global_one_place": 1, "load_global_off_by_one": 5}  # fmt: skip
    for name, expected in sectors.items():
        assert counted[name]["sectors"] == warps * (expected + around), name
    conflicts = {"load_shared_stride_2": 1, "load_shared_stride_32": 31, "load_shared_stride_33": 0, "load_shared_quads": 0,
                 "load_matrix_rows_together": 28}  # fmt: skip
    for name, expected in conflicts.items():
        assert counted[name]["conflicts"] == warps * expected, name


def test_measured_counters_are_read_and_compared():
    """As `ncu --csv --page raw` writes them, with its own lines before."""
    names = ["ID", "Kernel Name", *(metric for group in comparison.METRICS.values() for metric in group)]
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL)
    writer.writerow(names)
    writer.writerow(["", "", *["sector"] * 2, *[""] * 2])
    counted = comparison.counted()
    for number, (kernel, values) in enumerate(counted.items()):
        writer.writerow([number, f"{kernel}(unsigned long)", f"{values['sectors'] - 16:,}", "16", str(values["conflicts"]), "0"])
    measured = comparison.parse_measured("==PROF== Connected to process 1\n" + out.getvalue())
    assert measured == counted and comparison.table(counted, measured)[1]
    measured["load_shared_quads"] = {"sectors": 1, "conflicts": 2}
    lines, equal = comparison.table(counted, measured)
    assert not equal and [line for line in lines if line.endswith("differs")][0].startswith("load_shared_quads ")


def test_programs_recorded_anew_take_the_place_of_the_old(tmp_path):
    target, first, second = tmp_path / "recorded.npz", tmp_path / "first.npz", tmp_path / "second.npz"
    names = [program.name for program in pack.programs() if program.group != "approx"][:3]
    np.savez(first, **{name: np.full(4, i, np.uint8) for i, name in enumerate(names)})
    np.savez(second, **{names[1]: np.full(4, 77, np.uint8)})
    pack.main(first, target)
    pack.main(second, target)
    with np.load(target) as packed:
        digests = dict(zip(packed["names"].tolist(), packed["digests"]))
    assert list(digests) == names
    for name, value in zip(names, (0, 77, 2)):
        assert (digests[name] == pack.digest(np.full(4, value, np.uint8))).all()
